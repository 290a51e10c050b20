import { answers } from './answers.js'
import { atomic } from './atomic.js'
import { bounded } from './bounded.js'
import { conforms } from './conforms.js'
import { continues } from './continues.js'
import { deterministic } from './deterministic.js'
import { ends } from './ends.js'
import { always, eventually, neverBoth } from './invariants.js'
import { keys } from './keys.js'
import { once } from './once.js'
import type { Broken, Evidence, MachinePromise } from './promise.js'
import { replays } from './replays.js'
import { resumes } from './resumes.js'
import { verifies } from './verifies.js'

/** In the order in which they are judged: what a cause breaks comes before what follows from it. */
export const promises: readonly MachinePromise[] = [
  bounded,
  ends,
  deterministic,
  continues,
  keys,
  once,
  answers,
  conforms,
  atomic,
  always,
  neverBoth,
  eventually,
  resumes,
  replays,
  verifies
]

/** A promise that a case has broken. */
export interface Violation extends Broken {
  readonly promise: string
}

/** The first promise that is broken, if any. */
export function judge(evidence: Evidence): Violation | undefined {
  for (const { code, check } of promises) {
    const broken = check(evidence)
    if (broken !== undefined) return { promise: code, ...broken }
  }
  return undefined
}
