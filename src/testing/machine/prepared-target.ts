import type { CompiledWithChildren } from '../../block/index.js'
import type { Json } from '../../core/index.js'
import type { Compilations, Registrations } from '../../runtime/index.js'
import type { HostedPackages } from './guests.js'
import type { EffectOptionsOfWorld } from './options.js'
import type { RunSource } from './run-source.js'
import type { RoomWorlds } from './world-parts.js'

/** A target, read and compiled. */
export interface PreparedTarget {
  readonly name: string
  readonly source: RunSource
  registrations(): Registrations
  readonly compiled: CompiledWithChildren
  /** What all its lives compile, in every play. */
  readonly compilations: Compilations
  readonly takes: TakenInputs
  /** What the target itself says of the world; options of the same name replace it. */
  readonly effects: Readonly<Record<string, EffectOptionsOfWorld>>
  /** What people say where a value is asked for; empty: small values of each kind. */
  readonly values: readonly Json[]
  /** Of this kind of target. */
  readonly notChecked: readonly string[]
  /** Undefined: its runs ask neither a chain nor an agent. */
  readonly rooms: RoomWorlds | undefined
  /** Undefined: it has none. */
  readonly hosted: HostedPackages | undefined
  /** As a script may have it; undefined: only its module does. */
  readonly written: Json | undefined
  /** Ends the threads of its packages. */
  close(): Promise<void>
}

/** What a target takes for the input of a run. */
export interface TakenInputs {
  /** Undefined: it says nothing of them. */
  readonly schema: Json | undefined
  /** What its schema leaves open; absent: nothing. */
  readonly open?: string | undefined
  /** Why it refuses a value; undefined: it takes it. */
  problem(value: Json): string | undefined
}
