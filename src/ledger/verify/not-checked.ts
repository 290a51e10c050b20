/** What a verification left out, in words. */
export function notCheckedIn(found: {
  readonly isReexecuted: boolean
  readonly withheld: number
  readonly closed: readonly string[]
  readonly archived: readonly string[]
  /** Log records after the last note from outside. */
  readonly notAnchored: number
  readonly more: readonly string[]
  readonly hasFailed: boolean
}): readonly string[] {
  const { isReexecuted, withheld, closed, archived, notAnchored, more, hasFailed } = found
  const said = isReexecuted ? [] : ['outputs: nothing was re-executed']
  if (withheld > 0) said.push(`${withheld} bodies withheld`)
  said.push(...closed)
  said.push(...archived)
  if (notAnchored > 0) said.push(`${notAnchored} log records after the last note from outside`)
  said.push(...more)
  if (hasFailed) said.push('everything after the failure')
  return said
}
