import {
  type Approvers,
  canonicalize,
  type DigestedWait,
  digestOf,
  type IdentityId,
  isJsonObject,
  type Json,
  type JsonObject,
  shownText
} from '../../core/index.js'
import {
  type Approval,
  type AskedWait,
  answerProblem,
  approvalProblem,
  approvalsIn,
  approversOf,
  checkApproval,
  withApproval
} from '../../identity/index.js'
import type { FieldProblem } from '../receipt/parse.js'

/** An open wait whose answer has to be signed, and who has signed it so far. */
interface OpenWait extends AskedWait {
  readonly requestHash: Json | undefined
  readonly approvals: readonly Approval[]
}

/** By attempt, then by the number of the call that waits. */
type OpenWaits = Map<string, Map<Json | undefined, OpenWait>>

/** Only an entry with this in its text asks approvers, or has what they have signed. */
const MARK = '"approv'

/**
 * Checks what approvers have signed (K13), from the journals alone: every signature is valid for
 * what its entry says, and a wait with approvers ends by enough of them, or by its due time.
 *
 * Owns: the open waits with approvers of runs that have not ended, and results of unknown outcomes
 * that were signed and are sealed next.
 */
export class ApprovalCheck {
  readonly #identity: IdentityId
  readonly #open = new Map<string, OpenWaits>()
  /** By run: the result that an approver has given of an unknown outcome, sealed next. */
  readonly #results = new Map<string, Json>()

  constructor(identity: IdentityId) {
    this.#identity = identity
  }

  /** What is wrong with an entry of a run, whose text is canonical. */
  add(runId: string, kind: string, text: string): FieldProblem | undefined {
    if (kind === 'run.finished') this.#open.delete(runId)
    if (kind !== 'sealed') this.#results.delete(runId)
    else if (this.#results.has(runId)) return this.#resulted(runId, objectOf(text))
    const waits = this.#open.get(runId)
    if (waits === undefined && !text.includes(MARK)) return undefined
    switch (kind) {
      case 'wait':
        return this.#asked(runId, objectOf(text))
      case 'approval':
        return approved(waits, objectOf(text))
      case 'sealed':
        return sealed(waits, objectOf(text))
      case 'settled':
        return settled(waits, objectOf(text))
      case 'decision':
        return decided(objectOf(text))
      case 'answered':
        return this.#answered(runId, objectOf(text))
      default:
        return undefined
    }
  }

  #asked(runId: string, entry: JsonObject): FieldProblem | undefined {
    const { seq, requestHash } = entry
    const attempt = attemptOf(entry)
    const waits: OpenWaits = this.#open.get(runId) ?? new Map()
    const ofAttempt = waits.get(attempt) ?? new Map<Json | undefined, OpenWait>()
    // Code that runs again on another state asks anew in the place of a call.
    ofAttempt.delete(seq)
    if (entry['approvers'] === undefined) return undefined
    const named = approversOf(entry['approvers'])
    if ('problem' in named) return wrong('journal.approvers', named.problem)
    const { approvers } = named
    const digest = shownText(entry['digest'])
    const computed = this.#digestOf(runId, entry, approvers)
    if (computed !== digest) {
      return { field: 'journal.digest', signed: digest, computed: shownText(computed) }
    }
    const token = shownText(entry['token'])
    ofAttempt.set(seq, { digest, token, approvers, requestHash, approvals: [] })
    this.#open.set(runId, waits.set(attempt, ofAttempt))
    return undefined
  }

  /** A decision about an unknown outcome; its entry does not keep the result that it gives. */
  #answered(runId: string, entry: JsonObject): FieldProblem | undefined {
    const [approval] = approvalsIn(entry['by']) ?? []
    if (entry['action'] === 'resume' && approval !== undefined) {
      this.#results.set(runId, approval.value)
    }
    return decided(entry)
  }

  #resulted(runId: string, { body = null }: JsonObject): FieldProblem | undefined {
    const computed = canonicalize(this.#results.get(runId) ?? null)
    this.#results.delete(runId)
    const signed = canonicalize(body)
    return computed === signed ? undefined : { field: 'journal.body', signed, computed }
  }

  #digestOf(runId: string, entry: JsonObject, approvers: Approvers): string | undefined {
    const { request, path, step, asking, blockHash } = entry
    const numbered = asking === undefined ? {} : { asking }
    const shown = { request, path, step, blockHash, approvers, ...numbered }
    const wait = { ...shown, identity: this.#identity, runId }
    // What has another type gives another digest.
    return digestOf(wait as unknown as DigestedWait)
  }
}

/** One of several approvers has signed. */
function approved(waits: OpenWaits | undefined, entry: JsonObject): FieldProblem | undefined {
  const { approval, seq } = entry
  const ofAttempt = waits?.get(attemptOf(entry))
  const wait = ofAttempt?.get(seq)
  if (wait === undefined || wait.token !== entry['token']) {
    return wrong('journal.token', 'no open wait with approvers')
  }
  const problem = approvalProblem(wait, wait.approvals, approval)
  if (problem !== undefined) return wrong('journal.approval', problem)
  // It has the form of one.
  const approvals = withApproval(wait.approvals, approval as unknown as Approval)
  ofAttempt?.set(seq, { ...wait, approvals })
  return undefined
}

function sealed(waits: OpenWaits | undefined, entry: JsonObject): FieldProblem | undefined {
  const { body, seq, requestHash } = entry
  const ofAttempt = waits?.get(attemptOf(entry))
  const wait = ofAttempt?.get(seq)
  ofAttempt?.delete(seq)
  // An effect has no such name, and a body that was erased leaves its hash.
  if (entry['effect'] !== 'wait' || !isJsonObject(body ?? null)) return undefined
  const { action, value = null, by = null, digest } = body as JsonObject
  // Code that asks for something else may be given what an earlier attempt was answered.
  if (wait === undefined || requestHash !== wait.requestHash) return signaturesIn(by)
  if (action === 'timeout') return undefined
  if (digest !== wait.digest) return wrong('journal.body.digest', shownText(digest))
  return problemOf(wait, { action: shownText(action), value, by })
}

/** The denial of a confirmation, which ends its node. */
function settled(waits: OpenWaits | undefined, entry: JsonObject): FieldProblem | undefined {
  const attempt = attemptOf(entry)
  const wait = waits?.get(attempt)?.get(0)
  waits?.delete(attempt)
  const response = objectAt(entry, 'response')
  if (wait === undefined) return undefined
  if (response['success'] === true) return wrong('journal.response', 'a success without an answer')
  if (response['reason'] !== 'denied') return undefined
  const { by = null } = objectAt(response, 'details')
  return problemOf(wait, { action: 'deny', by })
}

function problemOf(
  wait: OpenWait,
  answer: Parameters<typeof answerProblem>[2]
): FieldProblem | undefined {
  const problem = answerProblem(wait, wait.approvals, answer)
  return problem === undefined ? undefined : wrong('journal.by.approvals', problem)
}

/** A decision, which needs no approvers: one may have signed it. */
function decided({ action, by, patch }: JsonObject): FieldProblem | undefined {
  const problem = signaturesIn(by)
  const [approval, ...others] = approvalsIn(by) ?? []
  if (approval === undefined || problem !== undefined) return problem
  const { action: said, value } = approval
  const isSame = patch === undefined || canonicalize(patch) === canonicalize(value)
  return others.length === 0 && said === action && isSame
    ? undefined
    : wrong('journal.by.approvals', 'a signature for another answer')
}

/** Where it is not known what was asked, each signature is valid for what stands beside it. */
function signaturesIn(by: Json | undefined): FieldProblem | undefined {
  const approvals = approvalsIn(by)
  if (approvals === undefined) return undefined
  const isSigned = approvals?.every((one) => checkApproval(one, one))
  return isSigned === true ? undefined : wrong('journal.by.approvals', 'signature_invalid')
}

function attemptOf({ path, step, attempt }: JsonObject): string {
  return JSON.stringify([path, step, attempt])
}

function objectOf(text: string): JsonObject {
  const value = JSON.parse(text) as Json
  return isJsonObject(value) ? value : {}
}

function objectAt(owner: JsonObject, key: string): JsonObject {
  const value = owner[key] ?? null
  return isJsonObject(value) ? value : {}
}

function wrong(field: string, problem: string): FieldProblem {
  return { field, signed: problem, computed: 'valid approvals, as many as it needs' }
}
