import { cliError } from '../../core/index.js'

/** A whole number from 0 that an option was given. Throws `cli.usage`. */
export function countOf(given: string, option: string): number {
  const count = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN
  if (Number.isSafeInteger(count)) return count
  throw cliError('cli.usage', { problem: `${option} is no whole number: ${given}` })
}
