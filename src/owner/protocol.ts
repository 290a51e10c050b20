/**
 * The owner protocol, version 1: lines of JSON, UTF-8, over a Unix socket (L11).
 *
 *   owner    {"format":"tally-owner","identity":ID,"ledgerVersion":1,"realPath":PATH,"version":1}
 *            or, of an owner that serves nothing, with "serves":false for its identity; the end
 *   client   {"id":1,"method":"run.events","params":{}}    a request; ids grow
 *            {"id":1,"identity":ID,"method":…,"params":…}  a request to another identity, by its id
 *                                                          or name; older owners know no such key
 *            {"id":1,"more":128}                           room for more events of a stream
 *            {"id":1,"cancel":true}                        no more is wanted
 *   owner    {"event":JSON,"id":1}                         any number, for a stream
 *            {"id":1,"result":JSON}  or  {"error":{code, context, fix, message},"id":1}    the end
 *
 * Unknown keys, unknown shapes and lines over the limit end the connection.
 */
import {
  canonicalize,
  canonicalizing,
  type IdentityId,
  inTurns,
  isIdentityId,
  isJsonObject,
  isRunId,
  isTallyError,
  type Json,
  type JsonObject,
  ledgerError,
  limits,
  parse,
  parseInTurns,
  type TallyError
} from '../core/index.js'

const FORMAT = 'tally-owner'
const VERSION = 1

/** What the owner says of its ledger. */
export interface OwnedLedger {
  readonly realPath: string
  readonly identity: IdentityId
  /** `LEDGER_FORMAT_VERSION` of the owner. */
  readonly ledgerVersion: number
}

export type ClientMessage =
  | {
      readonly id: number
      readonly method: string
      readonly params: Json
      readonly identity?: string
    }
  | { readonly id: number; readonly more: number }
  | { readonly id: number; readonly cancel: true }

export type OwnerMessage =
  | { readonly id: number; readonly event: Json }
  | { readonly id: number; readonly result: Json }
  | { readonly id: number; readonly error: RemoteError }

/** An error as it crosses the socket. */
export interface RemoteError {
  readonly code: string
  readonly message: string
  readonly fix: string
  readonly context: Readonly<Record<string, string | number>>
}

export function encodeMessage(message: ClientMessage | OwnerMessage): string {
  return `${canonicalize(message)}\n`
}

/** {@link encodeMessage} of a message of plain data, with turns of the event loop. */
export async function encodeMessageInTurns(message: OwnerMessage): Promise<string> {
  return `${await inTurns(canonicalizing(message))}\n`
}

export function encodeGreeting(ledger: OwnedLedger): string {
  return `${canonicalize({ format: FORMAT, version: VERSION, ...ledger })}\n`
}

/** The greeting of an owner that answers nothing. */
export function encodeRefusal(ledger: Omit<OwnedLedger, 'identity'>): string {
  return `${canonicalize({ format: FORMAT, version: VERSION, serves: false, ...ledger })}\n`
}

/** Throws `owner.malformed_message`, and `ledger.locked` when the owner serves nothing. */
export function parseGreeting(line: string): OwnedLedger {
  const value = objectOf(line)
  const { format, version, realPath, identity, ledgerVersion } = value
  if (format !== FORMAT || version !== VERSION) {
    throw malformed(`the owner does not speak ${FORMAT} version ${VERSION}`)
  }
  if (value['serves'] === false && typeof realPath === 'string') {
    const problem = 'another process has it open and answers no requests'
    throw ledgerError('ledger.locked', { path: realPath, problem })
  }
  exactly(value, ['format', 'identity', 'ledgerVersion', 'realPath', 'version'])
  if (typeof realPath !== 'string' || !isIdentityId(identity) || !isCount(ledgerVersion)) {
    throw malformed('the greeting does not name a ledger')
  }
  return { realPath, identity, ledgerVersion }
}

/** Throws `owner.malformed_message`. */
export function parseClientMessage(line: string): ClientMessage {
  return clientMessageIn(objectOf(line))
}

/** {@link parseClientMessage} with turns of the event loop between the parts of a long line. */
export async function parseClientMessageInTurns(line: string): Promise<ClientMessage> {
  return clientMessageIn(objectIn(await parseInTurns(line).catch(refused)))
}

function clientMessageIn(value: JsonObject): ClientMessage {
  const { id, method, params, more } = value
  if (!isCount(id)) throw malformed('id is not a positive integer')
  if (typeof method === 'string' && params !== undefined) {
    if (method.length > limits.OWNER_METHOD_LENGTH_MAX) throw malformed('the method is too long')
    if (!Object.hasOwn(value, 'identity')) {
      exactly(value, ['id', 'method', 'params'])
      return { id, method, params }
    }
    exactly(value, ['id', 'identity', 'method', 'params'])
    const { identity } = value
    // An id of an identity is one of a run, by its form, and so is a name.
    if (!isRunId(identity)) throw malformed('identity is neither an id nor a name')
    return { id, method, params, identity }
  }
  if (isCount(more)) {
    exactly(value, ['id', 'more'])
    return { id, more }
  }
  if (value['cancel'] !== true) throw malformed('it is no request')
  exactly(value, ['cancel', 'id'])
  return { id, cancel: true }
}

/** Throws `owner.malformed_message`. */
export function parseOwnerMessage(line: string): OwnerMessage {
  const value = objectOf(line)
  const { id, event, result, error } = value
  if (!isCount(id)) throw malformed('id is not a positive integer')
  if (event !== undefined) {
    exactly(value, ['event', 'id'])
    return { id, event }
  }
  if (result !== undefined) {
    exactly(value, ['id', 'result'])
    return { id, result }
  }
  exactly(value, ['error', 'id'])
  return { id, error: remoteError(error) }
}

function remoteError(value: Json | undefined): RemoteError {
  if (value === undefined || !isJsonObject(value)) throw malformed('the error is no object')
  exactly(value, ['code', 'context', 'fix', 'message'])
  const { code, context, fix, message } = value
  if (typeof code !== 'string' || typeof fix !== 'string' || typeof message !== 'string') {
    throw malformed('the error has no code, message and fix')
  }
  if (context === undefined || !isJsonObject(context)) throw malformed('the error has no context')
  const entries = Object.entries(context).map(([name, item]) => {
    if (typeof item !== 'string' && typeof item !== 'number') {
      throw malformed('the context of the error is not printable')
    }
    return [name, item] as const
  })
  return { code, message, fix, context: Object.fromEntries(entries) }
}

function objectOf(line: string): JsonObject {
  try {
    return objectIn(parse(line))
  } catch (error) {
    return refused(error)
  }
}

function refused(error: unknown): never {
  if (!isTallyError(error, 'core.malformed_json')) throw error
  throw malformed(`it is not strict JSON: ${error.context.problem}`)
}

function objectIn(value: Json): JsonObject {
  if (!isJsonObject(value)) throw malformed('it is no object')
  return value
}

function exactly(value: JsonObject, keys: readonly string[]): void {
  const found = Object.keys(value)
  if (found.length !== keys.length || !keys.every((key) => Object.hasOwn(value, key))) {
    throw malformed(`its keys are not ${keys.join(', ')}`)
  }
}

function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}

export function malformed(problem: string): TallyError {
  return ledgerError('owner.malformed_message', { problem })
}
