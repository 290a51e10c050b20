import {
  matchesList,
  matchesName,
  type NamePattern,
  namePattern,
  type StepBudget
} from './name-pattern.js'

/**
 * The rules of one `.gitignore`, with the meaning that git gives them. Written here because what
 * libraries make of them are regular expressions that take exponential time on some patterns, and
 * a repository comes from a stranger (decision 0123).
 */
export interface IgnoreRules {
  /** Whether a path below the file's directory is ignored; undefined: the file does not say. */
  decide(
    segments: readonly string[],
    options: { readonly isDirectory: boolean; readonly budget: StepBudget }
  ): boolean | undefined
}

interface Rule {
  readonly isNegated: boolean
  readonly isForDirectories: boolean
  /** Null stands for any number of directories. */
  readonly segments: readonly (NamePattern | null)[]
}

/** Reads an ignore file. A line that can match nothing is left out. */
export function ignoreRules(text: string): IgnoreRules {
  const lines = text.replace(/^\ufeff/, '').split('\n')
  const rules = lines.flatMap((line) => ruleOf(line) ?? []).reverse()
  return {
    decide: (segments, { isDirectory, budget }) => {
      const rule = rules.find(
        (one) => (isDirectory || !one.isForDirectories) && matches(one, segments, budget)
      )
      return rule === undefined ? undefined : !rule.isNegated
    }
  }
}

function ruleOf(line: string): Rule | undefined {
  const text = withoutTrailingBlanks(line.replace(/\r$/, ''))
  if (text === '' || text.startsWith('#')) return undefined
  const isNegated = text.startsWith('!')
  const written = splitAtSlashes(isNegated ? text.slice(1) : text)
  const isForDirectories = written.length > 1 && written.at(-1) === ''
  if (isForDirectories) written.pop()
  // A slash at the beginning or in the middle ties the pattern to the directory of the file.
  const isTied = written.length > 1
  if (isTied && written[0] === '') written.shift()
  const parts = isTied ? written : ['**', ...written.map((part) => part.replace(/^\*+$/, '*'))]
  // `**` at the end means what is below, which is at least one name.
  if (isMany(parts.at(-1) ?? '')) parts.push('*')
  const segments: (NamePattern | null)[] = []
  for (const part of parts) {
    const pattern = isMany(part) ? null : namePattern(part)
    if (pattern === undefined || part === '') return undefined
    segments.push(pattern)
  }
  return { isNegated, isForDirectories, segments }
}

function isMany(part: string): boolean {
  return /^\*{2,}$/.test(part)
}

/** `\/` is a slash like any other. */
function splitAtSlashes(text: string): string[] {
  const parts = ['']
  for (let at = 0; at < text.length; at += 1) {
    const isEscape = text[at] === '\\' && at + 1 < text.length
    const character = isEscape ? text.slice(at, at + 2) : (text[at] ?? '')
    if (character === '/' || character === '\\/') parts.push('')
    else parts.push(`${parts.pop() ?? ''}${character}`)
    if (isEscape) at += 1
  }
  return parts
}

/** Blanks at the end count only behind a backslash. */
function withoutTrailingBlanks(text: string): string {
  let end = 0
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === ' ') continue
    end = Math.min(at + 1, text.length)
  }
  return text.slice(0, end)
}

function matches({ segments }: Rule, names: readonly string[], budget: StepBudget): boolean {
  const tokens = { length: segments.length, isMany: (at: number) => segments[at] === null }
  const fitsAt = (token: number, item: number) => {
    const pattern = segments[token]
    return pattern != null && matchesName(pattern, names[item] ?? '', budget)
  }
  return matchesList(tokens, names.length, fitsAt, budget)
}
