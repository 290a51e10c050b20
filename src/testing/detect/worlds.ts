import { tmpdir } from 'node:os'

/** What a child process shows its code of the world. */
export interface World {
  /** Where its clock begins; each reading is a millisecond later than the one before. */
  readonly now: number
  /** Where `Math.random` begins, from 1. */
  readonly seed: number
  readonly isReversed: boolean
  readonly stackFrames: number
  readonly environment: Readonly<Record<string, string>>
  /** Undefined: that of this process. */
  readonly directory?: string
}

const DAY_MS = 24 * 60 * 60 * 1000
const FIRST_DAY = Date.UTC(2024, 1, 29, 12)

export const firstWorld: World = {
  now: FIRST_DAY,
  seed: 1,
  isReversed: false,
  stackFrames: 10,
  environment: { TZ: 'UTC', LANG: 'en_US.UTF-8', LC_ALL: 'en_US.UTF-8' }
}

/** Name of the variation that changes nothing but the process. */
export const anotherProcess = 'process'

/** Names of what varies, each with how another world has it. */
export const variations: Readonly<Record<string, Partial<World>>> = {
  [anotherProcess]: {},
  'key order': { isReversed: true },
  clock: { now: FIRST_DAY + 400 * DAY_MS },
  chance: { seed: 1_000_003 },
  'time zone': { environment: { TZ: 'Pacific/Kiritimati' } },
  locale: { environment: { LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' } },
  environment: { environment: { HOME: tmpdir(), USER: 'another', HOSTNAME: 'another' } },
  directory: { directory: tmpdir() },
  'stack depth': { stackFrames: 3 }
}

/** The first world with one thing varied. */
export function worldWith(change: Partial<World>): World {
  const environment = { ...firstWorld.environment, ...change.environment }
  return { ...firstWorld, ...change, environment }
}

/** The world in which everything is varied. */
export function otherWorld(): World {
  const environment = Object.assign({}, ...Object.values(variations).map((one) => one.environment))
  const all: Partial<World> = Object.assign({}, ...Object.values(variations))
  return worldWith({ ...all, environment })
}
