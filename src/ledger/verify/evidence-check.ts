import type { Hash, IdentityId } from '../../core/index.js'
import type { ChainHead } from '../chain/chain-head.js'
import type { FieldProblem } from '../receipt/parse.js'
import type { Evidence } from '../receipt/receipt.js'
import { different } from './receipt-check.js'

/** What of a record of evidence does not fit the place at which it stands. */
export function evidenceProblem(
  evidence: Evidence,
  computedHash: Hash,
  { identity, chainHead }: { readonly identity: IdentityId; readonly chainHead: ChainHead }
): FieldProblem | undefined {
  return (
    different('evidence.identity', evidence.identity, identity) ??
    different('evidence.publicKey', evidence.publicKey, chainHead.publicKey) ??
    different('evidence.evidenceHash', evidence.evidenceHash, computedHash) ??
    different('evidence.head.seq', evidence.head.seq, chainHead.receipts) ??
    different('evidence.head.receiptHash', evidence.head.receiptHash, chainHead.receiptHash)
  )
}
