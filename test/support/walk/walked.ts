import { ask, type Caller } from './callers.js'
import type { Try } from './viewers.js'
import type { World } from './world.js'

/** How far the owner has gone for the caller: nothing, all grants, and the switches of a server. */
export const stages = ['yes', 'granted', 'switch'] as const
export type Stage = (typeof stages)[number]

export interface Walked {
  readonly road: string
  readonly principal: string
  readonly stages?: readonly Stage[]
  /** Whether this stage needs the road opened anew. */
  readonly needsOther?: (stage: Stage) => boolean
  /** The ledger is given to the next process that asks for it. */
  readonly handOver?: true
  open(world: World, stage: Stage): Promise<Try>
}

export const through = (caller: Caller, world: World): Try => ({
  attempt: (kind, ownersRun) => ask(world, kind, caller, ownersRun),
  ...(caller.close === undefined ? {} : { close: caller.close })
})

/** As whom another user of the machine is played. */
export const OTHER_USER = 65_533
