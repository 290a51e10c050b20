import type { SideEffectClass } from '../../code/index.js'
import type { Json } from '../../core/index.js'

/** What a service says to a request: what came of it, or why nothing is known to have. */
export type Served =
  | { readonly result: Json }
  | { readonly failure: { readonly reason: string; readonly definite: boolean } }

/** A request on its way from a process to a service. */
export interface Message {
  readonly effect: string
  readonly key: string
  /** Names the asking: what a dead process has asked is asked again under the same name. */
  readonly asking: string
  readonly sideEffects: SideEffectClass
  /** Whether the process that asks still lives. */
  isAwaited(): boolean
  /** What the service does each time that the request arrives. */
  serve(): Promise<Served>
}

/** Carries requests of one process to services, and their answers back. */
export interface Carrier {
  /**
   * What the process hears; undefined: no answer came in time, and the request may yet arrive.
   * Rejects with what serving has thrown.
   */
  carry(message: Message): Promise<Served | undefined>
  /** Whether a request under this key is on its way, or being served. */
  isUnderWay(key: string): boolean
  /** Whether the service of an effect can be asked now. */
  reaches(effect: string): boolean
}
