import { isTallyError } from '../../src/core/index.js'
import type { ConformanceCheck } from '../../src/testing/index.js'

/** A driver with one fault, and the checks of its suite that find it. */
export interface WrongDriver<Driver> {
  readonly fault: string
  driver(): Driver
  /** The beginning of the name of each check that fails, after `late: ` where no answer comes. */
  readonly fails: readonly string[]
  /** Checks that fail or not, as the system has it. */
  readonly mayFail?: readonly string[]
}

/**
 * Names of the checks that a driver fails, as `expected` has them where it has. Only what is
 * expected to be late is given little time, so that a slow machine changes nothing.
 */
export async function failingChecks<Driver>(
  checks: readonly ConformanceCheck<Driver>[],
  driver: () => Driver,
  expected: readonly string[] = []
): Promise<readonly string[]> {
  const failing: string[] = []
  for (const check of checks) {
    const isLate = expected.some((one) => `late: ${check.name}`.startsWith(one))
    try {
      await check.run(driver(), { deadlineMs: isLate ? LATE_MS : PATIENT_MS })
    } catch (error) {
      const late = isTallyError(error, 'testing.no_answer') ? 'late: ' : ''
      const name = `${late}${check.name}`
      failing.push(expected.find((beginning) => name.startsWith(beginning)) ?? name)
    }
  }
  return failing
}

const LATE_MS = 20
const PATIENT_MS = 60_000

/** Checks that none of these drivers fails. */
export function neverFailed<Driver>(
  checks: readonly ConformanceCheck<Driver>[],
  wrong: readonly WrongDriver<Driver>[]
): readonly string[] {
  // One that answers nothing shows nothing of a check but its deadline.
  const found = wrong.flatMap(({ fails }) => fails.filter((one) => !one.startsWith('late: ')))
  return checks.map(({ name }) => name).filter((name) => !found.some((one) => name.startsWith(one)))
}
