/**
 * A map that keeps its keys in the order of their UTF-8 bytes. Keys lie in blocks of bounded
 * length, so that an insertion moves at most one block.
 */
export class SortedMap<Value> {
  readonly #values = new Map<string, Value>()
  readonly #blocks: string[][] = []

  get size(): number {
    return this.#values.size
  }

  get(key: string): Value | undefined {
    return this.#values.get(key)
  }

  set(key: string, value: Value): void {
    if (!this.#values.has(key)) this.#insert(key)
    this.#values.set(key, value)
  }

  delete(key: string): void {
    if (!this.#values.delete(key)) return
    const at = this.#blockOf(key)
    const block = this.#blocks[at]
    if (block === undefined) return
    block.splice(firstAtLeast(block, key), 1)
    if (block.length === 0) this.#blocks.splice(at, 1)
  }

  /** All keys in ascending order, as they are now. */
  keys(): string[] {
    return this.#blocks.flat()
  }

  /** Entries with `gte` <= key < `lt` in ascending order, as they are now. */
  range(gte: string, lt: string): [key: string, value: Value][] {
    const found: [string, Value][] = []
    for (let at = this.#blockOf(gte); at < this.#blocks.length; at += 1) {
      for (const key of this.#blocks[at] ?? []) {
        if (compareUtf8(key, gte) < 0) continue
        if (compareUtf8(key, lt) >= 0) return found
        found.push([key, this.#values.get(key) as Value])
      }
    }
    return found
  }

  #insert(key: string): void {
    const at = this.#blockOf(key)
    const block = this.#blocks[at]
    if (block === undefined) {
      this.#blocks.push([key])
      return
    }
    block.splice(firstAtLeast(block, key), 0, key)
    if (block.length > BLOCK_KEYS_MAX)
      this.#blocks.splice(at + 1, 0, block.splice(block.length / 2))
  }

  /** The last block that begins at or before `key`, or the first. */
  #blockOf(key: string): number {
    let low = 0
    let high = this.#blocks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const first = this.#blocks[middle]?.[0]
      if (first !== undefined && compareUtf8(first, key) <= 0) low = middle + 1
      else high = middle
    }
    return Math.max(low - 1, 0)
  }
}

const BLOCK_KEYS_MAX = 512

function firstAtLeast(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareUtf8(keys[middle] ?? '', key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Order of the UTF-8 bytes of two strings: the order of code points, not of UTF-16 units. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left !== right) return codePointRank(left) - codePointRank(right)
  }
  return a.length - b.length
}

/** Surrogates stand for code points above U+FFFF, so they rank above every other unit. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
