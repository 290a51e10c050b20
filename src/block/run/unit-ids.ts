import { canonicalString, type Hash, type RunId, sha256Hex, type UnitId } from '../../core/index.js'

/** sha256(JCS([runId, path, step])): the id of a leaf's unit of work in a run (L6). */
export function unitIdOf(runId: RunId, path: string, step: number): UnitId {
  // Written out by hand: every step has one.
  const text = `[${canonicalString(runId)},${canonicalString(path)},${step}]`
  return sha256Hex(text) as unknown as UnitId
}

/** Step number of the run itself; its blocks count from 1. */
const RUN_STEP = 0

/** Id of the unit of work that is the run itself: its receipt is `run.completed`. */
export function runUnitId(runId: RunId): UnitId {
  return unitIdOf(runId, 'root', RUN_STEP)
}

/** Id of the unit of work of a run that is nothing else: a single-step run's receipt has it. */
export function singleStepUnitId(runId: RunId): UnitId {
  return unitIdOf(runId, 'root', 1)
}

/** sha256("tallystick/prng" || base || unit id), formats.md §3. */
export function seedOf(base: Hash | 'GENESIS', unitId: UnitId): Hash {
  return sha256Hex(`tallystick/prng${base}${unitId}`)
}
