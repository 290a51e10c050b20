import { canonicalize, type Json, lazySchema, limits } from '../../core/index.js'
import { type Intent, parseIntent } from '../intent.js'
import { isSystemIntent } from '../names.js'
import type { KnownAction } from './resolver.js'

/** System intents that only read; the others are for people at an entry point (K13). */
const readingIntents: ReadonlySet<string> = new Set([
  'system.corehash',
  'system.integrity',
  'system.packages',
  'system.permissions',
  'system.replay',
  'system.safe',
  'system.stateroot',
  'system.verify'
])

/** Whether a text may resolve to this action at all, whichever resolver reads it. */
export function mayBeTold(action: string): boolean {
  return !isSystemIntent(action) || readingIntents.has(action)
}

const answerSchema = lazySchema((z) =>
  z.union([
    z.strictObject({ action: z.null() }),
    z.strictObject({
      action: z.string().max(limits.ACTION_LENGTH_MAX),
      payload: z.record(z.string().max(128), z.json()).default({})
    })
  ])
)

/** What an answer of a provider is worth. `unusable` says why nothing of it is used. */
export type CheckedAnswer =
  | { readonly kind: 'intent'; readonly intent: Intent }
  | { readonly kind: 'none' }
  | { readonly kind: 'unusable'; readonly problem: string }

/**
 * Checks the answer of an AI provider as one checks input of a stranger: an action it was given,
 * a plain payload of bounded size, no member besides. It chooses neither the package that does it
 * nor the words that are kept.
 */
export function checkAnswer(
  answer: Json,
  question: { readonly text: string; readonly actions: readonly KnownAction[] }
): CheckedAnswer {
  const parsed = answerSchema().safeParse(answer)
  if (!parsed.success) return unusable('it is not { action, payload }')
  if (parsed.data.action === null) return { kind: 'none' }
  const { action, payload } = parsed.data
  if (!question.actions.some((known) => known.action === action) || !mayBeTold(action)) {
    return unusable('its action is not among those it was given')
  }
  if (Object.keys(payload).some((key) => key.startsWith('$'))) {
    return unusable('its payload has a reserved member')
  }
  if (canonicalize(payload).length > limits.RESOLVED_PAYLOAD_LENGTH_MAX) {
    return unusable('its payload is too large')
  }
  const intent = parseIntent({ action, payload, raw: question.text })
  return intent.ok ? { kind: 'intent', intent: intent.intent } : unusable(intent.problem)
}

function unusable(problem: string): CheckedAnswer {
  return { kind: 'unusable', problem }
}
