import type { OutsideCall } from '../../block/index.js'
import type { CapabilityPackage } from '../../capability/index.js'
import type { EffectCall, SideEffectClass } from '../../code/index.js'
import type { ManualClock, RunId } from '../../core/index.js'
import type { Carrier } from './carrier.js'
import type { Script } from './case.js'
import type { EffectAnswer } from './options.js'

/** How the world of a case answers one effect. */
export interface WorldEffect {
  /** `own`: the code's `perform`, or the provider, does it. A function: it answers. */
  readonly answer: 'own' | 'scripted' | EffectAnswer
  readonly repeats: 'safely' | 'again' | undefined
}

/** Something that was done outside. */
export interface Deed {
  readonly effect: string
  readonly key: string
  readonly request: string
  readonly run: RunId | undefined
  readonly sideEffects: SideEffectClass
  /** A person has said that it is to be sent again. */
  readonly isOrdered: boolean
  /** Key of the same request of the same run, whose outcome was open when this was done. */
  readonly openBefore: string | undefined
}

/** The same key for another request. */
export interface KeyClash {
  readonly key: string
  readonly first: string
  readonly second: string
}

/** A request as the service gets it. */
export interface Doing {
  readonly given: EffectCall
  readonly asked: OutsideCall
  readonly effect: string
  readonly spec: WorldEffect
  readonly name: string
  /** How often a person had ordered it when it was sent. */
  readonly ordered: number
  readonly openBefore: string | undefined
}

export interface Asking {
  readonly effect: string
  readonly request: string
  readonly run: RunId | undefined
  /** Whether the caller does not know what became of it. */
  isOpen: boolean
}

/**
 * What answers the effects of chains and of agents. Their rooms are large, and most targets reach
 * neither.
 */
export interface RoomWorlds {
  readonly chains: typeof import('./chain-world.js')
  readonly agents: typeof import('./agent-world.js')
}

export async function loadRoomWorlds(): Promise<RoomWorlds> {
  const [chains, agents] = await Promise.all([
    import('./chain-world.js'),
    import('./agent-world.js')
  ])
  return { chains, agents }
}

export interface WorldParts {
  readonly script: Pick<Script, 'lineOf'>
  readonly clock: ManualClock
  readonly effects: ReadonlyMap<string, WorldEffect>
  /** Absent: those of chains and agents are as any other effect. */
  readonly rooms?: RoomWorlds | undefined
  /** Whose manifests say which hosts may be asked. */
  readonly packages?: readonly CapabilityPackage[]
  /** Absent: requests arrive and are answered at once, and are gone when their process is. */
  readonly carrier?: Carrier | undefined
  /** Askings of one play, at most. */
  readonly effectsMax: number
}
