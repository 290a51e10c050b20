import { isJsonObject, type Json, limits, runtimeError, shownText } from '../core/index.js'
import { TAGS_EFFECT } from './calls.js'

/** Tags by which a run is found: those of its start, and those that its code has set. */

/** Tags as a journal keeps them: sorted, each once. Throws `run.invalid_tags`. */
export function tagsOf(given: readonly string[]): readonly string[] {
  // A caller may give anything.
  if (!Array.isArray(given)) {
    throw runtimeError('run.invalid_tags', { problem: 'they are no list' })
  }
  const tags = [...new Set<string>(given)].sort()
  const bad = tags.find((tag) => !isTag(tag))
  if (bad === undefined && tags.length <= limits.RUN_TAGS_MAX) return tags
  const problem =
    bad === undefined ? `there are ${tags.length}` : `one has ${shownText(bad).length} characters`
  throw runtimeError('run.invalid_tags', { problem })
}

/** The tags that a sealed call has set; undefined: it is none that has set any. */
export function tagsSet({
  effect,
  ok,
  body
}: {
  readonly effect: string
  readonly ok: boolean
  readonly body: Json
}): readonly string[] | undefined {
  if (effect !== TAGS_EFFECT || !ok || !isJsonObject(body)) return undefined
  const { tags } = body
  // An effect of a block may have given itself this name.
  if (!Array.isArray(tags) || tags.length > limits.RUN_TAGS_MAX) return undefined
  return tags.every(isTag) ? tags : undefined
}

function isTag(tag: unknown): tag is string {
  return typeof tag === 'string' && tag.length > 0 && tag.length <= limits.RUN_TAG_LENGTH_MAX
}
