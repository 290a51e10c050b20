import type { OpenWait } from '../../block/index.js'
import type { Json } from '../../core/index.js'
import type { KeySignature } from '../../identity/index.js'
import type { Receipt } from '../../ledger/index.js'
import type { Registrations, RunResult } from '../../runtime/index.js'

/** An arbitrary of fast-check, by its shape: this library loads it only when it generates. */
export interface AnyArbitrary<Value = unknown> {
  generate(random: never, bias: number | undefined): { readonly value: Value }
  canShrinkWithoutContext(value: unknown): boolean
}

/** JSON Schema, or a Standard Schema that offers its JSON form, as one of zod does. */
export type AnySchema = Readonly<Record<string, unknown>> | { readonly '~standard': unknown }

/** Answers an effect; throws `EffectFailure` for one that fails. `nth`: askings before this one. */
export type EffectAnswer = (
  request: Json,
  asked: { readonly nth: number; readonly effect: string }
) => Json | Promise<Json>

/** How the world answers one effect. */
export interface EffectOptionsOfWorld {
  /** `own`: as the block or the provider does it, outside of this test. */
  readonly answer: EffectAnswer | AnyArbitrary<Json> | AnySchema | 'own'
  /**
   * What the real one does when it is asked again with the same key. Default: by the side-effect
   * class that the block declares.
   */
  readonly repeats?: 'safely' | 'again'
  /** What may go wrong. Default: everything of {@link Trouble}; `reverts` for writes of chains. */
  readonly troubles?: readonly ('refuses' | 'loses' | 'loses_done' | 'reverts' | 'slow')[]
}

/** What people of a case answer, and when. */
export interface PeopleOptions {
  /** What they answer where a value is asked for; by default small values of each kind. */
  readonly values?: AnyArbitrary<Json>
  /** What they do. Default: everything of {@link Manner}, and every action that is offered. */
  readonly manners?: readonly ('late' | 'twice' | 'wrong_digest' | 'never' | 'cancels')[]
  /** Signs an answer, where a wait has approvers; without it such waits stay open. */
  sign?(
    wait: OpenWait,
    answer: { readonly action: string; readonly value: Json }
  ): KeySignature | undefined
}

/** What an invariant is asked about. */
export interface Seen {
  /** State entries by key. */
  readonly state: Readonly<Record<string, Json>>
  /** Receipts so far, in order. */
  readonly receipts: readonly Receipt[]
}

/** What an invariant of the end is asked about. */
export interface SeenInTheEnd extends Seen {
  readonly results: readonly RunResult[]
  /** What was done outside, in order. */
  readonly deeds: readonly { readonly effect: string; readonly request: Json }[]
}

/** False, or a throw, is a violation. */
export type Invariant<Of> = (seen: Of) => unknown

/** How much one play of a case may take. */
export interface MachineBounds {
  /** Receipts that one play may leave. */
  readonly steps?: number
  /** Bytes of all state entries. */
  readonly stateBytes?: number
  /** Bytes of all journals. */
  readonly journalBytes?: number
  /** Effects that one play may ask for. */
  readonly effects?: number
}

/** What a case is played with, besides the case. */
export interface CaseOptions {
  readonly effects?: Readonly<Record<string, EffectOptionsOfWorld>>
  readonly people?: PeopleOptions
  /** Context that runs are started with. */
  readonly context?: Readonly<Record<string, Json>>
  /** Hold after every receipt. */
  readonly always?: Readonly<Record<string, Invariant<Seen>>>
  /** Hold when everything has ended. */
  readonly eventually?: Readonly<Record<string, Invariant<SeenInTheEnd>>>
  /** Names of nodes, blocks or effects: of each pair one at most is done in one run. */
  readonly neverBoth?: readonly (readonly [string, string])[]
  /** What the next version registers; a case may redeploy where a process dies. */
  readonly next?: Registrations
  readonly bounds?: MachineBounds
}

/** What {@link verifyMachine} generates, and what it checks. */
export interface MachineOptions extends CaseOptions {
  /** Of one run, or by the dotted path of what the schema does not say well enough. */
  readonly inputs?: AnyArbitrary<Json> | Readonly<Record<string, AnyArbitrary<Json>>>
  /** Runs beside each other on the same state, at most. Default 1. */
  readonly concurrent?: number
  /** Default 100. */
  readonly cases?: number
  /** Default: a fixed one, so that a test gives the same verdict until the code changes. */
  readonly seed?: number
  /**
   * Processes that share the cases, 16 at most, each with a seed of its own. Default 1, which is
   * this one. They take target and options from the module that `from` names.
   */
  readonly processes?: number
  /** Directory in which the script of a counterexample is written. */
  readonly save?: string
  /** Where target and options come from, for the script of a counterexample. */
  readonly from?: CodePlace
}

/** Module and names under which a script finds what was tested. */
export interface CodePlace {
  /**
   * As the script is to import it. A URL, such as `import.meta.url`, is written relative to the
   * directory in which the script is saved.
   */
  readonly module: string
  readonly target: string
  /** Name of the options; absent: they are written into the script by hand. */
  readonly options?: string
}
