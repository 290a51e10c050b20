import type { StoreKeys } from '../keys.js'
import { growTiles, TILE_WIDTH, type Tile } from '../log/index.js'
import type { FieldProblem } from '../receipt/parse.js'

type Wrong = FieldProblem & { readonly key: string }

/**
 * Compares the stored tiles of the log with its leaves as they come. Owns: the last tile of each
 * level, and leaves that fill no tile yet: its memory does not grow with the log.
 */
export class TileCheck {
  readonly #keys: StoreKeys
  readonly #read: (key: string) => Uint8Array | undefined
  readonly #last = new Map<number, Tile>()
  #size = 0
  #leaves: Uint8Array[] = []
  #problem: Wrong | undefined
  tiles = 0

  constructor(keys: StoreKeys, read: (key: string) => Uint8Array | undefined) {
    this.#keys = keys
    this.#read = read
  }

  add(leaf: Uint8Array): void {
    this.#leaves.push(leaf)
    if (this.#leaves.length === TILE_WIDTH) this.#grow()
  }

  /** After the last leaf that derived records cover. */
  finish(): Wrong | undefined {
    this.#grow()
    for (const tile of this.#last.values()) if (!isFull(tile)) this.#compare(tile)
    return this.#problem
  }

  #grow(): void {
    const tiles = growTiles({
      size: this.#size,
      leaves: this.#leaves,
      readTile: (level) => this.#last.get(level)?.bytes
    })
    this.#size += this.#leaves.length
    this.#leaves = []
    for (const tile of tiles) {
      this.#last.set(tile.level, tile)
      if (isFull(tile)) this.#compare(tile)
    }
  }

  #compare({ level, index, bytes }: Tile): void {
    this.tiles += 1
    const key = this.#keys.tile(`${level}/${index}`)
    const stored = this.#read(key)
    if (stored !== undefined && Buffer.compare(stored, bytes) === 0) return
    const computed = stored === undefined ? 'absent' : 'other hashes'
    this.#problem ??= { field: 'derived.tile', signed: 'the hashes of the log', computed, key }
  }
}

function isFull({ bytes }: Tile): boolean {
  return bytes.length === TILE_WIDTH * 32
}
