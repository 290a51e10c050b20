/**
 * The key of an execution map for a chain: exact, then `namespace:*`, then `*` (W1); undefined when
 * none fits.
 */
export function selectPattern(patterns: readonly string[], chain: string): string | undefined {
  const namespace = chain.slice(0, chain.indexOf(':'))
  return [chain, `${namespace}:*`, '*'].find((pattern) => patterns.includes(pattern))
}

/** Whether a chain is among some patterns; no patterns: every chain is. */
export function chainFits(chain: string, patterns: readonly string[] | undefined): boolean {
  return patterns === undefined || selectPattern(patterns, chain) !== undefined
}
