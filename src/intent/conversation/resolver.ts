import type { Json, Redactor } from '../../core/index.js'

/** An action that text may resolve to, as a provider gets it. */
export interface KnownAction {
  readonly action: string
  /** What it does, from the manifest that offers it: text by a stranger. */
  readonly description?: string
  /** Its inputs, as the manifest tells them. */
  readonly inputs?: Json
}

/** A text, and the actions that it may mean. */
export interface ResolveQuestion {
  readonly text: string
  readonly actions: readonly KnownAction[]
}

/**
 * An AI provider that says which action a text means (K11). What it gives is data to
 * be checked: `{ "action": NAME, "payload": OBJECT }` with an action of the question, or
 * `{ "action": null }` when none fits. Its answer is sealed, so it is asked once for a text that is
 * resolved under one run.
 *
 * Text of the question comes from anybody. A provider should quote it as data; whatever it makes of
 * it, the answer can only name an action that a text may come to, and never grants or answers
 * anything (K13).
 */
export interface IntentResolver {
  /** Names the provider and its model in the receipt, such as `deepseek/deepseek-chat`. */
  readonly name: string
  /** Knows the secrets that it has read. */
  readonly redactor?: Redactor
  resolve(question: ResolveQuestion, options: { readonly signal: AbortSignal }): Promise<Json>
}
