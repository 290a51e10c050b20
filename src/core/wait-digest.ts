import type { Hash, IdentityId, PublicKey, RunId } from './brand.js'
import { blockError } from './errors/error.js'
import { hashJson } from './hash.js'
import type { Json } from './json/value.js'

/** Who has to sign the answer to a wait: `threshold` of these keys, sorted and each once (K13). */
export interface Approvers {
  readonly threshold: number
  readonly keys: readonly PublicKey[]
}

/** What the digest of a wait covers, as the wait carries it; the optional ones not in 0.1.0. */
export interface DigestedWait {
  readonly request: Json
  readonly path: string
  readonly step: number
  /** How many times the question has been asked; absent: this is the first. */
  readonly asking?: number
  readonly blockHash?: Hash
  readonly chain?: null
  readonly identity?: IdentityId
  readonly policyHash?: null
  readonly runId?: RunId
  readonly signer?: null
  /** Who has to sign the answer; absent: it needs no signature. */
  readonly approvers?: Approvers
}

/**
 * The digest of a wait, computed from what is shown (W7; docs/spec/waits.md): equal to its member
 * `digest`, which an answer names, unless what is shown was altered. Undefined for a wait of 0.1.0,
 * which does not carry all that the digest covers.
 *
 * @example
 * const [wait] = await run.waits()
 * if (wait !== undefined && digestOf(wait) === wait.digest) {
 *   await run.approve(wait.token, { digest: wait.digest })
 * }
 */
export function digestOf(wait: DigestedWait): Hash | undefined {
  const { asking, blockHash, identity, path, request, runId, step } = wait
  if (blockHash === undefined || identity === undefined || runId === undefined) return undefined
  const { chain = null, signer = null } = wait
  const policyHash = policyHashOf(wait)
  return hashJson({
    arguments: request,
    blockHash,
    chain,
    identity,
    path,
    policyHash,
    runId,
    signer,
    step,
    ...(asking === undefined ? {} : { asking })
  })
}

/** Hash of what an answer has to satisfy, or null: approvers are a policy of the wait (K13). */
export function policyHashOf({
  approvers,
  policyHash = null
}: Pick<DigestedWait, 'approvers' | 'policyHash'>): Hash | null {
  if (approvers === undefined) return policyHash
  const { keys, threshold } = approvers
  const own = { approvers: { keys, threshold } }
  return hashJson(policyHash === null ? own : { ...own, policyHash })
}

/**
 * Compares a wait that is about to be shown with its digest, and with the run that shows it. Throws
 * `run.wait_forged`.
 */
export function checkWait(runId: string, wait: DigestedWait & { readonly digest: Hash }): void {
  const { digest: signed } = wait
  const computed = digestOf(wait) ?? signed
  const isOfRun = wait.runId === undefined || wait.runId === runId
  if (computed === signed && isOfRun) return
  throw blockError('run.wait_forged', { runId, signed, computed })
}
