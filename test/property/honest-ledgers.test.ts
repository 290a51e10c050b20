import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { VerificationReport } from '../../src/audit/index.js'
import type { OpenWait } from '../../src/block/index.js'
import type { RunHandle, WiredRuntime } from '../../src/runtime/index.js'
import { cases } from '../support/effort.js'
import { type Life, Machine, openOn, settleDown } from '../support/lives.js'
import {
  type GeneratedRun,
  generatedRuns,
  programBlock,
  programDocument
} from '../support/programs.js'

/**
 * An honest ledger verifies, whatever was run on it: programs that read and change the same state,
 * ask, sleep and act, beside each other, parked, resumed after others have changed what they
 * read, and killed anywhere.
 */

/** What happens from outside between two times at which nothing moves. */
interface Happening {
  readonly what: 'start' | 'answer' | 'advance' | 'signal' | 'cancel' | 'reopen' | 'die'
  /** Which run, or after how many boundaries the process dies. */
  readonly pick: number
}

const happening: fc.Arbitrary<Happening> = fc.record({
  what: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom('start', 'answer', 'advance') },
    { weight: 3, arbitrary: fc.constantFrom('signal', 'reopen', 'die') },
    { weight: 1, arbitrary: fc.constant('cancel') }
  ) as fc.Arbitrary<Happening['what']>,
  pick: fc.nat(30)
})

const ROUNDS_MAX = 400

/** Plays runs on one machine until all have ended; closes, verifies and gives what was found. */
class Play {
  readonly #machine = new Machine()
  readonly #runs: readonly GeneratedRun[]
  readonly #handles = new Map<number, RunHandle>()
  readonly #ended = new Set<number>()
  readonly #begun = new Set<number>()
  readonly #pending = new Set<string>()
  #sent = 0
  #life: Life | undefined
  #tally: WiredRuntime | undefined

  constructor(runs: readonly GeneratedRun[]) {
    this.#runs = runs
  }

  async play(happenings: readonly Happening[]): Promise<VerificationReport | undefined> {
    await this.#open()
    for (const one of happenings) {
      await this.#quiet()
      await this.#happen(one)
    }
    for (const index of this.#runs.keys()) this.#begin(index)
    for (let round = 0; this.#ended.size < this.#runs.length; round += 1) {
      if (round > ROUNDS_MAX) throw new Error(`runs do not end: ${this.#told()}`)
      await this.#quiet()
      const isAnswered = await this.#answer(round)
      if (!isAnswered) this.#advance()
    }
    const report = await this.#tally?.replay()
    await this.#close()
    return report
  }

  async #happen({ what, pick }: Happening): Promise<void> {
    switch (what) {
      case 'start':
        this.#begin(pick % this.#runs.length)
        return
      case 'answer':
        await this.#answer(pick)
        return
      case 'advance':
        this.#advance()
        return
      case 'signal':
        this.#signal(pick)
        return
      case 'cancel':
        this.#cancel(pick)
        return
      case 'reopen':
        await this.#close()
        await this.#open()
        return
      case 'die':
        await this.#close()
        await this.#open(pick + 1)
    }
  }

  /** Lets everything move until it waits; a process that has died is followed by another. */
  async #quiet(): Promise<void> {
    for (let lives = 0; lives < 10; lives += 1) {
      const life = this.#life
      await settleDown(() => `${life?.boundaries} ${life?.isDead} ${this.#ended.size}`)
      if (life?.isDead !== true) return
      await this.#open()
    }
  }

  async #open(dieAt?: number): Promise<void> {
    for (let tries = 0; tries < 2; tries += 1) {
      const { life, store } = this.#machine.begin(tries === 0 ? dieAt : undefined)
      this.#life = life
      const blocks = [programBlock(this.#machine.world)]
      const clock = life.clock(this.#machine.clock)
      try {
        this.#tally = await openOn(store, { blocks, clock })
        break
      } catch (error) {
        if (!life.isDead) throw error
      }
    }
    this.#handles.clear()
    this.#pending.clear()
    for (const index of this.#begun) if (!this.#ended.has(index)) this.#start(index)
  }

  #begin(index: number): void {
    if (this.#begun.has(index)) return
    this.#begun.add(index)
    this.#start(index)
  }

  #start(index: number): void {
    const run = this.#runs[index]
    if (run === undefined || this.#tally === undefined) return
    const handle = this.#tally.begin(programDocument(run), { id: `run-${index}` })
    this.#handles.set(index, handle)
    const life = this.#life
    handle.result.then(
      () => {
        if (life?.isDead === false) this.#ended.add(index)
      },
      () => undefined
    )
  }

  /** Answers one open wait, beginning the search at one run or another. */
  async #answer(pick: number): Promise<boolean> {
    const handles = [...this.#handles.values()]
    const life = this.#life
    for (const [offset] of handles.entries()) {
      const run = handles[(pick + offset) % handles.length]
      let waits: Awaited<ReturnType<RunHandle['waits']>> | undefined
      run?.waits().then(
        (open) => {
          waits = open
        },
        () => {
          waits = []
        }
      )
      await settleDown(() => `${life?.isDead} ${waits?.length}`)
      const wait = waits?.find(({ token }) => !this.#pending.has(token))
      if (run === undefined || wait === undefined) continue
      // A run whose end waits for another's takes no answer meanwhile.
      this.#pending.add(wait.token)
      answered(run, wait, pick)
        .catch(() => undefined)
        .finally(() => this.#pending.delete(wait.token))
      return true
    }
    return false
  }

  #signal(pick: number): void {
    const handles = [...this.#handles.values()]
    this.#sent += 1
    const id = `sent-${this.#sent}`
    const sending = handles[pick % handles.length]?.signal(`item ${pick % 2}`, pick % 5, { id })
    sending?.catch(() => undefined)
  }

  #cancel(pick: number): void {
    const handles = [...this.#handles.values()]
    handles[pick % handles.length]?.cancel('enough').catch(() => undefined)
  }

  #advance(): void {
    const { clock } = this.#machine
    const due = clock.nextDue
    if (due !== undefined) clock.advance(Math.max(0, due - clock.now()))
  }

  async #close(): Promise<void> {
    const life = this.#life
    const closing = life?.isDead === false ? this.#tally?.close() : undefined
    this.#tally = undefined
    await closing?.catch((error: unknown) => {
      // It may die of that too.
      if (life?.isDead !== true) throw error
    })
  }

  #told(): string {
    const open = [...this.#runs.keys()].filter((index) => !this.#ended.has(index))
    return open.map((index) => `run-${index}`).join()
  }
}

/** Answers a wait by what it takes; some are denied. */
function answered(run: RunHandle, wait: OpenWait, pick: number): Promise<unknown> {
  const answer = { digest: wait.digest, by: 'tester', value: pick % 5 }
  if (wait.actions.includes('signal')) {
    const { signal } = wait.request as { readonly signal: string }
    return run.signal(signal, pick % 5, { id: wait.token })
  }
  if (wait.actions.includes('approve')) {
    return pick % 7 === 6 ? run.deny(wait.token, answer) : run.approve(wait.token, answer)
  }
  const action = wait.actions.includes('resume') ? 'resume' : wait.actions[pick % 4]
  // A patch that changes nothing: the step is tried again as it was.
  const given = action === 'patch' ? { ...answer, value: {} } : answer
  return run.resume(wait.token, { ...given, action: action as 'resume' })
}

describe('an honest ledger', () => {
  it('verifies and replays, whatever programs did, side by side, parked and killed', async () => {
    await fc.assert(
      fc.asyncProperty(
        generatedRuns,
        fc.array(happening, { maxLength: 12 }),
        async (all, happenings) => {
          const report = await new Play(all).play(happenings)
          expect(report?.failure).toBeUndefined()
          expect(report?.reexecuted).toBe(report?.receipts)
        }
      ),
      { numRuns: cases({ usual: 20, long: 22, soak: 2_000 }), endOnFailure: true }
    )
  })
})
