/**
 * The key of an execution map for a chain: exact, then `namespace:*`, then `*` (W1); undefined when
 * none fits.
 */
export function selectPattern(
  has: (pattern: string) => boolean,
  chain: string
): string | undefined {
  const namespace = chain.slice(0, chain.indexOf(':'))
  return [chain, `${namespace}:*`, '*'].find(has)
}

/** Whether a chain is among some patterns; no patterns: every chain is. */
export function chainFits(chain: string, patterns: readonly string[] | undefined): boolean {
  if (patterns === undefined) return true
  return selectPattern((pattern) => patterns.includes(pattern), chain) !== undefined
}
