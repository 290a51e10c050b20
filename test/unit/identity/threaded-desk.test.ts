import { createPublicKey } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Hash, sha256Hex } from '../../../src/core/index.js'
import { publicKeyBytes, sign, verify } from '../../../src/identity/index.js'
import { privateKeyObject, publicKeyOf } from '../../../src/identity/keys.js'
import {
  type DeskMemory,
  type DeskThread,
  ThreadedDesk,
  workerSource
} from '../../../src/identity/threaded-desk.js'

const seed = new Uint8Array(32).fill(5)
const key = privateKeyObject(seed)
const signHere = (hash: Uint8Array) => sign(hash, seed)
const hashesOf = (count: number, name: string): readonly Hash[] =>
  Array.from({ length: count }, (_, index) => sha256Hex(`${name}/${index}`))

/** What is collected for these hashes, in lots of 64 bytes. */
function signaturesOf(desk: ThreadedDesk, hashes: readonly Hash[]): readonly string[] {
  for (const hash of hashes) desk.put(hash)
  const collected = Buffer.from(desk.collect()).toString('hex')
  return hashes.map((_, index) => collected.slice(index * 128, index * 128 + 128))
}

const expected = (hashes: readonly Hash[]) =>
  hashes.map((hash) => Buffer.from(signHere(Buffer.from(hash, 'hex'))).toString('hex'))

const STEPS_MAX = 10_000

/** Ends what the thread does when it would sleep. */
class Asleep extends Error {}

/** In place of a signature: what it is of, twice. */
const mark = (hash: Uint8Array) => Buffer.concat([hash, hash])

/** The thread's own code, step by step: `between` is called before each of its atomic steps. */
function runThread(workerData: DeskMemory, between: () => void): void {
  const modules: Readonly<Record<string, unknown>> = {
    'node:crypto': { sign: (_algorithm: null, hash: Uint8Array) => mark(hash) },
    'node:worker_threads': { workerData }
  }
  const atomics = {
    load: (array: Int32Array, index: number) => {
      between()
      return Atomics.load(array, index)
    },
    store: (array: Int32Array, index: number, value: number) => {
      between()
      return Atomics.store(array, index, value)
    },
    compareExchange: (array: Int32Array, index: number, was: number, value: number) => {
      between()
      return Atomics.compareExchange(array, index, was, value)
    },
    wait: () => {
      throw new Asleep()
    }
  }
  try {
    new Function('require', 'Atomics', workerSource)((name: string) => modules[name], atomics)
  } catch (error) {
    if (!(error instanceof Asleep)) throw error
  }
}

describe('a desk with a thread', () => {
  it('I1, I5, I6: gives the signatures of what was put, whatever comes between its steps', () => {
    // So many are put, or all are collected; several times in a row.
    const act = fc.oneof(fc.integer({ min: 1, max: 3 }), fc.constant('collect' as const))
    const acts = fc.array(fc.array(act, { maxLength: 4 }), { minLength: 20, maxLength: 120 })
    let names = 0
    fc.assert(
      fc.property(acts, (turns) => {
        const shared: DeskMemory[] = []
        const thread = { on: () => thread, unref: () => undefined, terminate: async () => 0 }
        const desk = new ThreadedDesk(key, {
          sign: mark,
          thread: (memory) => {
            shared.push(memory)
            return thread as DeskThread
          }
        })
        let put: Hash[] = []
        const putOne = () => {
          const hash = sha256Hex(`hash ${names++}`)
          put.push(hash)
          desk.put(hash)
        }
        const collect = () => {
          const marks = put.map((hash) => mark(Buffer.from(hash, 'hex')).toString('hex'))
          put = []
          expect(Buffer.from(desk.collect()).toString('hex')).toBe(marks.join(''))
        }
        for (let count = 0; count < 8; count += 1) putOne()
        let next = 0
        const between = () => {
          for (const one of turns[next] ?? []) {
            if (one === 'collect') collect()
            else for (let count = 0; count < one; count += 1) putOne()
          }
          next += 1
          if (next > STEPS_MAX) throw new Error('the thread continues with what was never put')
        }
        while (next < turns.length) for (const memory of shared) runThread(memory, between)
        collect()
      }),
      { numRuns: 400 }
    )
  })

  it('I1: gives what signing one after the other gives, however much was put and when', async () => {
    const desk = new ThreadedDesk(key, { sign: signHere })
    let round = 0
    await fc.assert(
      fc.asyncProperty(fc.nat(120), fc.nat(3), async (count, turns) => {
        round += 1
        const hashes = hashesOf(count, `round ${round}`)
        for (const hash of hashes) desk.put(hash)
        // The thread signs meanwhile as much as it likes.
        for (let turn = 0; turn < turns; turn += 1) {
          await new Promise((resolve) => setTimeout(resolve, 1))
        }
        const collected = Buffer.from(desk.collect()).toString('hex')
        expect(collected).toBe(expected(hashes).join(''))
      }),
      { numRuns: 25 }
    )
    await desk.close()
  })

  it('I1: uses the signatures of its thread', async () => {
    let here = 0
    const desk = new ThreadedDesk(key, {
      sign: (hash) => {
        here += 1
        return signHere(hash)
      }
    })
    let left = 0
    // Bounded by patience: a thread that never comes is found by the count.
    for (let round = 0; round < 200 && left < 5; round += 1) {
      const hashes = hashesOf(20, `round ${round}`)
      here = 0
      for (const hash of hashes) desk.put(hash)
      await new Promise((resolve) => setTimeout(resolve, 10))
      const collected = Buffer.from(desk.collect()).toString('hex')
      expect(collected).toBe(expected(hashes).join(''))
      if (here === 0) left += 1
    }
    expect(left).toBe(5)
    await desk.close()
  })

  it('I5: uses its places again, and its numbers may wrap around', async () => {
    const desk = new ThreadedDesk(key, { sign: signHere, first: 0x7fff_ffff - 1_500 })
    for (let round = 0; round < 3; round += 1) {
      const hashes = hashesOf(desk.capacity, `round ${round}`)
      for (const hash of hashes) desk.put(hash)
      await new Promise((resolve) => setTimeout(resolve, 5))
      expect(desk.size).toBe(desk.capacity)
      expect(() => desk.put(sha256Hex('one more'))).toThrow(/full/)
      const collected = desk.collect()
      // Each at its place: the ends, and some between.
      for (const index of [0, 1, 499, 500, 501, desk.capacity - 1]) {
        const hash = Buffer.from(hashes[index] ?? '', 'hex')
        const signature = collected.subarray(index * 64, index * 64 + 64)
        expect(verify(signature, hash, publicKeyBytes(publicKeyOf(key)))).toBe(true)
      }
    }
    await desk.close()
  })

  it('I1, I4: signs all the same when its thread fails, and starts no more than a few', async () => {
    // A public key cannot sign, so the thread dies of its first hash.
    const desk = new ThreadedDesk(createPublicKey(key), { sign: signHere })
    for (let round = 0; round < 6; round += 1) {
      const hashes = hashesOf(20, `round ${round}`)
      for (const hash of hashes) desk.put(hash)
      await new Promise((resolve) => setTimeout(resolve, 60))
      expect(Buffer.from(desk.collect()).toString('hex')).toBe(expected(hashes).join(''))
    }
    await desk.close()
  })

  it('signs nothing when given nothing', async () => {
    const desk = new ThreadedDesk(key, { sign: signHere })
    expect(desk.collect()).toHaveLength(0)
    expect(signaturesOf(desk, hashesOf(1, 'one'))).toEqual(expected(hashesOf(1, 'one')))
    await desk.close()
  })
})
