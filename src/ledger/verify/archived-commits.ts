import type { RunId } from '../../core/index.js'
import { type Boundary, boundaryJson } from '../archive/boundary.js'
import { uncheckedForm } from '../derived/record-form.js'
import { decodePlaces, isOpenStatus } from '../derived/run-value.js'
import type { StoreKeys } from '../keys.js'
import { type LogFrontier, leafHash, TILE_WIDTH } from '../log/index.js'
import type { CommitRecord } from '../read/reader.js'
import type { FieldProblem } from '../receipt/parse.js'
import type { Store } from '../stores/port.js'

const HASH_BYTES = 32

/**
 * What a ledger keeps of history that is archived: the leaves of its log, and whole commit records
 * that runs still need which go on behind the boundary.
 *
 * Owns: nothing but the tile that was read last. The receipt of the archive signs the root.
 */
export class ArchivedCommits {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #boundary: Boundary
  #tile: { readonly index: number; readonly bytes: Buffer } | undefined

  constructor(store: Store, keys: StoreKeys, boundary: Boundary) {
    this.#store = store
    this.#keys = keys
    this.#boundary = boundary
  }

  /** The leaves of the log up to the boundary, in order; undefined where one is missing. */
  *leaves(): Generator<Uint8Array | undefined> {
    for (let leaf = 0; leaf < this.#boundary.frontier.size; leaf += 1) yield this.leaf(leaf)
  }

  leaf(leaf: number): Uint8Array | undefined {
    const index = Math.floor(leaf / TILE_WIDTH)
    if (this.#tile?.index !== index) {
      const key = this.#keys.tile(`0/${index}`)
      const value = this.#store.get(key)
      if (value === undefined) return undefined
      this.#tile = { index, bytes: uncheckedForm.body(key, value) }
    }
    const at = (leaf % TILE_WIDTH) * HASH_BYTES
    const bytes = this.#tile.bytes.subarray(at, at + HASH_BYTES)
    return bytes.length === HASH_BYTES ? bytes : undefined
  }

  /** What is wrong with the log up to the boundary. */
  frontierProblem(frontier: LogFrontier): FieldProblem | undefined {
    const signed = String(boundaryJson(this.#boundary).frontier)
    const computed = Buffer.from(frontier.encode()).toString('hex')
    return signed === computed ? undefined : { field: 'archived.frontier', signed, computed }
  }

  /** The first signed record of a commit that is not at its place in the log. */
  leafProblem({ header, items }: CommitRecord): FieldProblem | undefined {
    let at = header.leaves
    for (const { receipt, evidence } of items) {
      for (const text of [receipt?.text, evidence]) {
        if (text === undefined) continue
        const signed = Buffer.from(this.leaf(at) ?? []).toString('hex')
        const computed = Buffer.from(leafHash(text)).toString('hex')
        if (at >= this.#boundary.frontier.size || signed !== computed) {
          return { field: 'archived.leaf', signed, computed }
        }
        at += 1
      }
    }
    return undefined
  }

  /** Whether the journal of a run is here from its first entry on. */
  goesOn(runId: RunId): boolean {
    const key = this.#keys.run(runId)
    const value = this.#store.get(key)
    if (value === undefined) return false
    const { status, visits } = decodePlaces(key, runId, uncheckedForm.body(key, value))
    return isOpenStatus(status) || (visits.at(-1)?.[0] ?? 0) >= this.#boundary.commits
  }
}
