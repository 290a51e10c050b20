import type { Hash, Json } from '../../core/index.js'

/** A call of the scoped API that leaves the guest: an effect to be performed and sealed (K9). */
export interface SandboxCall {
  /** Position among the execution's calls, from 0; part of the idempotency key (L7). */
  readonly seq: number
  /** Declared name, such as `wallet.send`. */
  readonly capability: string
  /** Canonical JSON. */
  readonly requestText: string
  readonly requestHash: Hash
}

/** The sealed result of an earlier call. Entries stand in delivery order. */
export type SealedAnswer = {
  readonly seq: number
  readonly requestHash: Hash
} & (
  | { readonly ok: true; readonly resultText: string }
  /** The guest's promise rejects with an error that has `reason` and `details`. */
  | { readonly ok: false; readonly reason: string; readonly details: Json }
)

export interface DeniedCalls {
  readonly capability: string
  readonly times: number
}

/** What every deterministic outcome tells; the same on every machine for the same inputs. */
export interface SandboxFacts {
  /** Interrupt ticks used. */
  readonly gasTicks: number
  /** Capabilities that were called and granted, sorted. */
  readonly used: readonly string[]
  /** Calls that were refused, also those whose error the guest caught; sorted. */
  readonly denied: readonly DeniedCalls[]
}

export type SandboxOutcome =
  | (SandboxFacts & {
      readonly kind: 'done'
      /** Canonical JSON of what `run` returned. */
      readonly resultText: string
      /** Full state keys with canonical JSON, null to delete; in order of first writing. */
      readonly writes: ReadonlyMap<string, string | null>
      /** Every call of the execution in order; each has its recorded result. */
      readonly calls: readonly SandboxCall[]
    })
  /** Perform these, seal the results, and execute again with them recorded. */
  | (SandboxFacts & { readonly kind: 'call'; readonly calls: readonly SandboxCall[] })
  | (SandboxFacts & SandboxFailure)
  /**
   * The wall clock ran out, or the engine failed. Says nothing about the package that another
   * machine would confirm: infrastructure, never replayed.
   */
  | {
      readonly kind: 'failed'
      readonly code: 'killed' | 'engine_failed'
      readonly message: string
      readonly isDeterministic: false
    }

/** A failure that every machine repeats at the same point; evidence, and replayable. */
export interface SandboxFailure {
  readonly kind: 'failed'
  readonly code: SandboxFailureCode
  readonly message: string
  readonly isDeterministic: true
}

export type SandboxFailureCode =
  | 'gas_exceeded'
  | 'memory_exceeded'
  | 'stack_exceeded'
  | 'microtasks_exceeded'
  | 'host_calls_exceeded'
  | 'host_bytes_exceeded'
  /** The module did not load, or exports no function `run`. */
  | 'not_loaded'
  /** The package threw. */
  | 'thrown'
  /** `run` returned a promise that nothing will settle. */
  | 'never_settled'
  /** A result, a request or a written value is not plain JSON that the ledger keeps. */
  | 'invalid_value'
  /** A storage key is empty, too long or holds NUL. */
  | 'invalid_key'
  /**
   * The calls are not those of the recorded results: other code, state or input than when it was
   * recorded.
   */
  | 'diverged'
