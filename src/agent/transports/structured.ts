import { exactJson } from '../../core/index.js'

const STARTS_TRIED_MAX = 64

/**
 * The JSON value in a model's text: in a fenced block, or else the first balanced object or array.
 * Undefined when there is none. Depends on nothing but the text;
 * its numbers are exact.
 */
export function structuredIn(text: string): unknown {
  const whole = parsed(text.trim())
  if (whole !== undefined) return whole
  for (const [, inside = ''] of text.matchAll(/```[a-zA-Z]*\s*\n([\s\S]*?)```/g)) {
    const value = parsed(inside.trim())
    if (value !== undefined) return value
  }
  return firstBalanced(text)
}

function firstBalanced(text: string): unknown {
  let from = 0
  for (let tried = 0; tried < STARTS_TRIED_MAX; tried += 1) {
    const start = text.slice(from).search(/[{[]/)
    if (start === -1) return undefined
    const end = balancedEnd(text, from + start)
    const value = end === undefined ? undefined : parsed(text.slice(from + start, end))
    if (value !== undefined) return value
    from += start + 1
  }
  return undefined
}

/** Where the bracket at `start` is closed; brackets within strings do not count. */
function balancedEnd(text: string, start: number): number | undefined {
  let depth = 0
  let isInString = false
  for (let at = start; at < text.length; at += 1) {
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

function parsed(text: string): unknown {
  if (!/^[{[]/.test(text)) return undefined
  try {
    return exactJson(text)
  } catch {
    return undefined
  }
}
