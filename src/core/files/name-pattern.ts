/**
 * Patterns of names as ignore files have them: `*`, `?`, `[a-z]` and `\` before a character that
 * is meant as it is. Matching goes back to the last `*` only, so its steps are at most the product
 * of the two lengths; they are counted against a budget, since a stranger wrote both.
 */

export type NamePattern = readonly Token[]

type Token =
  | { readonly kind: 'any' | 'many' }
  | { readonly kind: 'one'; readonly character: string }
  | { readonly kind: 'set'; readonly isNegated: boolean; readonly ranges: readonly Range[] }

/** From the first to the last code point. */
type Range = readonly [number, number]

/** Steps that are left; a match that has none left throws {@link OutOfSteps}. */
export interface StepBudget {
  steps: number
}

export class OutOfSteps extends Error {
  override readonly name = 'OutOfSteps'
}

/** A pattern for one name; undefined for one that matches nothing. */
export function namePattern(text: string): NamePattern | undefined {
  const characters = [...text]
  const tokens: Token[] = []
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? ''
    if (character === '*') {
      if (tokens.at(-1)?.kind !== 'many') tokens.push({ kind: 'many' })
    } else if (character === '?') tokens.push({ kind: 'any' })
    else if (character === '\\') {
      at += 1
      const escaped = characters[at]
      if (escaped === undefined) return undefined
      tokens.push({ kind: 'one', character: escaped })
    } else if (character === '[') {
      const set = setAt(characters, at + 1)
      if (set === undefined) return undefined
      tokens.push(set.token)
      at = set.end
    } else tokens.push({ kind: 'one', character })
  }
  return tokens
}

/** A set whose `[` stands before `from`; `end` is the place of its `]`. */
function setAt(
  characters: readonly string[],
  from: number
): { readonly token: Token; readonly end: number } | undefined {
  const isNegated = characters[from] === '!' || characters[from] === '^'
  const first = isNegated ? from + 1 : from
  const ranges: Range[] = []
  for (let at = first; at < characters.length; at += 1) {
    const character = characters[at]
    if (character === ']' && at > first) {
      return { token: { kind: 'set', isNegated, ranges }, end: at }
    }
    const named = character === '[' && characters[at + 1] === ':' ? classAt(characters, at) : null
    if (named === undefined) return undefined
    if (named !== null) {
      ranges.push(...named.ranges)
      at = named.end
      continue
    }
    const low = memberAt(characters, at)
    if (low === undefined) return undefined
    at = low.end
    const next = characters[at + 2]
    if (characters[at + 1] !== '-' || next === undefined || next === ']') {
      ranges.push([low.point, low.point])
      continue
    }
    const high = memberAt(characters, at + 2)
    if (high === undefined) return undefined
    ranges.push([low.point, high.point])
    at = high.end
  }
  return undefined
}

function memberAt(
  characters: readonly string[],
  at: number
): { readonly point: number; readonly end: number } | undefined {
  const end = characters[at] === '\\' ? at + 1 : at
  const point = characters[end]?.codePointAt(0)
  return point === undefined ? undefined : { point, end }
}

/** `[:alpha:]` and the like; `end` is the place of its `]`. Undefined for no such class. */
function classAt(
  characters: readonly string[],
  at: number
): { readonly ranges: readonly Range[]; readonly end: number } | undefined {
  const end = characters.indexOf(']', at)
  const name = characters.slice(at + 2, end - 1).join('')
  if (end === -1 || characters[end - 1] !== ':' || !Object.hasOwn(classes, name)) return undefined
  return { ranges: classes[name] ?? [], end }
}

const digits: Range = [0x30, 0x39]
const upper: Range = [0x41, 0x5a]
const lower: Range = [0x61, 0x7a]
const classes: Readonly<Record<string, readonly Range[]>> = {
  alnum: [digits, upper, lower],
  alpha: [upper, lower],
  digit: [digits],
  lower: [lower],
  upper: [upper],
  xdigit: [digits, [0x41, 0x46], [0x61, 0x66]],
  punct: [
    [0x21, 0x2f],
    [0x3a, 0x40],
    [0x5b, 0x60],
    [0x7b, 0x7e]
  ],
  blank: [
    [0x20, 0x20],
    [0x09, 0x09]
  ],
  space: [
    [0x20, 0x20],
    [0x09, 0x0d]
  ],
  print: [[0x20, 0x7e]],
  graph: [[0x21, 0x7e]],
  cntrl: [
    [0x00, 0x1f],
    [0x7f, 0x7f]
  ]
}

/** Whether a name fits. Throws {@link OutOfSteps}. */
export function matchesName(pattern: NamePattern, name: string, budget: StepBudget): boolean {
  const characters = [...name]
  return matchesList(
    { length: pattern.length, isMany: (at) => pattern[at]?.kind === 'many' },
    characters.length,
    (token, at) => fits(pattern[token], characters[at] ?? ''),
    budget
  )
}

/**
 * Whether a list of items fits a list of tokens, some of which stand for any number of items. Of
 * several of those only the last is ever tried otherwise: what stood before it is settled.
 */
export function matchesList(
  tokens: { readonly length: number; readonly isMany: (at: number) => boolean },
  length: number,
  fitsAt: (token: number, item: number) => boolean,
  budget: StepBudget
): boolean {
  let token = 0
  let item = 0
  let many: { readonly token: number; item: number } | undefined
  while (item < length) {
    budget.steps -= 1
    if (budget.steps < 0) throw new OutOfSteps()
    if (token < tokens.length && tokens.isMany(token)) {
      many = { token, item }
      token += 1
    } else if (token < tokens.length && fitsAt(token, item)) {
      token += 1
      item += 1
    } else if (many !== undefined) {
      many.item += 1
      token = many.token + 1
      item = many.item
    } else return false
  }
  while (token < tokens.length && tokens.isMany(token)) token += 1
  return token === tokens.length
}

function fits(token: Token | undefined, character: string): boolean {
  switch (token?.kind) {
    case undefined:
      return false
    case 'any':
    case 'many':
      return true
    case 'one':
      return token.character === character
    case 'set': {
      const point = character.codePointAt(0) ?? -1
      return token.isNegated !== token.ranges.some(([low, high]) => point >= low && point <= high)
    }
  }
}
