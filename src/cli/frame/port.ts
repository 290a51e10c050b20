import { cliError, limits } from '../../core/index.js'

/** A port that was given, or 0, for one that is free. Throws `cli.usage`. */
export function portOf(given = '0'): number {
  const port = Number(given)
  if (/^\d{1,5}$/.test(given) && port <= limits.PORT_MAX) return port
  throw cliError('cli.usage', { problem: '--port is a number from 0 to 65535' })
}
