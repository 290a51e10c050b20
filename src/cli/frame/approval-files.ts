import type { OpenWait } from '../../block/index.js'
import {
  checkWait,
  cliError,
  digestOf,
  isHash,
  isJsonObject,
  type Json,
  type JsonObject,
  parse,
  type TallyError
} from '../../core/index.js'
import { type Approval, approversOf, checkApproval, isApproval } from '../../identity/index.js'

/**
 * What goes to another machine to be signed, and comes back (docs/spec/waits.md, Files): JSON of
 * any layout, with these members and no others.
 */
const REQUEST = 'tally-approval-request/1'
const SIGNATURE = 'tally-approval/2'

export interface SignatureDocument {
  readonly runId: string
  readonly approval: Approval
}

export function requestDocument(wait: OpenWait): JsonObject {
  return { format: REQUEST, wait: wait as unknown as Json }
}

export function signatureDocument({ runId, approval }: SignatureDocument): JsonObject {
  return { approval: approval as unknown as Json, format: SIGNATURE, runId }
}

/**
 * Reads a request, whose digest is computed from what it shows and whose approvals are checked.
 * Throws `cli.usage`, `run.wait_forged`.
 */
export function parseRequest(text: string): OpenWait & { readonly runId: string } {
  const { wait } = membersOf(text, { format: REQUEST, name: 'approval-request' }, ['wait'])
  if (!isJsonObject(wait ?? null)) throw malformed('its wait is no object')
  const members = wait as JsonObject
  const { runId, approvers, approvals = [] } = members
  for (const [name, value] of Object.entries(members)) {
    const isKnown = Object.hasOwn(waitMembers, name)
    if (!isKnown || !waitMembers[name as WaitMember](value)) {
      throw malformed(`the member ${name} of its wait is not one that it can have`)
    }
  }
  const lacking = needed.find((name) => !Object.hasOwn(members, name))
  if (lacking !== undefined) throw malformed(`its wait has no ${lacking}`)
  if (approvers !== undefined && 'problem' in approversOf(approvers)) {
    throw malformed('its wait has approvers of another form')
  }
  // Every member has been looked at.
  const shown = members as unknown as OpenWait & { readonly runId: string }
  checkWait(String(runId), shown)
  if (digestOf(shown) === undefined) throw malformed('its digest cannot be computed')
  for (const approval of approvals as unknown as readonly Approval[]) {
    const isOfWait = approval.digest === shown.digest && approval.token === shown.token
    if (!isOfWait || !checkApproval(approval, approval)) {
      throw malformed(`the signature of ${approval.key} is not valid for what it shows`)
    }
  }
  return shown
}

/** Reads what an approver has signed; the signature is checked. Throws `cli.usage`. */
export function parseSignature(text: string): SignatureDocument {
  const kind = { format: SIGNATURE, name: 'approval' }
  const { runId, approval } = membersOf(text, kind, ['runId', 'approval'])
  if (typeof runId !== 'string') throw malformed('its runId is no text')
  if (!isApproval(approval)) throw malformed('its approval is not one')
  if (checkApproval(approval, approval)) return { runId, approval }
  throw malformed(`the signature of ${approval.key} is not valid for what it says`)
}

/** Members of a wait that a request can have, each with what it can be. */
const waitMembers = {
  actions: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  approvals: (value) => Array.isArray(value) && value.every((one) => isApproval(one)),
  approvers: (value) => 'approvers' in approversOf(value),
  asking: isCount,
  blockHash: isHash,
  chain: isNull,
  digest: isHash,
  due: (value) => value === null || typeof value === 'number',
  identity: isHash,
  path: isText,
  policyHash: isNull,
  reason: isText,
  request: () => true,
  runId: isText,
  signer: isNull,
  step: isCount,
  token: isText
} as const satisfies Readonly<Record<string, (value: Json | undefined) => boolean>>

type WaitMember = keyof typeof waitMembers

const needed = [
  'actions',
  'blockHash',
  'digest',
  'identity',
  'path',
  'request',
  'runId',
  'step',
  'token'
] as const satisfies readonly WaitMember[]

function isText(value: Json | undefined): boolean {
  return typeof value === 'string'
}

function isCount(value: Json | undefined): boolean {
  return Number.isSafeInteger(value)
}

function isNull(value: Json | undefined): boolean {
  return value === null
}

/** The members of a document of this format, written by itself or by a command with `--json`. */
function membersOf(
  text: string,
  kind: { readonly format: string; readonly name: string },
  names: readonly string[]
): JsonObject {
  const value = jsonOf(text)
  if (!isJsonObject(value)) throw malformed('it is no object')
  const { format, $type = kind.name, ...members } = value
  if (format !== kind.format || $type !== kind.name) {
    throw malformed(`its format is not ${kind.format}`)
  }
  const other = Object.keys(members).find((name) => !names.includes(name))
  if (other !== undefined) throw malformed(`it has a member ${other}`)
  return members
}

function jsonOf(text: string): Json {
  try {
    return parse(text)
  } catch (cause) {
    throw malformed(`it is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

function malformed(problem: string): TallyError {
  return cliError('cli.usage', { problem: `this cannot be read: ${problem}` })
}
