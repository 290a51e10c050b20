import type { IdentityId, PublicKey } from '../../core/index.js'
import { ROTATION_ACTION } from '../chain/chain-head.js'
import { type LogFrontier, leafHash } from '../log/index.js'
import { ChainScan } from '../open/scan.js'
import type { Receipt } from '../receipt/receipt.js'
import { parseRecord, type RecordItem } from '../record/record.js'
import { type Boundary, scannedTo } from './boundary.js'

/** Takes commit records one after the other, and says where the chain stands behind each. */
export class BoundaryWalk {
  readonly #scan: ChainScan
  #frontier: LogFrontier
  #rotations: readonly string[]

  /** `publicKey`: in force at `from`. */
  constructor(identity: IdentityId, from: Boundary, publicKey: PublicKey) {
    this.#scan = new ChainScan(identity, scannedTo(from, publicKey))
    this.#frontier = from.frontier
    this.#rotations = from.rotations
  }

  get publicKey(): PublicKey {
    return this.#scan.chain.publicKey
  }

  get boundary(): Boundary {
    const { seq, receipts, receiptHash, previousReceiptHash } = this.#scan.chain
    return {
      commits: seq,
      receipts,
      receiptHash,
      previousReceiptHash,
      frontier: this.#frontier,
      rotations: this.#rotations
    }
  }

  /** Checks the next record as opening does; throws `ledger.corrupt` with its key. */
  next(key: string, body: Buffer): readonly RecordItem[] {
    this.#scan.next(key, body)
    const { items } = parseRecord(key, body)
    for (const { receipt, evidence } of items) {
      if (receipt !== undefined) {
        this.#frontier = this.#frontier.append(leafHash(receipt.text))
        if (receipt.text.includes(rotationMark)) this.#rotated(receipt.text)
      }
      if (evidence !== undefined) this.#frontier = this.#frontier.append(leafHash(evidence))
    }
    return items
  }

  #rotated(text: string): void {
    const { intent } = JSON.parse(text) as Receipt
    if (intent === ROTATION_ACTION) this.#rotations = [...this.#rotations, text]
  }
}

const rotationMark = `"intent":"${ROTATION_ACTION}"`
