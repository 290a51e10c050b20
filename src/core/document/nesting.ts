import { coreError, type TallyError } from '../errors/error.js'
import { JSON_DEPTH_MAX } from '../limits.js'
import type { Pieces } from './pieces.js'
import { isSliceFull, passSteps } from './work.js'

const nodeMayBegin = new Set([...'\n\r-:,?[{'].map((char) => char.charCodeAt(0)))
const [BLANK, TAB, OPEN_LIST, OPEN_OBJECT, CLOSE_LIST, CLOSE_OBJECT] = [32, 9, 91, 123, 93, 125]
/** Characters that are scanned for one step of work. */
const CHARS_OF_STEP = 16
const SCANNED_AT_ONCE = 64 * 1024

/**
 * Refuses deep flow nesting before any recursive reader sees the text; throws
 * `core.limit_exceeded`.
 *
 * A caught stack overflow is no defence in V8, so this scan is a loop. It counts an opening bracket
 * only where a YAML node can begin, so that brackets inside prose do not count; quotes are not
 * tracked, since an apostrophe in plain YAML text is not one. The exact depth is checked later.
 */
export function* refusingDeepNesting(text: string): Pieces<void> {
  let depth = 0
  let mayBegin = true
  for (let from = 0; from < text.length; from += SCANNED_AT_ONCE) {
    const to = Math.min(text.length, from + SCANNED_AT_ONCE)
    for (let index = from; index < to; index += 1) {
      const char = text.charCodeAt(index)
      if (char === BLANK || char === TAB) continue
      if (char === OPEN_LIST || char === OPEN_OBJECT) {
        if (mayBegin) depth += 1
        if (depth > JSON_DEPTH_MAX) throw tooDeep()
      } else if (char === CLOSE_LIST || char === CLOSE_OBJECT) depth = Math.max(0, depth - 1)
      mayBegin = nodeMayBegin.has(char)
    }
    passSteps((to - from) / CHARS_OF_STEP)
    if (isSliceFull()) yield
  }
}

/** The error for a document nested deeper than the limit. */
export function tooDeep(): TallyError {
  return coreError('core.limit_exceeded', {
    what: 'The nesting of the document',
    actual: `at least ${JSON_DEPTH_MAX + 1}`,
    limit: JSON_DEPTH_MAX
  })
}
