import { isJsonObject, type Json } from '../core/index.js'
import { type Approval, isApproval } from './approval.js'

/**
 * Where signed answers are kept (K13). An answer that ends a wait keeps its signatures in
 * `by.approvals`, beside the principal that the entry point has set; so has a denial, and a
 * decision about a failure. One that others have to sign as well is an entry of its own.
 */

/** What has been approved so far: of each key the last answer that it has signed. */
export function withApproval(
  earlier: readonly Approval[],
  approval: Approval
): readonly Approval[] {
  return [...earlier.filter(({ key }) => key !== approval.key), approval]
}

/** Who answers, with what approvers have signed. */
export function byWith(by: Json, approvals: readonly Approval[]): Json {
  return { ...(isJsonObject(by) ? by : {}), approvals: approvals as unknown as Json }
}

/** Who answers, without what was signed: it holds for one wait only. */
export function byWithout(by: Json): Json {
  if (!isJsonObject(by) || by['approvals'] === undefined) return by
  const { approvals: _, ...rest } = by
  return rest
}

/** What approvers have signed: undefined for nothing, null for what is no list of approvals. */
export function approvalsIn(by: Json | undefined): readonly Approval[] | undefined | null {
  const given = isJsonObject(by) ? by['approvals'] : undefined
  if (given === undefined) return undefined
  return Array.isArray(given) && given.length > 0 && given.every(isApproval) ? given : null
}
