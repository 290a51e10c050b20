import { isJsonObject, isTallyError, limits, runtimeError, systemClock } from '../../core/index.js'
import { type HeldStore, inspectLocation, type OwnerHandler } from '../../ledger/index.js'
import { connectOwner } from '../../owner/index.js'

/** How a process takes a ledger over from the one that holds it, and gives it to the next. */
export interface HandOver {
  /**
   * How long opening waits until the holder has let go, at most. Milliseconds, default
   * `limits.HAND_OVER_MS`.
   */
  readonly waitMs?: number
  /**
   * Called when another process asks for the ledger, before this runtime closes: time to answer the
   * requests under way, `limits.HAND_OVER_NOTICE_MS` at most. `released` resolves when the ledger
   * is let go of, and the process has nothing left to do for it.
   */
  readonly onHandOver?: (released: Promise<void>) => void | Promise<void>
}

/** The request with which a process asks the holder of a ledger for it. */
const METHOD = 'handOver'

/**
 * Holds the ledger, once the process that has it lets go: that one is asked to, and may have been
 * told to end. L13 stays with `hold`, which refuses as long as another owns it.
 * Throws what `hold` throws, `ledger.locked` only after `waitMs`.
 */
export async function holdAfterOwner(
  location: string,
  hold: () => Promise<HeldStore>,
  { waitMs = limits.HAND_OVER_MS }: HandOver
): Promise<HeldStore> {
  const end = systemClock.now() + waitMs
  for (;;) {
    try {
      return await hold()
    } catch (error) {
      if (!isTallyError(error, 'ledger.locked') || systemClock.now() >= end) throw error
    }
    await askFor(location, end)
    await pause(limits.HAND_OVER_POLL_MS)
  }
}

/** One that does not hand over, or is closing, is waited for all the same. */
async function askFor(location: string, end: number): Promise<void> {
  const found = await inspectLocation(location).catch(() => undefined)
  if (found === undefined) return
  const owner = await connectOwner(found.realPath).catch(() => undefined)
  if (owner === undefined) return
  const leave = systemClock.schedule(end, () => owner.close())
  try {
    await owner.request(METHOD, {})
  } catch (error) {
    if (!isTallyError(error)) throw error
  } finally {
    leave()
    owner.close()
  }
}

/** What is closed to hand it over. */
export interface Released {
  close(): Promise<void>
}

/**
 * A service that also hands its ledger over when it is asked to: only on the owner socket, to which
 * only processes of this user come. The one that asks gets an answer when all is on its way.
 */
export function handingOver(
  service: OwnerHandler,
  runtime: Released,
  { onHandOver }: HandOver
): OwnerHandler {
  const handOver = async (): Promise<null> => {
    let settle: (released: Promise<void>) => void = () => undefined
    const released = new Promise<void>((resolve) => {
      settle = resolve
    })
    const failure = await atMost(limits.HAND_OVER_NOTICE_MS, async () => onHandOver?.(released))
    const closed = runtime.close()
    // What the program has thrown keeps no ledger, and is not lost.
    settle(failure === undefined ? closed : closed.then(() => Promise.reject(failure.error)))
    return null
  }
  let asked: Promise<null> | undefined
  return (request) => {
    const { method, params } = request
    if (method !== METHOD) return service(request)
    // It takes none: who asks in an agent's name is refused (K13).
    if (!isJsonObject(params) || Object.keys(params).length > 0) {
      throw runtimeError('service.invalid_params', { method, problem: 'it takes none' })
    }
    asked ??= handOver()
    return asked
  }
}

/** Waits for work of the program's own, and no longer; gives what it has thrown. */
async function atMost(
  durationMs: number,
  work: () => Promise<void>
): Promise<{ readonly error: unknown } | undefined> {
  let callOff: () => void = () => undefined
  const over = new Promise<undefined>((resolve) => {
    callOff = systemClock.schedule(systemClock.now() + durationMs, () => resolve(undefined))
  })
  const done = work().then(
    () => undefined,
    (error: unknown) => ({ error })
  )
  const failure = await Promise.race([done, over])
  callOff()
  return failure
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    systemClock.schedule(systemClock.now() + durationMs, resolve)
  })
}
