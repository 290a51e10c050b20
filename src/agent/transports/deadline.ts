import { type Clock, systemClock } from '../../core/index.js'

/** A signal that is aborted after `ms`; `stop` lets go of its timer. */
export function deadline(
  ms: number,
  clock: Clock = systemClock
): { readonly signal: AbortSignal; readonly stop: () => void } {
  const controller = new AbortController()
  const stop = clock.schedule(clock.now() + ms, () => controller.abort())
  return { signal: controller.signal, stop }
}

/** Does something that must not take longer than `ms`. */
export async function within<Result>(
  ms: number,
  act: (signal: AbortSignal) => Promise<Result>
): Promise<Result> {
  const { signal, stop } = deadline(ms)
  try {
    return await act(signal)
  } finally {
    stop()
  }
}
