import type { WaitMessage } from '../../block/index.js'
import {
  bytesOver,
  canonicalize,
  canonicalizeLedgerValue,
  coreError,
  isJsonObject,
  type Json,
  type JsonObject,
  limits
} from '../../core/index.js'
import type { KeySignature } from '../../identity/index.js'
import type { Answer } from './handle.js'

/** A message that may name itself (W10). */
export interface Command extends WaitMessage {
  readonly commandId?: string
}

/** An answer as the run takes it, from the owner of the ledger. */
export function messageOf(
  token: string,
  { digest, by, value, approval, commandId }: Answer,
  action: WaitMessage['action']
): Command {
  return {
    token,
    digest,
    action,
    by: ownerNamed(by),
    ...(value === undefined ? {} : { value }),
    ...(approval === undefined ? {} : { approval: signatureOf(approval) }),
    ...(commandId === undefined ? {} : { commandId })
  }
}

/** A copy, so that what a caller does to its own changes nothing. */
function signatureOf({ key, signature }: KeySignature): KeySignature {
  return { key, signature }
}

/** The owner's principal; the name that a person gives is a claim (K13). */
export function ownerNamed(by?: string): Json {
  return by === undefined ? owner : { ...owner, claimed: by }
}

/** One object for all runs of the owner, so that its text is written once. */
const owner = Object.freeze({ kind: 'owner', id: 'local' })

/** A message with a value of its own; refuses what a journal cannot keep. */
export function copyOf(message: Command): Command {
  const idLength = message.commandId?.length ?? 0
  if (idLength > limits.COMMAND_ID_LENGTH_MAX) {
    throw coreError('core.limit_exceeded', {
      what: 'The length of a command id',
      actual: idLength,
      limit: limits.COMMAND_ID_LENGTH_MAX
    })
  }
  const text = canonicalizeLedgerValue([message.value ?? null, message.by])
  checkBytes('The answer in bytes', text)
  const [value, by] = JSON.parse(text) as readonly [Json, Json]
  return { ...message, by, ...(message.value === undefined ? {} : { value }) }
}

/** Throws `core.limit_exceeded` for a value, as canonical JSON, that no ledger takes. */
export function checkBytes(what: string, text: string): void {
  const limit = limits.VALUE_BYTES_MAX
  const actual = bytesOver(text, limit)
  if (actual !== undefined) throw coreError('core.limit_exceeded', { what, actual, limit })
}

/**
 * Commands with ids (semantics.md W10): an answer that is given twice changes things once.
 *
 * The id stands beside the principal in the journal entry that the answer became, so a process that
 * can read the run's journal knows which commands it has had, after any crash, and nothing else
 * keeps them.
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
    case 'approval': {
      const { action, value } = objectAt(entry, 'approval')
      return command(entry['by'], { action, value, token })
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
