import type { Json } from '../../core/index.js'
import { type BlockContext, BlockFailure } from '../context.js'
import type { Block } from '../define.js'
import type { Attribution, KernelEffect, KernelPort, RecordedProvider } from '../kernel.js'
import type { ExecutionInput } from './execution.js'

/** What an execution of the kernel is given besides what every block is. */
export interface KernelInput {
  readonly principal: Json
  /** Canonical JSON of the input. */
  readonly inputText: string
  /** Provider that a recovery step names, or null. */
  readonly provider: string | null
  /** In a replay: who did it. */
  readonly recorded: RecordedProvider | undefined
  /** The state now, not recorded. */
  current(key: string): string | undefined
}

/** What the execution does for code of the kernel. */
interface KernelHands {
  attribute(attribution: Attribution): void
  use(capability: string): void
  effect(effect: KernelEffect): Promise<Json>
  context(): BlockContext
  elsewhere<Result>(work: () => Promise<Result>): Promise<Result>
  again(): Promise<never>
  act(block: Block, payload: Json): unknown
}

/** The port of one execution of the kernel. */
export function kernelPort(input: ExecutionInput, hands: KernelHands): KernelPort {
  const { runId, unitId, at, seed, view, kernel } = input
  const { attribute, use, effect, context, elsewhere, again, act } = hands
  return {
    runId,
    unitId,
    at,
    seed,
    principal: kernel?.principal ?? null,
    inputText: kernel?.inputText ?? '',
    provider: kernel?.provider ?? null,
    recorded: kernel?.recorded,
    get signal() {
      return input.signal
    },
    read: (key) => view.read(key),
    write: (key, value) => view.write(key, value),
    list: (prefix) => context().state.list(prefix),
    current: (key) => (kernel === undefined ? undefined : kernel.current(key)),
    attribute,
    use,
    effect,
    wait: (options) => context().wait(options),
    fail: (reason, details) => {
      throw new BlockFailure(reason, details ?? null)
    },
    elsewhere,
    again,
    act
  }
}
