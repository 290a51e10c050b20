import { canonicalize } from '../../../core/index.js'
import { receiptsEssence, resultEssence } from '../essence.js'
import type { Play } from '../play.js'
import { type Broken, type Evidence, type MachinePromise, shortened } from './promise.js'

/**
 * A run that was resumed after crashes leaves what it leaves without them. Nothing is promised
 * where a crash has led to another question to a person, where time has passed meanwhile, where
 * another version began the run, and for runs beside each other.
 */
export const resumes: MachinePromise = {
  code: 'resumes',
  text: 'a run that was resumed ends as one that never crashed',
  check: (evidence) => {
    const { disturbed, undisturbed } = evidence
    if (disturbed === undefined || !isComparable(evidence, disturbed)) return undefined
    return differing(undisturbed, disturbed, evidence)
  }
}

function isComparable({ given, undisturbed, compiled }: Evidence, disturbed: Play): boolean {
  const isBeside = [disturbed, undisturbed].some(({ world }) => world.besideEachOther > 1)
  // Code may decide by which of its steps has ended first, and the last receipt of a child, which
  // says in which life it was done, stands before those that follow.
  const hasChildren = undisturbed.world.children.size > 0
  if (compiled.kind === 'function' && (isBeside || hasChildren)) return false
  if (given.inputs.length > 1 || disturbed.beganLate) return false
  if (!disturbed.isTimely || !undisturbed.isTimely) return false
  if ([disturbed, undisturbed].some(({ error, overrun }) => error ?? overrun)) return false
  return [...disturbed.asked].every((token) => undisturbed.asked.has(token))
}

function differing(first: Play, second: Play, { compiled }: Evidence): Broken | undefined {
  // Of a plan, and of effects beside each other, the order of what arrives is not promised.
  const sameOrder = compiled.kind !== 'plan' && first.world.besideEachOther <= 1
  const results = compared(first, second, ({ results }) => canonicalize(results.map(resultEssence)))
  const states = compared(first, second, ({ state }) => canonicalize([...state]))
  const receipts = sameOrder
    ? compared(first, second, (play) => canonicalize(receiptsOf(play, sameOrder)))
    : undefined
  const found = results ?? states ?? receipts
  if (found === undefined) return undefined
  const what = results ? 'result' : states ? 'state' : 'receipts'
  return { problem: `the ${what} of the resumed run differs from that without a crash`, ...found }
}

function receiptsOf({ receipts }: Play, sameOrder: boolean) {
  const all = receipts.map(({ receipt }) => receipt)
  return receiptsEssence(all, sameOrder)
}

function compared(first: Play, second: Play, textOf: (play: Play) => string) {
  const expected = textOf(first)
  const actual = textOf(second)
  if (expected === actual) return undefined
  return { expected: shortened(expected), actual: shortened(actual) }
}
