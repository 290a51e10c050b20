import { TallyError } from '../errors/error.js'
import { JSON_DEPTH_MAX } from '../limits.js'

const nodeMayBegin = new Set(['\n', '\r', '-', ':', ',', '?', '[', '{', ''])

/**
 * Refuses deep flow nesting before any recursive reader sees the text; throws
 * `core.limit_exceeded`.
 *
 * A caught stack overflow is no defence in V8, so this scan is a loop. It counts an opening bracket
 * only where a YAML node can begin, so that brackets inside prose do not count; quotes are not
 * tracked, since an apostrophe in plain YAML text is not one. The exact depth is checked later.
 */
export function refuseDeepNesting(text: string): void {
  let depth = 0
  let previous = ''
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index] ?? ''
    if (char === ' ' || char === '\t') continue
    if (char === '[' || char === '{') {
      if (nodeMayBegin.has(previous)) depth += 1
      if (depth > JSON_DEPTH_MAX) throw tooDeep()
    } else if (char === ']' || char === '}') depth = Math.max(0, depth - 1)
    previous = char
  }
}

/** The error for a document nested deeper than the limit. */
export function tooDeep(): TallyError {
  return new TallyError('core.limit_exceeded', {
    what: 'The nesting of the document',
    actual: `at least ${JSON_DEPTH_MAX + 1}`,
    limit: JSON_DEPTH_MAX
  })
}
