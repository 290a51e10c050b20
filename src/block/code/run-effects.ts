import { PUBLISH_EFFECT } from './exchange.js'
import { CHILD_EFFECT } from './function-context.js'
import { TAGS_EFFECT } from './tags.js'

/** Effects that the runtime performs for code, by name: nothing outside takes part in them. */
export const runEffects: ReadonlySet<string> = new Set([CHILD_EFFECT, PUBLISH_EFFECT, TAGS_EFFECT])
