import type { WaitMessage } from '../block/index.js'
import { canonicalize, isJsonObject, type Json, type JsonObject } from '../core/index.js'

/**
 * Commands with ids (semantics.md W10): an answer that is given twice changes things once.
 *
 * The id stands beside the principal in the journal entry that the answer became, so whoever can
 * read the run's journal knows which commands it has had, after any crash, and nothing else keeps
 * them.
 */

/** A command as a journal entry has it. What the entry does not say is absent. */
export interface GivenCommand {
  readonly commandId: string
  readonly action: string
  readonly token?: Json | undefined
  readonly digest?: Json | undefined
  readonly value?: Json | undefined
}

/** Who answers, with the id of the command. */
export function namedCommand(by: Json, commandId: string): Json {
  return isJsonObject(by) ? { ...by, commandId } : by
}

/** The command with an id that a journal entry came from. */
export function commandIn(entry: Json): GivenCommand | undefined {
  if (!isJsonObject(entry)) return undefined
  const { token } = entry
  switch (entry['k']) {
    case 'sealed': {
      const { action, value, digest, by } = objectAt(entry, 'body')
      return command(by, { action, value, digest })
    }
    case 'decision':
      return command(entry['by'], { action: entry['action'], value: entry['patch'], token })
    // A decision about an unknown outcome; its value is the next entry.
    case 'answered':
      return command(entry['by'], { action: entry['action'], token })
    case 'settled': {
      const { by } = objectAt(objectAt(entry, 'response'), 'details')
      return command(by, { action: 'deny' })
    }
    default:
      return undefined
  }
}

/** Whether a message is the command that was given, as far as its entry tells. */
export function isSameCommand(given: GivenCommand, message: WaitMessage): boolean {
  const { token, digest, value } = given
  return (
    given.action === message.action &&
    (token === undefined || token === message.token) &&
    (digest === undefined || digest === message.digest) &&
    (value === undefined || canonicalize(value) === canonicalize(message.value ?? null))
  )
}

function command(
  by: Json | undefined,
  parts: { readonly action: Json | undefined } & Omit<GivenCommand, 'commandId' | 'action'>
): GivenCommand | undefined {
  const commandId = isJsonObject(by ?? null) ? (by as JsonObject)['commandId'] : undefined
  const { action } = parts
  if (typeof commandId !== 'string' || typeof action !== 'string') return undefined
  return { ...parts, action, commandId }
}

function objectAt(owner: JsonObject, key: string): JsonObject {
  const value = owner[key] ?? null
  return isJsonObject(value) ? value : {}
}
