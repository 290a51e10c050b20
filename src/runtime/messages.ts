import type { WaitMessage } from '../block/index.js'
import { bytesOver, canonicalizeLedgerValue, type Json, limits, TallyError } from '../core/index.js'
import type { Answer } from './handle.js'

/** A message that may name itself (W10). */
export interface Command extends WaitMessage {
  readonly commandId?: string
}

/** An answer as the run takes it, from the owner of the ledger. */
export function messageOf(
  token: string,
  { digest, by, value, commandId }: Answer,
  action: WaitMessage['action']
): Command {
  return {
    token,
    digest,
    action,
    by: ownerNamed(by),
    ...(value === undefined ? {} : { value }),
    ...(commandId === undefined ? {} : { commandId })
  }
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
    throw new TallyError('core.limit_exceeded', {
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
  if (actual !== undefined) throw new TallyError('core.limit_exceeded', { what, actual, limit })
}
