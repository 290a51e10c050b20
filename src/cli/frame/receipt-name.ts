import { cliError, type Hash, isHash } from '../../core/index.js'

/**
 * What names a receipt: its hash, or its place in the chain, with or without `#`. Undefined for
 * anything else. Throws `cli.usage` for the start of a hash, as tables show it.
 */
export function receiptNamed(what: string): Hash | number | undefined {
  if (isHash(what)) return what
  const digits = what.replace(/^#/, '')
  if (/^\d{1,15}$/.test(digits)) return Number(digits)
  if (!/^[0-9a-f]{8,63}$/.test(what)) return undefined
  const place = 'by its place, the first column of "tally log", or by its whole hash'
  const problem = `${what} is the start of a hash: name the receipt ${place}`
  throw cliError('cli.usage', { problem })
}
