import type { Hash } from '../../core/index.js'
import type { AdapterSettings } from './adapter.js'

/**
 * What is written down of a session before the other side is asked for it, so that the next
 * process can close it after a crash: no prompt, and secrets by reference.
 */
export interface SessionNote {
  /** What the other side calls the session, or is asked to call it. */
  readonly id: string
  /** Of the run, the agent and what it was opened with. */
  readonly key: Hash
  readonly runId: string
  readonly agentId: string
  readonly flowName: string
  readonly adapterKind: string
  readonly adapterConfig: AdapterSettings
  /** The other side has answered with this id. */
  readonly isOpen: boolean
}

/** Where notes outlive the process; they are few, and all of them are at hand. */
export interface SessionNotes {
  all(): readonly SessionNote[]
  /** Resolves when the note is durable. A note of the same id is replaced. */
  keep(note: SessionNote): Promise<void>
  drop(id: string): Promise<void>
}
