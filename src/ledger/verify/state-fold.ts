import type { IdentityId, PublicKey } from '../../core/index.js'
import { type ChainHead, genesisHead, type NextState } from '../chain/chain-head.js'
import { applyWriteSet, type StoredChange } from '../chain/stored-write-set.js'

import { hashKey, hashValue, rootOf } from '../state/index.js'
import type { StateView } from './report.js'

/**
 * State folded out of write sets, receipt by receipt: tree and roots as the writer computed them,
 * and the values themselves for re-execution. Memory grows with the state, not with history.
 */
export class StateFold implements StateView {
  readonly #values: Map<string, string | undefined>
  chainHead: ChainHead

  /** `from`: where it begins; before the first receipt where that is absent. */
  constructor(
    identity: IdentityId,
    from: {
      readonly chainHead: ChainHead
      readonly values: Map<string, string | undefined>
    } = { chainHead: genesisHead(identity), values: new Map() }
  ) {
    this.chainHead = from.chainHead
    this.#values = from.values
  }

  read(key: string): string | undefined {
    return this.#values.get(key)
  }

  list(prefix: string): readonly string[] {
    return [...this.#values.keys()].filter((key) => key.startsWith(prefix)).sort()
  }

  get size(): number {
    return this.#values.size
  }

  keys(): IterableIterator<string> {
    return this.#values.keys()
  }

  has(key: string): boolean {
    return this.#values.has(key)
  }

  /** The first change whose `before` is not the value that the fold has. */
  wrongBefore(changes: readonly StoredChange[]): StoredChange | undefined {
    return changes.find(({ key, before, beforeHash }) => {
      const text = this.#values.get(key)
      // Either may stand there by its hash alone, whatever its length.
      const said = beforeHash ?? (before === undefined ? undefined : hashValue(before))
      if (text !== undefined) return text !== before && !sameBytes(hashValue(text), said)
      const hash = this.#values.has(key) ? this.chainHead.tree.get(hashKey(key)) : undefined
      return !sameBytes(hash, said)
    })
  }

  /** The state after a write set; nothing changes before {@link commit}. */
  next(changes: readonly StoredChange[], publicKey: PublicKey): NextState {
    const { tree, packages } = applyWriteSet(this.chainHead, changes)
    const nextStateRoot = rootOf({
      publicKey,
      installedDApps: packages.hash,
      storage: tree.root(),
      commitment: this.chainHead.receiptHash
    })
    return { publicKey, nextStateRoot, tree, packages }
  }

  commit(
    chainHead: ChainHead,
    changes: readonly { readonly key: string; readonly text: string | null | undefined }[]
  ): void {
    this.chainHead = chainHead
    for (const { key, text } of changes) {
      if (text === null) this.#values.delete(key)
      else this.#values.set(key, text)
    }
  }
}

function sameBytes(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return Buffer.compare(one, other) === 0
}
