import { type IdentityId, ledgerError, limits, nextTurn } from '../../core/index.js'
import type { ChainHead } from '../chain/chain-head.js'
import { isRotation, rotatedKey } from '../chain/keys-in-force.js'
import { parseWriteSet, type StoredChange } from '../chain/stored-write-set.js'
import { unwrapText } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import type { WritingReceipt } from '../read/reader.js'
import { InstalledPackages, PACKAGE_KEY_PREFIX } from '../receipt/packages.js'
import type { Receipt } from '../receipt/receipt.js'
import { corrupt } from '../record/record.js'
import {
  CAPABILITY_VERSION,
  encodeStateProof,
  hashKey,
  hashValue,
  proveAbsence,
  proveMembership,
  rootOf,
  STATE_ROOT_VERSION,
  type StateTree
} from '../state/index.js'
import type { Store } from '../stores/port.js'
import type { PastChange, PastProof, PastValue, PastValues } from './past-types.js'
import type { KeyWrite, WriteIndex } from './write-index.js'

/** Keys that are looked at in one turn of the loop. */
const KEYS_IN_TURN = 256

/**
 * State as of a receipt, and how a key came to its value.
 *
 * Owns: the tree of one receipt, so that a second proof of it is cheap. Does not own: the index of
 * writes, and the values, which commit records and the state in force have.
 *
 * - A value is given only when its hash is the one that the index has of the write.
 * - A proof is given only when its root is the one that the receipt signs.
 */
export class PastState {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #identity: IdentityId
  readonly #index: WriteIndex
  readonly #receiptAt: (index: number) => WritingReceipt | undefined
  #known: { readonly asOf: number; readonly tree: StateTree } | undefined
  #changesOf: { readonly index: number; readonly byKey: Map<string, StoredChange> } | undefined

  constructor(options: {
    readonly store: Store
    readonly keys: StoreKeys
    readonly identity: IdentityId
    readonly index: WriteIndex
    readonly receiptAt: (index: number) => WritingReceipt | undefined
  }) {
    this.#store = options.store
    this.#keys = options.keys
    this.#identity = options.identity
    this.#index = options.index
    this.#receiptAt = options.receiptAt
  }

  async values({
    asOf,
    prefix,
    after,
    limit
  }: {
    readonly asOf: number
    readonly prefix: string
    readonly after?: string | undefined
    readonly limit: number
  }): Promise<PastValues> {
    const found: { readonly key: string; readonly write: KeyWrite }[] = []
    let looked = 0
    let next: string | undefined
    this.#index.checkCovered(asOf)
    for await (const [key, last] of this.#index.written(prefix, after)) {
      if (found.length === limit || looked === limits.STATE_KEYS_LOOKED_AT_MAX) break
      next = key
      looked += 1
      const write = await this.#index.asOf(key, asOf, last)
      if (write?.valueHash !== undefined) found.push({ key, write })
      if (looked % KEYS_IN_TURN === 0) await nextTurn()
    }
    const isWhole = found.length < limit && looked < limits.STATE_KEYS_LOOKED_AT_MAX
    return { values: this.#valuesOf(found), next: isWhole ? undefined : next }
  }

  async changes({
    key,
    before,
    limit
  }: {
    readonly key: string
    readonly before?: number | undefined
    readonly limit: number
  }): Promise<readonly PastChange[]> {
    const writes: KeyWrite[] = []
    let at = before === undefined ? this.#index.last(key) : before - 1
    if (before !== undefined) at = (await this.#index.asOf(key, before - 1))?.index
    while (at !== undefined && !this.#index.isArchived(at) && writes.length <= limit) {
      const write = this.#index.write(key, at)
      writes.push(write)
      at = write.previous
    }
    if (writes.length === 0 && at !== undefined) throw this.#index.archivedAt(at)
    const texts = writes.map((write) => this.#textOf(key, write))
    const first = this.#index.isWhole ? null : undefined
    return writes.slice(0, limit).map(({ index }, place) => {
      const receipt = this.#receipt(index)
      const { run } = receipt.inputPayload
      return {
        index,
        receiptHash: receipt.receiptHash,
        timestamp: receipt.timestamp,
        runId: run?.runId,
        before: place + 1 < texts.length ? texts[place + 1] : first,
        after: texts[place]
      }
    })
  }

  async proof(key: string, asOf: number, head: ChainHead): Promise<PastProof> {
    const receipt = this.#receipt(asOf)
    const tree = await this.#treeAt(asOf, head.tree)
    const publicKey = isRotation(receipt) ? rotatedKey(this.#identity, receipt) : receipt.publicKey
    const { previousReceiptHash: commitment, nextStateRoot } = receipt
    const installedDApps = (await this.#packagesAt(asOf)).hash
    const storage = tree.root()
    const root =
      publicKey === undefined
        ? undefined
        : rootOf({ publicKey, installedDApps, storage, commitment })
    if (publicKey === undefined || root !== nextStateRoot) {
      throw corrupt(this.#keys.writes, `it gives another state than receipt ${asOf} signs`)
    }
    this.#known = { asOf, tree }
    const proof = proveMembership(tree, key) ?? proveAbsence(tree, key)
    if (proof === undefined) throw corrupt(this.#keys.writes, 'it proves nothing')
    const write = await this.#index.asOf(key, asOf)
    return {
      root: nextStateRoot,
      parts: {
        capabilityVersion: CAPABILITY_VERSION,
        identityPublicKey: publicKey,
        installedDApps,
        receiptChainCommitment: commitment,
        storage,
        version: STATE_ROOT_VERSION
      },
      proof: encodeStateProof(proof),
      text: write === undefined ? null : this.#textOf(key, write)
    }
  }

  /** The tree as of a receipt: that of `now`, with what was written since put back. */
  async #treeAt(asOf: number, now: StateTree): Promise<StateTree> {
    if (this.#known?.asOf === asOf) return this.#known.tree
    let tree = now
    let looked = 0
    for await (const [key, last] of this.#index.written('')) {
      looked += 1
      if (looked % KEYS_IN_TURN === 0) await nextTurn()
      if (last <= asOf) continue
      const valueHash = (await this.#index.asOf(key, asOf, last))?.valueHash
      const keyHash = hashKey(key)
      tree = valueHash === undefined ? tree.delete(keyHash) : tree.set(keyHash, valueHash)
    }
    return tree
  }

  async #packagesAt(asOf: number): Promise<InstalledPackages> {
    let packages = InstalledPackages.none
    for await (const [key, last] of this.#index.written(PACKAGE_KEY_PREFIX)) {
      const write = await this.#index.asOf(key, asOf, last)
      const text = write === undefined ? undefined : this.#textOf(key, write)
      packages = packages.changed(key, text ?? null)
    }
    return packages
  }

  /** Those of one receipt together: its record is read once. */
  #valuesOf(
    found: readonly { readonly key: string; readonly write: KeyWrite }[]
  ): readonly PastValue[] {
    const texts = new Map<string, string | undefined>()
    const byReceipt = [...found].sort((one, other) => one.write.index - other.write.index)
    for (const { key, write } of byReceipt) texts.set(key, this.#textOf(key, write) ?? undefined)
    return found.map(({ key, write: { index } }) => ({
      key,
      text: texts.get(key),
      index: this.#index.isArchived(index) ? undefined : index
    }))
  }

  /** What a write left: null for nothing, undefined where the body is withheld. */
  #textOf(key: string, { index, valueHash }: KeyWrite): string | null | undefined {
    if (valueHash === undefined) return null
    const storeKey = this.#keys.state(key)
    const value = this.#store.get(storeKey)
    const current = value === undefined ? undefined : unwrapText(storeKey, value)
    if (current !== undefined && hashValue(current).equals(valueHash)) return current
    const { bodies } = this.#writing(index)
    const { after } = this.#changes(index).get(key) ?? {}
    const text = after === undefined ? undefined : bodies.resolve(after)
    if (after === undefined || (text !== undefined && !hashValue(text).equals(valueHash))) {
      throw corrupt(this.#keys.write(key, index), 'its receipt wrote another value')
    }
    return text
  }

  #changes(index: number): Map<string, StoredChange> {
    if (this.#changesOf?.index === index) return this.#changesOf.byKey
    const changes = parseWriteSet(this.#writing(index).writeSet) ?? []
    const byKey = new Map(changes.map((change) => [change.key, change]))
    this.#changesOf = { index, byKey }
    return byKey
  }

  #receipt(index: number): Receipt {
    return JSON.parse(this.#writing(index).text) as Receipt
  }

  #writing(index: number): WritingReceipt {
    const writing = this.#receiptAt(index)
    if (writing === undefined) throw ledgerError('receipt.not_found', { which: index })
    return writing
  }
}
