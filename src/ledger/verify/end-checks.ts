import type { Hash } from '../../core/index.js'
import { type ChainHead, headRootOf } from '../chain/chain-head.js'
import { unwrapText } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import type { LogFrontier } from '../log/index.js'
import type { FieldProblem } from '../receipt/parse.js'
import type { Head } from '../record/head.js'
import { hashKey, hashValue } from '../state/index.js'
import type { Store } from '../stores/port.js'
import { different } from './receipt-check.js'
import type { KeptPlace } from './report.js'
import type { StateFold } from './state-fold.js'

/** Compares a stored head with what the records give. */
export function checkHead(
  head: Head,
  chain: { readonly chainHead: ChainHead; readonly frontier: LogFrontier; readonly commits: number }
): FieldProblem | undefined {
  const { chainHead, frontier, commits } = chain
  return (
    different('head.seq', commits, head.seq) ??
    different('head.receipts', chainHead.receipts, head.receipts) ??
    different('head.receiptHash', chainHead.receiptHash, head.receiptHash) ??
    different('head.storageRoot', chainHead.tree.root(), head.storageRoot) ??
    different('head.headRoot', headRootOf(chainHead), head.headRoot) ??
    different('head.logSize', frontier.size, head.logSize) ??
    different('head.logRoot', frontier.root(), head.logRoot)
  )
}

/** Compares where a ledger stood when it was closed last with its chain (K10). */
export function checkKept(
  kept: KeptPlace,
  chain: {
    readonly chainHead: ChainHead
    readonly placeOf: (receiptHash: Hash) => number | undefined
  }
): FieldProblem | undefined {
  if (kept === null) return { field: 'lock', signed: 'a lock of this ledger', computed: 'another' }
  const { chainHead, placeOf } = chain
  const { receipts, receiptHash, headRoot } = kept
  if (receipts > chainHead.receipts) return different('lock.receipts', receipts, chainHead.receipts)
  const place = receiptHash === null ? -1 : (placeOf(receiptHash) ?? 'none')
  if (place !== receipts - 1) {
    return { field: 'lock.receiptHash', signed: `${receiptHash}`, computed: 'another receipt' }
  }
  if (receipts < chainHead.receipts) return undefined
  return different('lock.headRoot', headRoot, headRootOf(chainHead))
}

/** Compares the stored state entries with the folded state: the first key that differs. */
export async function checkStateEntries(
  store: Store,
  keys: StoreKeys,
  fold: StateFold
): Promise<{
  readonly entries: number
  readonly problem?: FieldProblem & { readonly key: string }
}> {
  let entries = 0
  const { tree } = fold.chainHead
  for await (const [storeKey, value] of store.entries(keys.states(''))) {
    const key = keys.stateKey(storeKey)
    const text = unwrapText(storeKey, value)
    entries += 1
    const signed = tree.get(hashKey(key))
    if (signed === undefined || Buffer.compare(signed, hashValue(text)) !== 0) {
      const folded = signed === undefined ? 'absent' : (fold.read(key) ?? 'withheld')
      return { entries, problem: { field: 'state', signed: folded, computed: text, key } }
    }
  }
  if (entries === tree.size) return { entries }
  for (const key of fold.keys()) {
    if (store.get(keys.state(key)) !== undefined) continue
    const signed = fold.read(key) ?? 'withheld'
    return { entries, problem: { field: 'state', signed, computed: 'absent', key } }
  }
  return {
    entries,
    problem: {
      field: 'state',
      signed: `${tree.size} entries`,
      computed: `${entries} entries`,
      key: ''
    }
  }
}
