import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { Xorshift128 } from '../../../src/core/index.js'
import { committedVectors } from '../../support/vectors.js'

interface Vector {
  readonly seed: string
  readonly words: readonly number[]
  readonly doubles: readonly number[]
  readonly uuid: string
}

/** Marsaglia's generator on BigInt, written apart from the one under test. */
function* reference(seed: string): Generator<number> {
  const digest = createHash('sha256').update('tallystick/prng').update(seed).digest()
  let [x, y, z, w] = [0, 4, 8, 12].map((at) => BigInt(digest.readUInt32BE(at))) as [
    bigint,
    bigint,
    bigint,
    bigint
  ]
  const mask = 0xffffffffn
  for (;;) {
    const t = (x ^ (x << 11n)) & mask
    ;[x, y, z] = [y, z, w]
    w = (w ^ (w >> 19n) ^ t ^ (t >> 8n)) & mask
    yield Number(w)
  }
}

function make(): readonly Vector[] {
  return ['', 'GENESIS', 'a'.repeat(64), 'ünïcode'].map((seed) => {
    const words = new Xorshift128(seed)
    const doubles = new Xorshift128(seed)
    return {
      seed,
      words: Array.from({ length: 6 }, () => words.uint32()),
      doubles: Array.from({ length: 3 }, () => doubles.random()),
      uuid: new Xorshift128(seed).uuid()
    }
  })
}

describe('xorshift128', () => {
  const vectors = committedVectors('xorshift128.json', make)

  it.each(vectors)(
    'gives the committed values for seed "$seed"',
    ({ seed, words, doubles, uuid }) => {
      const forWords = new Xorshift128(seed)
      expect(words.map(() => forWords.uint32())).toEqual(words)
      const forDoubles = new Xorshift128(seed)
      expect(doubles.map(() => forDoubles.random())).toEqual(doubles)
      expect(new Xorshift128(seed).uuid()).toBe(uuid)
    }
  )

  it('agrees with an independent implementation over a long run', () => {
    const expected = reference('long')
    const actual = new Xorshift128('long')
    for (let index = 0; index < 5_000; index += 1) {
      expect(actual.uint32()).toBe(expected.next().value)
    }
  })

  it('gives doubles below one and version 4 uuids', () => {
    const random = new Xorshift128('range')
    for (let index = 0; index < 2_000; index += 1) {
      const value = random.random()
      expect(value >= 0 && value < 1).toBe(true)
    }
    expect(random.uuid()).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
    )
  })
})
