import { execFileSync } from 'node:child_process'
import { createPublicKey } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Hash, sha256Hex } from '../../../src/core/index.js'
import { publicKeyBytes, sign, verify } from '../../../src/identity/index.js'
import { privateKeyObject, publicKeyOf } from '../../../src/identity/keys.js'
import { SigningPool } from '../../../src/identity/signing-pool.js'
import { type PoolWorker, startWorker } from '../../../src/identity/signing-thread.js'
import { builtModule } from '../../support/built.js'
import { cases } from '../../support/effort.js'

const seed = new Uint8Array(32).fill(5)
const key = privateKeyObject(seed)
const signHere = (hash: Uint8Array) => sign(hash, seed)
const hashesOf = (count: number, name: string): readonly Hash[] =>
  Array.from({ length: count }, (_, index) => sha256Hex(`${name}/${index}`))

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const expected = (hashes: readonly Hash[]) =>
  hashes.map((hash) => hexOf(signHere(Buffer.from(hash, 'hex')))).join('')

/** Lets the thread work; how much it gets done makes no difference to what is asserted. */
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Starts real workers and keeps them. */
function keeping() {
  const workers: PoolWorker[] = []
  return {
    workers,
    startWorker: (shared: Parameters<typeof startWorker>[0]) => {
      const worker = startWorker(shared)
      workers.push(worker)
      return worker
    }
  }
}

/** Puts hashes again and again until the thread has signed all of a round, or patience ends. */
async function untilThreadSigns(pool: SigningPool): Promise<boolean> {
  let here = 0
  const member = pool.join(key, {
    sign: (hash) => {
      here += 1
      return signHere(hash)
    }
  })
  for (let round = 0; round < 500; round += 1) {
    const hashes = hashesOf(20, `round ${round}`)
    here = 0
    for (const hash of hashes) member.put(hash)
    await pause(10)
    expect(hexOf(member.collect())).toBe(expected(hashes))
    if (here === 0) break
  }
  await member.close()
  return here === 0
}

describe('a signing pool', () => {
  it('I1: gives what signing one after the other gives, however much was put and when', async () => {
    const member = new SigningPool().join(key, { sign: signHere })
    let round = 0
    await fc.assert(
      fc.asyncProperty(fc.nat(120), fc.nat(3), async (count, turns) => {
        round += 1
        const hashes = hashesOf(count, `round ${round}`)
        for (const hash of hashes) member.put(hash)
        for (let turn = 0; turn < turns; turn += 1) await pause(1)
        expect(hexOf(member.collect())).toBe(expected(hashes))
      }),
      { numRuns: cases({ usual: 10, long: 14 }) }
    )
    await member.close()
  })

  it('I5: signs the hashes of each member with its own key, in any order of what members do', async () => {
    const pool = new SigningPool({ places: 64 })
    const act = fc.record({
      member: fc.nat(19),
      verb: fc.constantFrom('put', 'put', 'put', 'collect', 'close', 'pause'),
      count: fc.integer({ min: 1, max: 30 })
    })
    let names = 0
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 10, maxLength: 60 }), async (acts) => {
        const open = new Map<number, ReturnType<typeof openMember>>()
        const closing: Promise<void>[] = []
        for (const { member: number, verb, count } of acts) {
          const { member, put, check } = open.get(number) ?? openMember(pool, number)
          open.set(number, { member, put, check })
          names += 1
          if (verb === 'put') for (const hash of hashesOf(count, `${names}`)) put(hash)
          else if (verb === 'collect') check()
          else if (verb === 'pause') await pause(1)
          else {
            closing.push(member.close())
            open.delete(number)
          }
        }
        for (const { member, check } of open.values()) {
          check()
          closing.push(member.close())
        }
        await Promise.all(closing)
      }),
      { numRuns: cases({ usual: 6, long: 22 }) }
    )
  })

  it('I1: uses the signatures of its thread', async () => {
    expect(await untilThreadSigns(new SigningPool())).toBe(true)
  })

  it('I6: uses its places again, and their numbers may wrap around', async () => {
    const pool = new SigningPool({ firstPlace: 0x7fff_ffff - 1_500 })
    const member = pool.join(key, { sign: signHere })
    for (let round = 0; round < 3; round += 1) {
      const hashes = hashesOf(member.capacity, `round ${round}`)
      for (const hash of hashes) member.put(hash)
      await pause(5)
      expect(() => member.put(sha256Hex('one more'))).toThrow(/too many/)
      const collected = member.collect()
      // Each at its place: the ends, and some between.
      for (const index of [0, 1, 499, 500, 501, member.capacity - 1]) {
        const hash = Buffer.from(hashes[index] ?? '', 'hex')
        const signature = collected.subarray(index * 64, index * 64 + 64)
        expect(verify(signature, hash, publicKeyBytes(publicKeyOf(key)))).toBe(true)
      }
    }
    await member.close()
  })

  it('I6: signs what finds no place, while another member has them all', async () => {
    const pool = new SigningPool({ places: 16 })
    const [greedy, other] = [0, 1].map((number) => openMember(pool, number))
    for (const hash of hashesOf(16, 'greedy')) greedy?.put(hash)
    for (const hash of hashesOf(16, 'other')) other?.put(hash)
    other?.check()
    greedy?.check()
    await Promise.all([greedy?.member.close(), other?.member.close()])
  })

  it('I4: a thread that is terminated loses no signature, and another follows it', async () => {
    const { workers, startWorker: start } = keeping()
    const pool = new SigningPool({ startWorker: start })
    const { member, put, check } = openMember(pool, 0)
    for (let round = 0; round < 6; round += 1) {
      for (const hash of hashesOf(100, `round ${round}`)) put(hash)
      await workers.at(-1)?.terminate()
      for (const hash of hashesOf(20, `later in round ${round}`)) put(hash)
      check()
    }
    // Three in a row that signed nothing are the last, unless one of them was quick.
    expect(workers.length).toBeGreaterThanOrEqual(3)
    await member.close()
  })

  it('I4: a thread that signs is followed by another however often it is terminated', async () => {
    const { workers, startWorker: start } = keeping()
    const pool = new SigningPool({ startWorker: start })
    for (let round = 0; round < 5; round += 1) {
      // It stays open, so that the thread does.
      const other = openMember(pool, 0)
      expect(await untilThreadSigns(pool)).toBe(true)
      await workers.at(-1)?.terminate()
      await other.member.close()
    }
    expect(workers).toHaveLength(5)
  })

  it('I1: a key that the thread cannot use is no matter for the others', async () => {
    const { workers, startWorker: start } = keeping()
    const pool = new SigningPool({ startWorker: start })
    const broken = pool.join(createPublicKey(key), { sign: signHere })
    const hashes = hashesOf(20, 'broken')
    for (const hash of hashes) broken.put(hash)
    expect(await untilThreadSigns(pool)).toBe(true)
    expect(hexOf(broken.collect())).toBe(expected(hashes))
    await broken.close()
    expect(workers).toHaveLength(1)
  })

  it('I1: gives all signatures when every thread fails, after a few attempts', () => {
    let starts = 0
    const pool = new SigningPool({ startWorker: () => failingWorker(() => (starts += 1)) })
    const { put, check } = openMember(pool, 0)
    for (let round = 0; round < 6; round += 1) {
      for (const hash of hashesOf(20, `round ${round}`)) put(hash)
      check()
    }
    expect(starts).toBe(3)
  })

  it('T1: keeps the process alive exactly while a key is forgotten or the thread ends', async () => {
    // Answers of the thread come in any order with the closing of members, the last one too.
    const orders = fc.shuffledSubarray(['answer 1', 'answer 2', 'close 2', 'close 3'], {
      minLength: 4
    })
    await fc.assert(
      fc.asyncProperty(orders, async (order) => {
        const { worker, isHolding, answer, exit } = heldWorker()
        const pool = new SigningPool({ startHashes: 1, startWorker: () => worker })
        const members = [1, 2, 3].map((number) => openMember(pool, number))
        for (const { put, check } of members) {
          put(sha256Hex('one'))
          check()
        }
        expect(isHolding()).toBe(false)
        const closing: Promise<void>[] = [members[0]?.member.close() ?? Promise.resolve()]
        let left = 2
        const pending = new Set([1])
        for (const event of order) {
          const [verb, number] = event.split(' ')
          if (verb === 'close') {
            closing.push(members[Number(number) - 1]?.member.close() ?? Promise.resolve())
            left -= 1
            if (left > 0) pending.add(Number(number))
          } else if (pending.delete(Number(number))) answer(Number(number))
          expect(isHolding()).toBe(left === 0 || pending.size > 0)
        }
        exit()
        await Promise.all(closing)
      })
    )
  })

  it('closes while hashes wait, whose signatures the caller still makes', async () => {
    const pool = new SigningPool()
    const [closing, staying] = [openMember(pool, 0), openMember(pool, 1)]
    for (const name of ['first', 'second']) {
      for (const hash of hashesOf(50, name)) {
        closing.put(hash)
        staying.put(hash)
      }
      await closing.member.close()
    }
    closing.check()
    staying.check()
    await staying.member.close()
  })

  it('signs nothing when given nothing, and one without a thread', async () => {
    const { workers, startWorker: start } = keeping()
    const member = new SigningPool({ startWorker: start }).join(key, { sign: signHere })
    expect(member.collect()).toHaveLength(0)
    const [hash] = hashesOf(1, 'one')
    member.put(hash as Hash)
    expect(hexOf(member.collect())).toBe(expected([hash as Hash]))
    await member.close()
    expect(workers).toHaveLength(0)
  })
})

/** Each puts ten hashes of each identity. */
const ROUNDS = cases({ usual: 4, long: 11 })

describe('the signing pool of a process', () => {
  it('I2: signs for 100 identities in one thread and ends with its process', () => {
    const program = `
      import { readdirSync } from 'node:fs'
      import { generateIdentity, publicKeyBytes, verify } from ${identity}
      const hash = '5a'.repeat(32)
      const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
      const threads = () => process.platform === 'linux' ? readdirSync('/proc/self/task').length : 0
      const open = () => {
        const signer = generateIdentity().signer()
        return { signer, member: signer.joinPool() }
      }
      const work = async (members) => {
        for (let round = 0; round < ${ROUNDS}; round += 1) {
          for (const { member } of members) for (let n = 0; n < 10; n += 1) member.put(hash)
          await pause(2)
          for (const { member, signer } of members) {
            const signatures = member.collect()
            for (let at = 0; at < signatures.length; at += 64) {
              const signature = signatures.subarray(at, at + 64)
              const bytes = publicKeyBytes(signer.publicKey)
              if (!verify(signature, Buffer.from(hash, 'hex'), bytes)) throw new Error('mixed')
            }
          }
        }
      }
      const first = open()
      await work([first])
      const before = { threads: threads(), bytes: process.memoryUsage().rss }
      const others = Array.from({ length: 100 }, open)
      await work(others)
      const bytes = process.memoryUsage().rss - before.bytes
      await Promise.all(others.slice(1).map(({ signer }) => signer.close()))
      console.log(JSON.stringify({ threads: threads() - before.threads, bytes }))
    `
    const { threads, bytes } = JSON.parse(runProgram(program))
    // A hundred, and 800 MB, when each had a thread of its own; Node itself starts some late.
    expect(threads).toBeLessThan(10)
    expect(bytes).toBeLessThan(200e6)
  })

  it('I2: ends its thread with the last identity', () => {
    const program = `
      import { readdirSync } from 'node:fs'
      import { localSigner } from ${identity}
      const threads = () => process.platform === 'linux' ? readdirSync('/proc/self/task').length : 0
      const counts = []
      for (let round = 0; round < 3; round += 1) {
        const signers = [1, 2, 3].map((n) => localSigner(new Uint8Array(32).fill(n)))
        const members = signers.map((signer) => signer.joinPool())
        for (const member of members) for (let n = 0; n < 50; n += 1) member.put('5a'.repeat(32))
        for (const signer of signers) await signer.close()
        counts.push(threads())
      }
      console.log(JSON.stringify(counts))
    `
    const counts: readonly number[] = JSON.parse(runProgram(program))
    expect(new Set(counts).size).toBe(1)
  })
})

const identity = JSON.stringify(builtModule('identity/index.js'))

function runProgram(program: string): string {
  return execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: 60_000
  })
}

/** A member with a key of its own, which checks each signature under it. */
function openMember(pool: SigningPool, number: number) {
  const own = new Uint8Array(32).fill(number + 1)
  const privateKey = privateKeyObject(own)
  const publicKey = publicKeyBytes(publicKeyOf(privateKey))
  const member = pool.join(privateKey, { sign: (hash) => sign(hash, own) })
  const waiting: Hash[] = []
  return {
    member,
    put: (hash: Hash) => {
      if (waiting.length === member.capacity) return
      waiting.push(hash)
      member.put(hash)
    },
    check: () => {
      const signatures = member.collect()
      expect(signatures).toHaveLength(waiting.length * 64)
      for (const [index, hash] of waiting.splice(0).entries()) {
        const signature = signatures.subarray(index * 64, index * 64 + 64)
        expect(verify(signature, Buffer.from(hash, 'hex'), publicKey)).toBe(true)
      }
    }
  }
}

/** A worker that answers and ends when the test says so, and whether it keeps the process alive. */
function heldWorker() {
  const listeners = new Map<string, (id: number) => void>()
  let isHolding = true
  const worker = {
    on: (event: string, listener: (id: number) => void) => listeners.set(event, listener),
    ref: () => {
      isHolding = true
    },
    unref: () => {
      isHolding = false
    },
    postMessage: () => undefined,
    terminate: () =>
      new Promise<number>((resolve) => {
        isHolding = true
        listeners.set('ended', resolve)
      })
  }
  return {
    worker: worker as unknown as PoolWorker,
    isHolding: () => isHolding,
    answer: (id: number) => listeners.get('message')?.(id),
    exit: () => {
      listeners.get('exit')?.(1)
      listeners.get('ended')?.(1)
    }
  }
}

/** A worker that ends as soon as it gets its first message. */
function failingWorker(onStart: () => void): PoolWorker {
  onStart()
  const exits: (() => void)[] = []
  return {
    on: (event: string, listener: () => void) => {
      if (event === 'exit') exits.push(listener)
    },
    ref: () => undefined,
    unref: () => undefined,
    postMessage: () => {
      for (const exit of exits) exit()
    },
    terminate: async () => 1
  } as unknown as PoolWorker
}
