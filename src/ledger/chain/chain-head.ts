import type { Hash, IdentityId, PublicKey, StateRoot } from '../../core/index.js'
import type { LogFrontier } from '../log/index.js'
import { InstalledPackages } from '../receipt/packages.js'
import type { Head } from '../record/head.js'
import { hashKey, hashValue, rootOf, StateTree } from '../state/index.js'

/** The action of the receipt that hands an identity over to a new key (formats.md §2). */
export const ROTATION_ACTION = 'system.key.rotate'

/** Where chain and state stand after some receipt. Persistent: each queued item keeps its own. */
export interface ChainHead {
  /** Key in force: signs the next receipt. */
  readonly publicKey: PublicKey
  readonly receipts: number
  readonly receiptHash: Hash | null
  /** `nextStateRoot` of the last receipt, and so `previousStateRoot` of the next. */
  readonly executionRoot: StateRoot
  readonly tree: StateTree
  readonly packages: InstalledPackages
}

/** Before the first receipt. */
export function genesisHead(identity: IdentityId): ChainHead {
  const publicKey = identity as string as PublicKey
  const tree = StateTree.empty
  const packages = InstalledPackages.none
  return {
    publicKey,
    receipts: 0,
    receiptHash: null,
    executionRoot: rootOf({
      publicKey,
      installedDApps: packages.hash,
      storage: tree.root(),
      commitment: null
    }),
    tree,
    packages
  }
}

/** State after a receipt's changes, with the receipt's `nextStateRoot`; its hash comes later. */
export interface NextState {
  readonly publicKey: PublicKey
  readonly nextStateRoot: StateRoot
  readonly tree: StateTree
  readonly packages: InstalledPackages
}

/** The state after `changes` (key to canonical JSON, or null for deleted). */
export function nextState(
  chainHead: ChainHead,
  changes: Iterable<readonly [key: string, text: string | null]>,
  publicKey: PublicKey = chainHead.publicKey
): NextState {
  let { tree, packages } = chainHead
  for (const [key, text] of changes) {
    tree = text === null ? tree.delete(hashKey(key)) : tree.set(hashKey(key), hashValue(text))
    packages = packages.changed(key, text)
  }
  const nextStateRoot = rootOf({
    publicKey,
    installedDApps: packages.hash,
    storage: tree.root(),
    commitment: chainHead.receiptHash
  })
  return { publicKey, nextStateRoot, tree, packages }
}

/** The chain head after a receipt. */
export function advance(chainHead: ChainHead, next: NextState, receiptHash: Hash): ChainHead {
  return {
    publicKey: next.publicKey,
    receipts: chainHead.receipts + 1,
    receiptHash,
    executionRoot: next.nextStateRoot,
    tree: next.tree,
    packages: next.packages
  }
}

/** Head root (formats.md §4). */
export function headRootOf({ publicKey, packages, tree, receiptHash }: ChainHead): StateRoot {
  return rootOf({
    publicKey,
    installedDApps: packages.hash,
    storage: tree.root(),
    commitment: receiptHash
  })
}

/** The head after as many commit records as `seq` says (formats.md §6). */
export function headAfter(options: {
  readonly epoch: number
  readonly seq: number
  readonly chainHead: ChainHead
  readonly frontier: LogFrontier
}): Head {
  const { epoch, seq, chainHead, frontier } = options
  return {
    epoch,
    headRoot: headRootOf(chainHead),
    logRoot: frontier.root(),
    logSize: frontier.size,
    receiptHash: chainHead.receiptHash,
    receipts: chainHead.receipts,
    seq,
    storageRoot: chainHead.tree.root()
  }
}
