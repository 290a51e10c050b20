import type { Hash, Json, UnitId } from '../core/index.js'
import type { BlockCode } from './block-code.js'
import type { EffectCall, Located, WaitAnswer, WaitOptions } from './context.js'
import type { SideEffectClass } from './protocol.js'

/**
 * Code of the kernel: a leaf that decides at run time who does its work (semantics.md K1). It gets
 * more than a block does, and what it says of itself stands in the receipt.
 */

/** Who did the work of an attempt, as its journal entry keeps it: a replay asks the same again. */
export interface RecordedProvider {
  /** `declared`, `package` or `kernel`. */
  readonly kind: string
  readonly id: string
  readonly codeHash: Hash
}

/** How an attempt failed, as its journal entry keeps it. */
export interface RecordedFailure {
  readonly reason: string
  readonly details: Json
}

/** What the receipt says instead of the leaf's own name, code and payload. */
export interface Attribution {
  readonly action: string
  readonly dappId: string
  readonly provider: RecordedProvider
  /** Versions that the result may depend on; absent: those of trusted code. */
  readonly profile?: Json
  /** Canonical JSON. */
  readonly payloadText: string
  readonly raw?: string
  /** Sorted. */
  readonly capabilitiesDeclared: readonly string[]
  readonly isInputPrivate: boolean
  readonly isOutputPrivate: boolean
  /** Why a result cannot be taken, or undefined. */
  refusal?(result: unknown): { readonly reason: string; readonly details: Json } | undefined
}

export interface IntentEffect {
  readonly name: string
  readonly request: Json
  readonly sideEffects: SideEffectClass
  readonly perform: ((call: EffectCall) => Promise<Json> | Json) | undefined
  readonly locate: ((call: EffectCall) => Promise<Located<Json>> | Located<Json>) | undefined
}

/** What code of the kernel may touch. */
export interface IntentPort {
  readonly runId: string
  readonly unitId: UnitId
  /** Frozen time in milliseconds (K7). */
  readonly at: number
  readonly seed: Hash
  /** Who started the run (K13). */
  readonly principal: Json
  /** Canonical JSON of the input. */
  readonly inputText: string
  /** Provider that a recovery step names (C3), or null. */
  readonly provider: string | null
  /** In a replay: who did it. No provider is chosen again. */
  readonly recorded: RecordedProvider | undefined
  /** In a replay of an attempt that failed: how it failed. */
  readonly recordedFailure: RecordedFailure | undefined
  /** Aborted when the attempt is cancelled. */
  readonly signal: AbortSignal
  /** Canonical text of a state entry; recorded as read (L10). */
  read(key: string): string | undefined
  /** Undefined deletes. */
  write(key: string, value: Json | undefined): void
  list(prefix: string): Promise<readonly string[]>
  /** The state as it is now, not recorded: only for what the result does not depend on. */
  current(key: string): string | undefined
  attribute(attribution: Attribution): void
  /** Counts a capability as used. */
  use(capability: string): void
  /** Any effect up to the leaf's own class; rejects as `ctx.effect` does. */
  effect(effect: IntentEffect): Promise<Json>
  wait(options: WaitOptions): Promise<WaitAnswer>
  fail(reason: string, details?: Json): never
  /** Work of this process that is no effect: the same for the same input, wherever it is done. */
  elsewhere<Result>(work: () => Promise<Result>): Promise<Result>
  /** Gives up this execution and runs again from the start, on the state as it is then (L10). */
  again(): Promise<never>
  /** Runs a trusted block as if it were the leaf: its schemas, its class, its capabilities. */
  act(block: BlockCode, payload: Json): unknown
}

/** Versions of blocks by name, as the run that asks has pinned them (B10). */
export type PinnedBlocks = Readonly<Record<string, string>>

export interface KernelWork {
  run(port: IntentPort, input: Json, pinned?: PinnedBlocks): unknown
  /** Hash of the code that a recorded provider has here, or undefined when it is not here. */
  codeOf(recorded: RecordedProvider): Promise<Hash | undefined>
}
