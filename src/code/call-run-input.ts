import type { ActorPath, Hash, Json, RunId, TallyError, UnitId } from '../core/index.js'
import type { Block, RecordedFailure, RecordedProvider } from './block.js'
import type { Call } from './calls.js'
import type { SignalSource } from './lazy-signal.js'
import type { Outcome } from './outcome.js'
import type { Request } from './request.js'
import type { StateView } from './state-view.js'

/** What an execution of a block's code is given; the same live, on resume and in verification. */
export interface CallRunInput {
  readonly runId: RunId
  readonly unitId: UnitId
  readonly path: ActorPath
  readonly attempt: number
  /** Frozen time of the attempt, milliseconds. */
  readonly at: number
  readonly block: Block
  readonly payload: Json
  /** Read when the code asks for it. */
  readonly request: Pick<Request, 'context' | 'metadata'>
  readonly view: StateView
  /** Made when the code asks for them: most code never does, and making them is dear. */
  readonly lazy: { readonly seed: { readonly value: Hash } } & SignalSource
  /** For leaves of the kernel only. */
  readonly kernel?: IntentInput
}

export interface CallRunPort {
  /** Whether calls say at which line of the code they are made: for messages about them. */
  readonly marksLines?: boolean
  /** The code made a call; it is answered later, through `call.answer`. */
  called(call: Call): void
  settled(outcome: Outcome): void
  /** `data` reads what the code gave, which may change: it is called at once or never. */
  log(message: string, data: () => Json): void
  /** Work elsewhere has come back: the code continues before the loop turns. */
  returned(): void
  /** The code wants to run again from the start, on the state as it is then. */
  again(): void
  /** The run is to stop where its journal ends, for something around the code. */
  halted(cause: TallyError): void
}

/** What an execution of the kernel is given besides what every block is. */
export interface IntentInput {
  readonly principal: Json
  /** Canonical JSON of the input. */
  readonly inputText: string
  /** Provider that a recovery step names, or null. */
  readonly provider: string | null
  /** In a replay: who did it. */
  readonly recorded: RecordedProvider | undefined
  /** In a replay of an attempt that failed: how it failed. */
  readonly recordedFailure?: RecordedFailure | undefined
  /** The state now, not recorded. */
  current(key: string): string | undefined
}
