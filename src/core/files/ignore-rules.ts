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
  /** It matches what one of them does. */
  readonly forms: readonly Segments[]
}

/** Null stands for any number of directories. */
type Segments = readonly (NamePattern | null)[]

/** What stands between two slashes. */
interface Part {
  readonly text: string
  /** The slash behind it is written `\/`. */
  readonly isEscaped?: boolean
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
  const isForDirectories = written.length > 1 && written.at(-1)?.text === ''
  if (isForDirectories) written.pop()
  // The slash is taken off before, and a backslash at the end matches nothing.
  if (isForDirectories && written.at(-1)?.isEscaped === true) return undefined
  // A slash at the beginning or in the middle ties the pattern to the directory of the file.
  const isTied = written.length > 1
  if (isTied && written[0]?.text === '' && written[0].isEscaped !== true) written.shift()
  const loose = () => [null, ...written.map((part) => ({ text: part.text.replace(/^\*+$/, '*') }))]
  const forms = (isTied ? formsOf(written) : [loose()]).flatMap((form) => segmentsOf(form) ?? [])
  return forms.length === 0 ? undefined : { isNegated, isForDirectories, forms }
}

function isMany(part: Part | null | undefined): boolean {
  return part === null || /^\*{2,}$/.test(part?.text ?? '')
}

/**
 * Git compares what stands before the first wildcard by itself, and reads the rest as a pattern of
 * its own. So `**` that comes first behind a literal, as in `d/e**` before `/a`, stands for
 * directories too: for `d/ea`, and for `d/e*` with any number of them below.
 */
function formsOf(parts: readonly Part[]): readonly (readonly (Part | null)[])[] {
  const at = parts.findIndex(({ text }) => /[*?[\\]/.test(text))
  const found = parts[at]
  const literal = /^([^*?[\\]+)\*{2,}$/.exec(found?.text ?? '')?.[1]
  if (found === undefined || literal === undefined) return [parts]
  const before = parts.slice(0, at)
  let { isEscaped = false } = found
  let rest = parts.slice(at + 1)
  // Another one behind it adds nothing.
  for (let [next] = rest; !isEscaped && next !== undefined && isMany(next); [next] = rest) {
    isEscaped = next.isEscaped ?? false
    rest = rest.slice(1)
  }
  const far = [...before, { text: `${literal}*` }, null, ...rest]
  const [next, ...after] = rest
  if (next === undefined || isEscaped) return [far]
  return [far, [...before, { ...next, text: `${literal}${next.text}` }, ...after]]
}

/** Undefined for what can match nothing. */
function segmentsOf(form: readonly (Part | null)[]): [Segments] | undefined {
  const segments: (NamePattern | null)[] = []
  for (const [at, part] of form.entries()) {
    if (part === null) segments.push(null)
    else if (isMany(part)) {
      segments.push(null)
      // At the end it means what is below; neither that nor what `\/` follows is nothing.
      const isSome = at === form.length - 1 || part.isEscaped === true
      if (isSome) segments.push(namePattern('*') ?? null)
    } else {
      const pattern = namePattern(part.text)
      if (pattern === undefined || part.text === '') return undefined
      segments.push(pattern)
    }
  }
  return [segments]
}

/** `\/` is a slash like any other, but behind `**`. */
function splitAtSlashes(text: string): Part[] {
  const parts: Part[] = []
  let part = ''
  for (let at = 0; at < text.length; at += 1) {
    const isEscape = text[at] === '\\' && at + 1 < text.length
    const character = isEscape ? text.slice(at, at + 2) : (text[at] ?? '')
    if (character === '/' || character === '\\/') {
      parts.push({ text: part, isEscaped: isEscape })
      part = ''
    } else part += character
    if (isEscape) at += 1
  }
  return [...parts, { text: part }]
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

function matches({ forms }: Rule, names: readonly string[], budget: StepBudget): boolean {
  return forms.some((segments) => {
    const tokens = { length: segments.length, isMany: (at: number) => segments[at] === null }
    const fitsAt = (token: number, item: number) => {
      const pattern = segments[token]
      return pattern != null && matchesName(pattern, names[item] ?? '', budget)
    }
    return matchesList(tokens, names.length, fitsAt, budget)
  })
}
