import type { Hash, Json, JsonObject, RunId } from '../core/index.js'

/**
 * What an intent came to (K1). `id` is the intent's: `tally.result(id)` awaits its end, and the
 * same intent under the same id is the same work (L6).
 */
export type IntentReply = DoneReply | PermissionReply | WaitingReply | ErrorReply

/** Done. The members of the result stand beside these; what is no object stands under `value`. */
export type DoneReply = {
  readonly type: 'dapp'
  readonly id: RunId
  /** Package id, `block:<name>@<version>` for trusted blocks, `kernel` for system intents. */
  readonly dappId: string
  /** Hash of its receipt; null for system intents that only read. */
  readonly receipt: Hash | null
} & JsonObject

/**
 * The package that would do it lacks a grant. The intent waits and is done once after the grant;
 * nothing of the package has run.
 */
export interface PermissionReply {
  readonly type: 'permission_request'
  readonly id: RunId
  /** Names the wait; an approval of it by the owner grants what is asked. */
  readonly token: string
  /** Names what is asked; an answer must name it too. */
  readonly digest: Hash
  readonly dappId: string
  readonly codeHash: Hash
  /** The first capability that is missing, and all of them, sorted. */
  readonly capability: string
  readonly capabilities: readonly string[]
}

/** It waits for a message: a confirmation, a decision, an answer from outside. */
export interface WaitingReply {
  readonly type: 'waiting'
  readonly id: RunId
  readonly reason: string
  readonly token: string
  readonly digest: Hash
  readonly request: Json
  readonly actions: readonly string[]
}

/** It failed; there is no receipt. `reason` is a stable label. */
export interface ErrorReply {
  readonly type: 'error'
  readonly id: RunId
  readonly reason: string
  readonly message: string
  readonly details: JsonObject
}

/** Members of a result that would hide those of a reply, refused as `result_reserved_key` (K1). */
const reservedKeys: ReadonlySet<string> = new Set(['type', 'id', 'dappId', 'receipt'])

/** The first member of a result that may not be there. */
export function reservedKeyOf(result: unknown): string | undefined {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return undefined
  return Object.keys(result).find((key) => reservedKeys.has(key) || key.startsWith('$'))
}

export function doneReply(done: {
  readonly id: RunId
  readonly dappId: string
  readonly receipt: Hash | null
  readonly result: Json
}): DoneReply {
  const { id, dappId, receipt, result } = done
  const isObject = typeof result === 'object' && result !== null && !Array.isArray(result)
  const members = isObject ? (result as JsonObject) : { value: result }
  // Its own members last: whatever a result holds, they say what it came to.
  return Object.assign({}, members, { type: 'dapp' as const, id, dappId, receipt })
}
