import { assert, innerNode, ledgerError } from '../../core/index.js'
import type { ReadHash } from './frontier.js'

/**
 * Tiles of C2SP tlog-tiles: up to 256 hashes of one level, 32 bytes each, side by side. Level 0
 * holds leaf hashes, level L the roots of the full tiles of level L-1. Derived records (L1):
 * the last tile of a level grows until it is full, then never changes.
 */
export const TILE_WIDTH = 256
const HASH_BYTES = 32
const TREE_LEVELS_PER_TILE = 8

export interface Tile {
  readonly level: number
  readonly index: number
  /** 1 to 256 hashes of 32 bytes. */
  readonly bytes: Uint8Array
}

/** Bytes of a stored tile, or undefined; may hold more hashes than the caller's log size. */
export type ReadTile = (level: number, index: number) => Uint8Array | undefined

/**
 * The tiles that new leaves add or change, lowest level first, when the log held `size` leaves.
 * Reads only the last partial tile of each level that grows. Throws `ledger.malformed_tile` when
 * that tile is missing.
 */
export function growTiles(options: {
  readonly size: number
  readonly leaves: readonly Uint8Array[]
  readonly readTile: ReadTile
}): readonly Tile[] {
  const tiles: Tile[] = []
  let count = options.size
  let added = options.leaves
  for (let level = 0; added.length > 0; level += 1) {
    const grown = growLevel({ level, count, added, readTile: options.readTile })
    tiles.push(...grown)
    added = grown.filter(isFull).map((tile) => tileRoot(tile.bytes))
    count = Math.floor(count / TILE_WIDTH)
  }
  return tiles
}

/** Reads the root of any complete subtree out of stored tiles; throws `ledger.malformed_tile`. */
export function tileHashReader(readTile: ReadTile): ReadHash {
  return (level, index) => {
    const tileLevel = Math.floor(level / TREE_LEVELS_PER_TILE)
    const width = 2 ** (level % TREE_LEVELS_PER_TILE)
    const first = index * width
    const tileIndex = Math.floor(first / TILE_WIDTH)
    const offset = (first % TILE_WIDTH) * HASH_BYTES
    const bytes = readTile(tileLevel, tileIndex)
    if (bytes === undefined || bytes.length < offset + width * HASH_BYTES) {
      throw ledgerError('ledger.malformed_tile', { level: tileLevel, index: tileIndex })
    }
    return tileRoot(bytes.subarray(offset, offset + width * HASH_BYTES))
  }
}

/**
 * Path of a tile below a log's prefix (C2SP tlog-tiles), for export to a static file server.
 *
 * @example tilePath({ level: 0, index: 1234067, width: 256 }) // 'tile/0/x001/x234/067'
 * @example tilePath({ level: 1, index: 0, width: 3 })         // 'tile/1/000.p/3'
 */
export function tilePath(tile: {
  readonly level: number
  readonly index: number
  /** Hashes in it, 1 to 256. */
  readonly width: number
}): string {
  const { level, index, width } = tile
  assert(
    [level, index].every((count) => Number.isSafeInteger(count) && count >= 0) &&
      Number.isInteger(width) &&
      width >= 1 &&
      width <= TILE_WIDTH,
    'a tile that cannot be is named'
  )
  let path = String(index % 1000).padStart(3, '0')
  for (let rest = Math.floor(index / 1000); rest > 0; rest = Math.floor(rest / 1000)) {
    path = `x${String(rest % 1000).padStart(3, '0')}/${path}`
  }
  return `tile/${level}/${path}${width === TILE_WIDTH ? '' : `.p/${width}`}`
}

function growLevel(options: {
  readonly level: number
  /** Hashes that the level has. */
  readonly count: number
  readonly added: readonly Uint8Array[]
  readonly readTile: ReadTile
}): readonly Tile[] {
  const { level, count, added, readTile } = options
  const tiles: Tile[] = []
  let index = Math.floor(count / TILE_WIDTH)
  let kept = partialTile(readTile, level, index, count % TILE_WIDTH)
  for (let next = 0; next < added.length; ) {
    const taken = added.slice(next, next + TILE_WIDTH - kept.length / HASH_BYTES)
    tiles.push({ level, index, bytes: Buffer.concat([kept, ...taken]) })
    next += taken.length
    index += 1
    kept = new Uint8Array()
  }
  return tiles
}

function partialTile(readTile: ReadTile, level: number, index: number, width: number): Uint8Array {
  if (width === 0) return new Uint8Array()
  const bytes = readTile(level, index)
  if (bytes === undefined || bytes.length < width * HASH_BYTES) {
    throw ledgerError('ledger.malformed_tile', { level, index })
  }
  return bytes.subarray(0, width * HASH_BYTES)
}

function isFull(tile: Tile): boolean {
  return tile.bytes.length === TILE_WIDTH * HASH_BYTES
}

/** Root of the complete subtree over 2^n hashes side by side. */
function tileRoot(bytes: Uint8Array): Uint8Array {
  if (bytes.length === HASH_BYTES) return bytes
  const middle = bytes.length / 2
  return innerNode(tileRoot(bytes.subarray(0, middle)), tileRoot(bytes.subarray(middle)))
}
