import { sha256 } from './hash.js'

/**
 * Marsaglia's xorshift128 as the deterministic random source of blocks (formats.md §3).
 * The four words are the first 16 bytes of sha256("tallystick/prng" || seed), big-endian.
 * Predictable by design: never use it for secrets. Vectors: `test/vectors/xorshift128.json`.
 */
export class Xorshift128 {
  #x: number
  #y: number
  #z: number
  #w: number

  constructor(seed: string) {
    const words = sha256(`tallystick/prng${seed}`)
    this.#x = words.readUInt32BE(0)
    this.#y = words.readUInt32BE(4)
    this.#z = words.readUInt32BE(8)
    this.#w = words.readUInt32BE(12)
    // All zero is the one fixed point of the generator.
    if ((this.#x | this.#y | this.#z | this.#w) === 0) this.#w = 1
  }

  /** The next word, an integer in [0, 2^32). */
  uint32(): number {
    const t = this.#x ^ (this.#x << 11)
    this.#x = this.#y
    this.#y = this.#z
    this.#z = this.#w
    this.#w = (this.#w ^ (this.#w >>> 19) ^ t ^ (t >>> 8)) >>> 0
    return this.#w
  }

  /**
   * A double in [0, 1) with 53 random bits: the high 27 of one word, then the high 26 of the next.
   */
  random(): number {
    const high = this.uint32() >>> 5
    const low = this.uint32() >>> 6
    return (high * 2 ** 26 + low) / 2 ** 53
  }

  /** 16 bytes shaped as a version 4 UUID. */
  uuid(): string {
    const bytes = Buffer.alloc(16)
    for (let at = 0; at < 16; at += 4) bytes.writeUInt32BE(this.uint32(), at)
    bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6)
    bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
    const hex = bytes.toString('hex')
    const ends = [8, 12, 16, 20, 32]
    return ends.map((end, group) => hex.slice(ends[group - 1] ?? 0, end)).join('-')
  }
}
