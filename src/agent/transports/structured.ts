import {
  atOnce,
  exactReading,
  inTurns,
  isSliceFull,
  type Pieces,
  passSteps
} from '../../core/index.js'

const STARTS_TRIED_MAX = 64

/**
 * The JSON value in a model's text: in a fenced block, or else the first balanced object or array.
 * Undefined when there is none. Depends on nothing but the text;
 * its numbers are exact.
 */
export function structuredIn(text: string): unknown {
  return atOnce(structuring(text))
}

/** {@link structuredIn} with turns of the event loop between the parts of a long text. */
export function structuredInTurns(text: string): Promise<unknown> {
  return inTurns(structuring(text))
}

function* structuring(text: string): Pieces<unknown> {
  const whole = yield* parsed(text.trim())
  if (whole !== undefined) return whole
  for (const inside of fencedBlocks(text)) {
    const value = yield* parsed(inside.trim())
    if (value !== undefined) return value
  }
  return yield* firstBalanced(text)
}

/**
 * What stands between two fences, the first of which may name a language and ends its line. Each
 * character is looked at a few times at most: a pattern would look for the end again from each
 * line break behind a fence that none closes.
 */
function* fencedBlocks(text: string): Generator<string, void> {
  for (let at = text.indexOf(FENCE); at !== -1; at = text.indexOf(FENCE, at)) {
    fenceHead.lastIndex = at
    const head = fenceHead.exec(text)?.[0] ?? FENCE
    const lineEnd = head.lastIndexOf('\n')
    const from = at + lineEnd + 1
    const end = lineEnd === -1 ? -1 : text.indexOf(FENCE, from)
    if (lineEnd !== -1 && end === -1) return
    if (end !== -1) yield text.slice(from, end)
    at = end === -1 ? at + 1 : end + FENCE.length
  }
}

const FENCE = '```'
const fenceHead = /```[a-zA-Z]*\s*/y

function* firstBalanced(text: string): Pieces<unknown> {
  let from = 0
  for (let tried = 0; tried < STARTS_TRIED_MAX; tried += 1) {
    const start = text.slice(from).search(/[{[]/)
    if (start === -1) return undefined
    const end = yield* balancedEnd(text, from + start)
    const value = end === undefined ? undefined : yield* parsed(text.slice(from + start, end))
    if (value !== undefined) return value
    from += start + 1
  }
  return undefined
}

/** Where the bracket at `start` is closed; brackets within strings do not count. */
function* balancedEnd(text: string, start: number): Pieces<number | undefined> {
  let depth = 0
  let isInString = false
  let partEnd = start
  for (let at = start; at < text.length; at += 1) {
    if (at >= partEnd) {
      partEnd = at + CHARS_OF_PART
      passSteps(CHARS_OF_PART / CHARS_OF_STEP)
      if (isSliceFull()) yield
    }
    const mark = text[at]
    if (isInString) {
      if (mark === '\\') at += 1
      else if (mark === '"') isInString = false
      continue
    }
    if (mark === '"') isInString = true
    else if (mark === '{' || mark === '[') depth += 1
    else if (mark === '}' || mark === ']') depth -= 1
    if (depth === 0) return at + 1
  }
  return undefined
}

const CHARS_OF_PART = 1_024
const CHARS_OF_STEP = 4

function* parsed(text: string): Pieces<unknown> {
  if (!/^[{[]/.test(text)) return undefined
  try {
    return yield* exactReading(text)
  } catch {
    return undefined
  }
}
