import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Hash, sha256Hex } from '../../../src/core/index.js'
import type { PoolMember } from '../../../src/identity/index.js'
import { SigningPool } from '../../../src/identity/signing-pool.js'
import { cases, isTaken } from '../../support/effort.js'
import { keyNumbered, markOf, SteppedThread, watchingAtomics } from '../../support/pool-thread.js'

/** What the caller does with a member of the pool; the thread takes steps in between. */
type Verb = 'put' | 'collect' | 'close'
type Act = readonly [Verb, member: number]

/** After this atomic step of the caller the thread takes so many of its own. */
interface Switch {
  readonly at: number
  readonly steps: number
}

interface OpenMember {
  readonly id: number
  readonly member: PoolMember
  readonly put: Hash[]
}

const MEMBERS = 3

/** A pool of two places, so that they are used again at once, and its thread step by step. */
class World {
  readonly #threads: SteppedThread[] = []
  readonly #pool = new SigningPool({
    places: 2,
    // The numbers of places wrap around in the middle.
    firstPlace: -2,
    startHashes: 1,
    wakeHashes: 1,
    startWorker: (shared) => {
      const thread = new SteppedThread(shared)
      this.#threads.push(thread)
      return thread.worker
    }
  })
  readonly #members = new Map<number, OpenMember>()
  /** Numbers under which the pool knew members that are closed. */
  readonly #closed: number[] = []
  #joined = 0
  /** Hashes that the caller signed. */
  own = 0
  #names = 0

  act([verb, number]: Act): void {
    const { id, member, put } = this.#memberOf(number)
    if (verb === 'put') {
      if (put.length === member.capacity) return
      this.#names += 1
      const hash = sha256Hex(`hash ${this.#names}`)
      put.push(hash)
      member.put(hash)
    } else if (verb === 'collect') {
      const marks = put.splice(0).map((hash) => markOf(Buffer.from(hash, 'hex'), number))
      const collected = member.collect()
      // Without the cost of an expectation: this is done some hundred thousand times.
      if (!Buffer.concat(marks).equals(collected)) expect([...collected]).toEqual(marks)
    } else {
      void member.close()
      this.#members.delete(number)
      this.#closed.push(id)
    }
  }

  /** Lets the thread take steps. */
  step(count: number): number {
    return this.#threads.reduce((taken, thread) => taken + thread.step(count), 0)
  }

  /** Wakes the threads that sleep; gives how many did. */
  notify(): number {
    return this.#threads.filter((thread) => thread.notify()).length
  }

  /** Lets the thread come to rest, and checks what holds then. */
  settle(): void {
    if (this.step(STEPS_MAX) >= STEPS_MAX) throw new Error('the thread does not come to rest')
    for (const thread of this.#threads) {
      if (thread.unread > 0) throw new Error('the thread rests with a message unread')
      thread.deliver()
    }
    const waiting = this.#pool.thread()?.memory.waiting ?? 0
    if (waiting > 0) throw new Error('the thread rests while a hash waits')
    for (const number of [...this.#members.keys()]) this.act(['collect', number])
    // No place was lost: the thread takes each of the two.
    this.own = 0
    for (const number of [1, 2]) this.act(['put', number])
    this.step(STEPS_MAX)
    for (const number of [1, 2]) this.act(['collect', number])
    if (this.own > 0) throw new Error('a place was lost: the caller signed its hash')
    for (const id of this.#closed) this.#checkForgotten(id)
  }

  /** The thread cannot sign with the key of a member that is closed. */
  #checkForgotten(id: number): void {
    const { memory } = this.#pool.thread() ?? {}
    const place = memory?.offer(sha256Hex('forgotten'), id) ?? 0
    memory?.wake()
    this.step(STEPS_MAX)
    if (memory?.collect(place) !== undefined) throw new Error('the thread still has a key')
  }

  #memberOf(number: number) {
    const known = this.#members.get(number)
    if (known !== undefined) return known
    const sign = (hash: Uint8Array) => {
      this.own += 1
      return markOf(hash, number)
    }
    this.#joined += 1
    const made = {
      id: this.#joined,
      member: this.#pool.join(keyNumbered(number), { sign }),
      put: []
    }
    this.#members.set(number, made)
    return made
  }
}

const STEPS_MAX = 10_000

/** Runs the acts with these switches; gives the atomic steps that the caller took. */
function run(acts: readonly Act[], switches: readonly Switch[]) {
  const world = new World()
  let taken = 0
  let next = 0
  let isInFull = true
  const after = () => {
    for (let one = switches[next]; one !== undefined && one.at === taken; one = switches[next]) {
      isInFull = world.step(one.steps) === one.steps
      next += 1
    }
    taken += 1
  }
  watchingAtomics({ after, onNotify: () => world.notify() }, () => {
    for (const one of acts) world.act(one)
  })
  const steps = taken
  watchingAtomics({ after: () => undefined, onNotify: () => world.notify() }, () => world.settle())
  /** Whether the last switch took as many steps as it says; more of them make no difference. */
  return { steps, isInFull }
}

/** Every choice of one switch from `from` on. */
function* eachSwitch(end: number, from: number): Generator<Switch, void, boolean> {
  for (let at = from; at < end; at += 1) {
    let isInFull = true
    for (let steps = 1; steps <= STEPS && isInFull; steps += 1) isInFull = yield { at, steps }
  }
}

/**
 * Runs the acts with every choice of up to two switches, the usual form with a second one after one
 * in three; gives how many choices there were.
 */
function runEach(acts: readonly Act[]): number {
  const { steps: end } = run(acts, [])
  let count = 0
  const each = (from: number, runOne: (one: Switch) => boolean) => {
    const choices = eachSwitch(end, from)
    for (let choice = choices.next(); !choice.done; ) choice = choices.next(runOne(choice.value))
  }
  each(0, (first) => {
    count += 1
    const { isInFull } = run(acts, [first])
    if (!isTaken(count, 3)) return isInFull
    each(first.at + 1, (second) => {
      count += 1
      return run(acts, [first, second]).isInFull
    })
    return isInFull
  })
  return count
}

/** Scripts that meet each change of a place, and a key that is forgotten and learned. */
const scripts: readonly (readonly Act[])[] = [
  [
    ['put', 1],
    ['collect', 1],
    ['put', 1],
    ['collect', 1]
  ],
  [
    ['put', 1],
    ['put', 2],
    ['collect', 1],
    ['put', 1],
    ['collect', 2]
  ],
  [
    ['put', 1],
    ['put', 2],
    ['put', 3],
    ['collect', 2],
    ['put', 1]
  ],
  [
    ['put', 1],
    ['put', 2],
    ['close', 1],
    ['put', 2],
    ['collect', 2]
  ],
  [
    ['put', 1],
    ['close', 1],
    ['put', 1],
    ['put', 2],
    ['collect', 1]
  ]
]
/** Longest part of the thread's code between two switches: one signature, in soak runs two. */
const STEPS = process.env['SOAK'] === '1' ? 16 : 9

describe('the memory of a signing pool', () => {
  it.each(
    scripts.map((script) => [script.map((act) => act.join(' ')).join(', '), script] as const)
  )(
    'I1, I5, P1: gives each hash its signature in every order of steps with two switches: %s',
    (_, script) => {
      expect(runEach(script)).toBeGreaterThan(1_000)
    }
  )

  it('I1, I5, P1: gives each hash its signature however often the threads switch', () => {
    const member = fc.integer({ min: 1, max: MEMBERS })
    const verb = fc.constantFrom<Verb>('put', 'put', 'put', 'collect', 'collect', 'close')
    const acts = fc.array(fc.tuple(verb, member), { minLength: 5, maxLength: 40 })
    const gaps = fc.array(fc.record({ gap: fc.nat(4), steps: fc.nat(6) }), { maxLength: 100 })
    fc.assert(
      fc.property(acts, gaps, (script, turns) => {
        let at = 0
        run(
          script,
          turns.map(({ gap, steps }) => {
            at += gap
            return { at, steps }
          })
        )
      }),
      { numRuns: cases({ usual: 150, long: 275, soak: 550 }) }
    )
  })
})
