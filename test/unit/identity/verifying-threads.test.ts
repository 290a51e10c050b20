import { execFileSync } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { availableParallelism } from 'node:os'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { limits } from '../../../src/core/index.js'
import {
  getPublicKey,
  publicKeyBytes,
  type SignedBytes,
  type StartVerifier,
  sign,
  VerifyingThreads,
  type VerifyingWorker,
  verify
} from '../../../src/identity/index.js'
import { builtModule } from '../../support/built.js'
import { cases } from '../../support/effort.js'

const seeds = [1, 2].map((byte) => new Uint8Array(32).fill(byte))

/** What a caller may give: signed well, signed by another, changed, and no signature or key. */
const item: fc.Arbitrary<SignedBytes> = fc
  .record({
    message: fc.uint8Array({ maxLength: 80 }),
    signer: fc.constantFrom(...seeds),
    claimed: fc.constantFrom(...seeds),
    harm: fc.constantFrom('none', 'none', 'message', 'short signature', 'short key', 'no point')
  })
  .map(({ message, signer, claimed, harm }) => {
    const signature = sign(message, signer)
    const publicKey = publicKeyBytes(getPublicKey(claimed))
    if (harm === 'message') return { signature, message: Uint8Array.of(...message, 1), publicKey }
    if (harm === 'short signature') return { signature: signature.slice(1), message, publicKey }
    if (harm === 'short key') return { signature, message, publicKey: publicKey.slice(1) }
    if (harm === 'no point') return { signature, message, publicKey: new Uint8Array(32).fill(2) }
    return { signature, message, publicKey }
  })

const identityRoom = JSON.stringify(builtModule('identity/index.js'))

/** How a thread may fail. */
const ends = ['exits', 'errs', 'answers too little', 'answers once'] as const

const open: VerifyingThreads[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((threads) => threads.close()))
})

function threadsOf(start?: StartVerifier): VerifyingThreads {
  const threads = new VerifyingThreads(start)
  open.push(threads)
  return threads
}

const most = Math.min(limits.VERIFY_THREADS_MAX, availableParallelism())

/** Threads with what they have started. */
function startedAs<Started extends VerifyingWorker>(
  make: () => Started
): { readonly threads: VerifyingThreads; readonly workers: readonly Started[] } {
  const workers: Started[] = []
  const threads = threadsOf(() => {
    const worker = make()
    workers.push(worker)
    return worker
  })
  return { threads, workers }
}

function verdictsOf(items: readonly SignedBytes[]): readonly boolean[] {
  return items.map(({ signature, message, publicKey }) => verify(signature, message, publicKey))
}

describe('threads that check signatures', () => {
  it('V1: give the verdicts of verify, in order, for several batches at once', async () => {
    const threads = threadsOf()
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(item, { maxLength: 12 }), { maxLength: 6 }),
        async (all) => {
          const verdicts = await Promise.all(all.map((items) => threads.check(items)))
          expect(verdicts).toEqual(all.map(verdictsOf))
        }
      ),
      { numRuns: cases({ usual: 20, long: 100 }) }
    )
  })

  it('V1: give them whatever becomes of a thread', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...ends),
        fc.array(fc.array(item, { maxLength: 6 }), { minLength: 1, maxLength: 5 }),
        async (end, all) => {
          const threads = threadsOf(() => new FailingWorker(end))
          const verdicts = await Promise.all(all.map((items) => threads.check(items)))
          expect(verdicts).toEqual(all.map(verdictsOf))
          for (const items of all) expect(await threads.check(items)).toEqual(verdictsOf(items))
        }
      ),
      { numRuns: cases({ usual: 30, long: 200 }) }
    )
  })

  it('V1: give them where no thread may be started, and ask for none again', async () => {
    let asked = 0
    const threads = threadsOf(() => {
      asked += 1
      throw new Error('not permitted')
    })
    const [items = []] = fc.sample(fc.array(item, { minLength: 20, maxLength: 20 }), 1)
    for (let n = 0; n < 3; n += 1) expect(await threads.check(items)).toEqual(verdictsOf(items))
    expect(asked).toBe(1)
  })

  it('V1: give them for what is open when they are closed, and later, without a thread', async () => {
    const { threads, workers } = startedAs(() => new FailingWorker('never answers'))
    const [items = []] = fc.sample(fc.array(item, { minLength: 40, maxLength: 40 }), 1)
    const verdicts = threads.check(items)
    await threads.close()
    expect(await verdicts).toEqual(verdictsOf(items))
    expect(await threads.check(items)).toEqual(verdictsOf(items))
    expect(workers).toHaveLength(1)
  })

  it('are as many as there are cores, up to VERIFY_THREADS_MAX', async () => {
    const { threads, workers } = startedAs(() => new FailingWorker('exits'))
    for (let n = 0; n < limits.VERIFY_THREADS_MAX + 3; n += 1) await threads.check([])
    expect(workers).toHaveLength(most)
  })

  it('get a batch where the least is waiting, and nothing once they are over', async () => {
    const { threads, workers } = startedAs(() => new ObedientWorker())
    const [wrong] = wronglySigned()
    const all = Array.from({ length: 2 * most }, () => threads.check([wrong]))
    expect(workers.map(({ asked }) => asked.length)).toEqual(new Array(most).fill(2))
    const [first] = workers
    // What a thread says is believed.
    expect(first?.answers()).toBe(2)
    expect(await all[0]).toEqual([true])
    const next = [threads.check([wrong]), threads.check([wrong])]
    expect(first?.asked).toHaveLength(2)
    first?.emit('exit')
    expect(await Promise.all(next)).toEqual([[false], [false]])
    const later = threads.check([wrong])
    expect(first?.asked).toHaveLength(2)
    for (const worker of workers.slice(1)) worker.answers()
    expect(await later).toEqual([most > 1])
  })

  it('V2: hold the process while something is asked, and let go of it with the last', async () => {
    const { threads, workers } = startedAs(() => new ObedientWorker())
    const batches = Array.from({ length: 2 * most }, () => threads.check(wronglySigned()))
    for (const worker of workers) {
      expect(worker.isHeld).toBe(true)
      expect(worker.answers(1)).toBe(1)
      expect(worker.isHeld).toBe(true)
      expect(worker.answers(1)).toBe(1)
      expect(worker.isHeld).toBe(false)
      // An answer that nothing asked for changes nothing.
      worker.emit('message', Uint8Array.of(1))
      expect(worker.isHeld).toBe(false)
    }
    await Promise.all(batches)
    const [idle = new ObedientWorker()] = workers
    const checked = threads.check(wronglySigned())
    idle.answers()
    expect(await checked).toEqual([true])
  })

  it('are given the bytes themselves, not a copy', async () => {
    const worker = new ObedientWorker()
    const checked = threadsOf(() => worker).check(wronglySigned())
    expect(worker.asked.map(({ packed, moved }) => moved[0] === packed.buffer)).toEqual([true])
    worker.answers()
    await checked
  })

  it('V2: keep a process alive until they have answered, and no longer', () => {
    const program = `
      import { getPublicKey, publicKeyBytes, sign, VerifyingThreads } from ${identityRoom}
      const seed = new Uint8Array(32).fill(7)
      const message = new Uint8Array(32)
      const publicKey = publicKeyBytes(getPublicKey(seed))
      const item = { message, signature: sign(message, seed), publicKey }
      console.log((await new VerifyingThreads().check(new Array(64).fill(item))).every(Boolean))
    `
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 60_000
    })
    expect(output).toBe('true\n')
  })
})

/** Signatures that pass for some, and are of another message. */
function wronglySigned(): readonly [SignedBytes] {
  const [seed = new Uint8Array(32)] = seeds
  const signature = sign(Uint8Array.of(1), seed)
  return [{ signature, message: Uint8Array.of(2), publicKey: publicKeyBytes(getPublicKey(seed)) }]
}

/** A worker that says when asked to that every signature is valid. */
class ObedientWorker extends EventEmitter {
  readonly asked: { readonly packed: Uint8Array; readonly moved: readonly ArrayBuffer[] }[] = []
  isHeld = true

  postMessage(packed: Uint8Array, moved: readonly ArrayBuffer[]): void {
    this.asked.push({ packed, moved })
  }

  /** Answers what it was asked and has not answered, and forgets it: how many those were. */
  answers(most = Number.POSITIVE_INFINITY): number {
    const batches = this.asked.splice(0, most)
    for (const _ of batches) this.emit('message', Uint8Array.of(1))
    return batches.length
  }

  ref(): void {
    this.isHeld = true
  }

  unref(): void {
    this.isHeld = false
  }

  async terminate(): Promise<number> {
    this.emit('exit')
    return 0
  }
}

/** A worker that fails: it never says anything true. */
class FailingWorker extends EventEmitter {
  readonly #end: (typeof ends)[number] | 'never answers'

  constructor(end: (typeof ends)[number] | 'never answers') {
    super()
    this.#end = end
  }

  postMessage(): void {
    if (this.#end === 'never answers') return
    setImmediate(() => {
      if (this.#end === 'answers too little') this.emit('message', new Uint8Array(0))
      else if (this.#end === 'answers once') {
        this.emit('message', new Uint8Array(100))
        this.emit('exit')
      } else {
        if (this.#end === 'errs') this.emit('error', new Error('no thread'))
        this.emit('exit')
      }
    })
  }

  ref(): void {}

  unref(): void {}

  async terminate(): Promise<number> {
    this.emit('exit')
    return 0
  }
}
