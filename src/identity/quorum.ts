import { type Approvers, canonicalize, type Json } from '../core/index.js'
import { type Approval, checkApproval, isApproval, type KeySignature } from './approval.js'
import { approvalsIn } from './kept-approvals.js'

/**
 * Judges signed answers to waits (K13): which are refused, and which are enough. The pump, the
 * verification of bytes and that which executes again ask the same functions.
 */

/** What a wait needs of an answer. */
export interface AskedWait {
  readonly digest: string
  readonly token: string
  /** Absent: an answer needs no signature. */
  readonly approvers?: Approvers
}

/** An answer with the signature that came with it, if one did. */
export interface GivenAnswer {
  readonly action: string
  readonly value?: Json
  readonly approval?: KeySignature
}

export type ApprovalRefusal =
  | 'signature_missing'
  | 'not_an_approver'
  | 'signature_invalid'
  | 'already_approved'

/** Why a signed answer does not count, or why an unsigned one is none. */
export function approvalRefusal(
  wait: AskedWait,
  earlier: readonly Approval[],
  answer: GivenAnswer
): ApprovalRefusal | undefined {
  const { approvers } = wait
  const approval = approvalOf(wait, answer)
  if (approval === undefined) return approvers === undefined ? undefined : 'signature_missing'
  if (approvers?.keys.some((key) => key === approval.key) === false) return 'not_an_approver'
  if (!checkApproval(approval, approval)) return 'signature_invalid'
  return earlier.some((one) => one.key === approval.key && isSameAnswer(one, approval))
    ? 'already_approved'
    : undefined
}

/**
 * The list of two whose quorums are all quorums of the other; null: of neither. A document that
 * asks for approvers beside an obligation can only add (K14).
 */
export function stricterApprovers(
  one: Approvers | undefined,
  other: Approvers | undefined
): Approvers | undefined | null {
  if (one === undefined || other === undefined) return one ?? other
  if (isWithin(one, other)) return one
  return isWithin(other, one) ? other : null
}

function isWithin(one: Approvers, other: Approvers): boolean {
  const isKnown = one.keys.every((key) => other.keys.includes(key))
  return isKnown && one.threshold >= other.threshold
}

/** What is kept of a signed answer. */
export function approvalOf(
  { digest, token }: AskedWait,
  { action, value, approval }: GivenAnswer
): Approval | undefined {
  if (approval === undefined) return undefined
  const { key, signature } = approval
  return { action, digest, key, signature, token, value: value ?? null }
}

/**
 * The approvals with which an answer ends its wait, or undefined while others have to sign as well.
 * One denial is enough.
 */
export function quorum(
  { approvers }: AskedWait,
  earlier: readonly Approval[],
  approval: Approval
): readonly Approval[] | undefined {
  if (approvers === undefined || approval.action === 'deny') return [approval]
  const same = earlier.filter((one) => one.key !== approval.key && isSameAnswer(one, approval))
  return same.length + 1 < approvers.threshold ? undefined : [...same, approval]
}

/**
 * What is wrong with an approval that has not ended its wait, as an entry of a journal keeps it: a
 * text for people.
 */
export function approvalProblem(
  wait: AskedWait,
  earlier: readonly Approval[],
  approval: unknown
): string | undefined {
  if (!isApproval(approval)) return 'an approval of another form'
  const { action, value, digest, token } = approval
  if (digest !== wait.digest || token !== wait.token) return 'a signature for another wait'
  const answer = { action, value, approval }
  const refusal = approvalRefusal(wait, earlier, answer)
  if (refusal !== undefined) return refusal
  return quorum(wait, earlier, approval) === undefined
    ? undefined
    : 'an approval that reaches the threshold of a wait that stays open'
}

/**
 * What is wrong with an answer that has ended a wait, as an entry of a journal keeps it: a text for
 * people. `value` undefined: the entry does not keep it, and the signatures say what it was.
 */
export function answerProblem(
  wait: AskedWait,
  earlier: readonly Approval[],
  answer: { readonly action: string; readonly value?: Json; readonly by: Json }
): string | undefined {
  const { approvers } = wait
  const given = approvalsIn(answer.by)
  if (given === undefined) return approvers === undefined ? undefined : 'no approvals'
  const last = given?.at(-1)
  if (given === null || last === undefined) return 'approvals of another form'
  const { action, value = last.value } = answer
  const expected = { action, value }
  for (const approval of given) {
    if (!isSameAnswer(approval, expected)) return `a signature for ${approval.action}`
  }
  const signed = { ...expected, approval: last }
  const approval = approvalOf(wait, signed)
  const refusal = approvalRefusal(wait, [], signed)
  if (refusal !== undefined || approval === undefined) return refusal
  const needed = quorum(wait, earlier, approval)
  if (needed === undefined) return `${given.length} of ${approvers?.threshold} approvals`
  return canonicalize(needed) === canonicalize(given) ? undefined : 'other approvals'
}

type Said = Pick<Approval, 'action' | 'value'>

function isSameAnswer(one: Said, other: Said): boolean {
  return one.action === other.action && canonicalize(one.value) === canonicalize(other.value)
}
