import type { DigestedWait, JsonObject } from '../../../core/index.js'
import { hashOf } from './jcs.js'

/**
 * What the digest of a wait is made from (W7; docs/spec/waits.md), from the members that the page
 * draws; undefined where the wait does not carry all of them. A test compares it with the kernel's.
 */
export async function digestedParts(wait: DigestedWait): Promise<JsonObject | undefined> {
  const { asking, blockHash, identity, path, request, runId, step } = wait
  if (blockHash === undefined || identity === undefined || runId === undefined) return undefined
  const { chain = null, signer = null } = wait
  return {
    arguments: request,
    blockHash,
    chain,
    identity,
    path,
    policyHash: await policyHashOf(wait),
    runId,
    signer,
    step,
    ...(asking === undefined ? {} : { asking })
  }
}

async function policyHashOf({ approvers, policyHash = null }: DigestedWait) {
  if (approvers === undefined) return policyHash
  const { keys, threshold } = approvers
  const own = { approvers: { keys, threshold } }
  return hashOf(policyHash === null ? own : { ...own, policyHash })
}
