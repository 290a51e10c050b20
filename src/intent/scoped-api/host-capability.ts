import type { z } from 'zod-pinned'
import type { CapabilityEntry } from '../../capability/index.js'
import type { EffectCall, SideEffectClass } from '../../code/index.js'
import type { Hash, IdentityId, Json } from '../../core/index.js'

/**
 * What the host does for a package under one name of the scoped API (semantics.md K6). A stateful
 * one works on the state of the unit that runs the package, so that it commits with the unit or not
 * at all; nothing of it is sealed, since a replay does it again. An effect leaves the process and
 * is sealed.
 */
export type HostCapability = StatefulCapability | EffectCapability

export interface StatefulCapability {
  readonly kind: 'stateful'
  readonly name: string
  /** Shape of what a package asks; anything else is refused as `invalid_request`. */
  readonly schema: z.ZodType
  /** Throws `EffectFailure` to refuse; then it has changed nothing. */
  perform(host: StatefulHost, request: unknown): Promise<Json> | Json
}

export interface EffectCapability {
  readonly kind: 'effect'
  readonly name: string
  readonly schema: z.ZodType
  /** A function of the request alone: it is asked again on resume and replay. */
  sideEffects(request: unknown): SideEffectClass
  /** Live only; throws `EffectFailure`, `definite` when nothing can have happened outside. */
  perform(call: EffectCall, caller: EffectCaller): Promise<Json>
}

/** State as a host capability sees it: that of the unit, with what the unit wrote so far. */
export interface HostState {
  get(key: string): Json | undefined
  set(key: string, value: Json): void
  delete(key: string): void
  /** Keys that begin with `prefix`, sorted. */
  list(prefix: string): Promise<readonly string[]>
}

/** On whose behalf a capability is asked for, and where its state stands. */
export interface StatefulHost {
  readonly state: HostState
  readonly packageId: string
  readonly identity: IdentityId
  /** The attempt's frozen time in milliseconds (K7). */
  readonly at: number
  /** Names this call for ever: the hash of the unit's id and the call's place in it. */
  readonly callId: Hash
}

export interface EffectCaller {
  readonly packageId: string
  /** What the manifest says about the capability, such as the hosts it will ask. */
  readonly entry: CapabilityEntry
}

/** Gives the definition of a stateful capability the type of its own request. */
export function stateful<Schema extends z.ZodType>(definition: {
  readonly name: string
  readonly schema: () => Schema
  perform(host: StatefulHost, request: z.output<Schema>): Promise<Json> | Json
}): StatefulCapability {
  const { name, schema } = definition
  return {
    kind: 'stateful',
    name,
    get schema() {
      return schema()
    },
    // The schema has just produced the request that the definition's own type asks for.
    perform: (host, request) => definition.perform(host, request as z.output<Schema>)
  }
}
