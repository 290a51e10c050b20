import type { IdentityId, PublicKey } from '../../core/index.js'
import type { Boundary } from '../archive/boundary.js'
import type { ChainHead } from '../chain/chain-head.js'
import { parseWriteSet } from '../chain/stored-write-set.js'
import { unwrapText, unwrapValue } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import { InstalledPackages } from '../receipt/packages.js'
import { corrupt, parseRecord } from '../record/record.js'
import { hashKey, hashValue, rootOf, StateTree } from '../state/index.js'
import type { Store } from '../stores/port.js'
import { StateFold } from './state-fold.js'

/**
 * The state as it was where archived history ends: the entries that are stored, with what the first
 * write of each key behind the boundary says was there before. Nothing of it is believed: the
 * receipt behind the boundary signs its root.
 */
export async function stateAt(options: {
  readonly store: Store
  readonly keys: StoreKeys
  readonly identity: IdentityId
  readonly boundary: Boundary
  /** In force at the boundary. */
  readonly publicKey: PublicKey
}): Promise<StateFold> {
  const { store, keys, identity, boundary, publicKey } = options
  const values = new Map<string, string | undefined>()
  let tree = StateTree.empty
  for await (const [key, value] of store.entries(keys.states(''))) {
    const text = unwrapText(key, value)
    values.set(keys.stateKey(key), text)
    tree = tree.set(hashKey(keys.stateKey(key)), hashValue(text))
  }
  const seen = new Set<string>()
  for await (const [key, value] of store.entries(keys.commitsFrom(boundary.commits))) {
    for (const { receipt } of parseRecord(key, unwrapValue(key, value)).items) {
      if (receipt === undefined) continue
      const changes = parseWriteSet(receipt.writeSet)
      if (changes === undefined) throw corrupt(key, 'a write set is malformed')
      for (const { key: changed, before, beforeHash } of changes) {
        if (seen.has(changed)) continue
        seen.add(changed)
        const hash = beforeHash ?? (before === undefined ? undefined : hashValue(before))
        if (hash === undefined) values.delete(changed)
        else values.set(changed, beforeHash === undefined ? before : undefined)
        const keyHash = hashKey(changed)
        tree = hash === undefined ? tree.delete(keyHash) : tree.set(keyHash, hash)
      }
    }
  }
  let packages = InstalledPackages.none
  for (const [key, text] of values) packages = packages.changed(key, text ?? null)
  const executionRoot = rootOf({
    publicKey,
    installedDApps: packages.hash,
    storage: tree.root(),
    commitment: boundary.previousReceiptHash
  })
  const { receipts, receiptHash } = boundary
  const chainHead: ChainHead = { publicKey, receipts, receiptHash, executionRoot, tree, packages }
  return new StateFold(identity, { chainHead, values })
}
