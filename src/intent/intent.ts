import { isJsonObject, type Json, type JsonObject, limits } from '../core/index.js'

/**
 * What a caller wants done: an action by name, and what it is to be done with (K1). It is also
 * the payload of the leaf block `intent`: `{ action, payload?, raw?, provider? }`, nothing besides.
 */
export interface Intent {
  readonly action: string
  readonly payload: JsonObject
  /** The words from which it was made, kept in the receipt. */
  readonly raw?: string
  /** Who is to do it: a package id or the name of a trusted block. Default: routing (K4). */
  readonly provider?: string
}

export type ParsedIntent =
  | { readonly ok: true; readonly intent: Intent }
  | { readonly ok: false; readonly problem: string }

/** Names of actions are words joined by dots, as in manifests, with the `_` and `-` of blocks. */
const actionName = /^[a-z][A-Za-z0-9_-]*(?:\.[A-Za-z][A-Za-z0-9_-]*)*$/
const members = new Set(['action', 'payload', 'raw', 'provider'])

/**
 * Normalises and checks an intent (K1): the action without space around it, an absent payload as
 * an empty one. The value is plain JSON already. Never throws for bad data.
 */
export function parseIntent(value: Json): ParsedIntent {
  if (!isJsonObject(value)) return refused('an intent is an object')
  const unknown = Object.keys(value).find((name) => !members.has(name))
  if (unknown !== undefined) return refused(`${unknown.slice(0, 80)} is not part of an intent`)
  const { action, payload = {}, raw, provider } = value
  if (typeof action !== 'string') return refused('its action is no text')
  const name = action.trim()
  if (name.length > limits.ACTION_LENGTH_MAX || !actionName.test(name)) {
    return refused('its action is not words joined by dots')
  }
  if (!isJsonObject(payload)) return refused('its payload is no object')
  if (!isTextUpTo(raw, limits.RAW_INTENT_LENGTH_MAX)) return refused('its raw text is too long')
  if (!isTextUpTo(provider, limits.ACTION_LENGTH_MAX)) return refused('its provider is no name')
  const more = {
    ...(raw === undefined ? {} : { raw }),
    ...(provider === undefined ? {} : { provider })
  }
  return { ok: true, intent: { action: name, payload, ...more } }
}

function isTextUpTo(value: Json | undefined, length: number): value is string | undefined {
  if (value === undefined) return true
  return typeof value === 'string' && value.length > 0 && value.length <= length
}

function refused(problem: string): ParsedIntent {
  return { ok: false, problem }
}
