import fc from 'fast-check'
import type { VerificationReport } from '../../src/audit/index.js'
import type { OpenWait } from '../../src/block/index.js'
import { isTallyError } from '../../src/core/index.js'
import type { Registrations, RunHandle, WiredRuntime } from '../../src/runtime/index.js'
import { type Life, Machine, openOn, QUIET_TURNS, settleDown } from './lives.js'

/** A run that is played beside others: how it begins in each life of its process. */
export interface PlayedRun {
  begin(tally: WiredRuntime, id: string, registered: Registrations): RunHandle
}

/** What the runs of a play are made of. */
export interface PlayedCode {
  readonly registrations: Registrations
  /** Runs that the played ones have begun; they take answers, too. */
  readonly children?: ReadonlySet<string>
}

/** What happens from outside between two times at which nothing moves. */
export interface Happening {
  readonly what: 'start' | 'answer' | 'advance' | 'signal' | 'cancel' | 'reopen' | 'die'
  /** Which run, or after how many boundaries the process dies. */
  readonly pick: number
}

export const happening: fc.Arbitrary<Happening> = fc.record({
  what: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom('start', 'answer', 'advance') },
    { weight: 3, arbitrary: fc.constantFrom('signal', 'reopen', 'die') },
    { weight: 1, arbitrary: fc.constant('cancel') }
  ) as fc.Arbitrary<Happening['what']>,
  pick: fc.nat(30)
})

const ROUNDS_MAX = 400
const IDLE_DOUBLINGS_MAX = 9

/** Plays runs on one machine until all have ended; closes, verifies and gives what was found. */
export class SideBySide {
  readonly #machine = new Machine()
  readonly #runs: readonly PlayedRun[]
  readonly #code: PlayedCode
  readonly #handles = new Map<number, RunHandle>()
  readonly #ended = new Set<number>()
  readonly #begun = new Set<number>()
  readonly #pending = new Set<string>()
  #sent = 0
  #problem: { readonly error: unknown } | undefined
  #life: Life | undefined
  #tally: WiredRuntime | undefined

  constructor(runs: readonly PlayedRun[], code: (machine: Machine) => PlayedCode) {
    this.#runs = runs
    this.#code = code(this.#machine)
  }

  async play(happenings: readonly Happening[]): Promise<VerificationReport | undefined> {
    await this.#open()
    for (const one of happenings) {
      await this.#quiet()
      await this.#happen(one)
    }
    for (const index of this.#runs.keys()) this.#begin(index)
    let idle = 0
    for (let round = 0; this.#ended.size < this.#runs.length; round += 1) {
      if (this.#problem !== undefined) throw this.#problem.error
      if (round > ROUNDS_MAX) throw new Error(`runs do not end: ${this.#told()}`)
      await this.#quiet(idle)
      const isMoved = (await this.#answer(round)) || this.#advance()
      idle = isMoved ? 0 : idle + 1
    }
    // Children continue by themselves, and may have died with their process.
    await this.#quiet()
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

  /**
   * Lets everything move until it waits; a process that has died is followed by another. The longer
   * nothing has moved, the more turns: a file that is loaded for the first time takes time.
   */
  async #quiet(idle = 0): Promise<void> {
    const quietTurns = QUIET_TURNS * 2 ** Math.min(idle, IDLE_DOUBLINGS_MAX)
    for (let lives = 0; lives < 10; lives += 1) {
      const life = this.#life
      const moved = () => `${life?.boundaries} ${life?.isDead} ${this.#ended.size}`
      await settleDown(moved, { quietTurns })
      if (life?.isDead !== true) return
      await this.#open()
    }
  }

  async #open(dieAt?: number): Promise<void> {
    for (let tries = 0; tries < 2; tries += 1) {
      const { life, store } = this.#machine.begin(tries === 0 ? dieAt : undefined)
      this.#life = life
      const clock = life.clock(this.#machine.clock)
      try {
        this.#tally = await openOn(store, { ...this.#code.registrations, clock })
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
    const handle = run.begin(this.#tally, `run-${index}`, this.#code.registrations)
    this.#handles.set(index, handle)
    const life = this.#life
    handle.result.then(
      () => {
        if (life?.isDead === false) this.#ended.add(index)
      },
      (error: unknown) => {
        const isOver = life?.isDead !== false || isTallyError(error, 'run.interrupted')
        if (!isOver) this.#problem ??= { error }
      }
    )
  }

  /** Answers one open wait, beginning the search at one run or another. */
  async #answer(pick: number): Promise<boolean> {
    const handles = [...this.#handles.values(), ...(await this.#children())]
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

  async #children(): Promise<readonly RunHandle[]> {
    const found: RunHandle[] = []
    const life = this.#life
    for (const id of this.#code.children ?? []) {
      let isThere: boolean | undefined
      this.#tally?.attach(id).then(
        (handle) => {
          found.push(handle)
          isThere = true
        },
        () => {
          isThere = false
        }
      )
      await settleDown(() => `${life?.isDead} ${isThere}`)
    }
    return found
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

  /** Whether time has passed: something is due. */
  #advance(): boolean {
    const { clock } = this.#machine
    const due = clock.nextDue
    if (due !== undefined) clock.advance(Math.max(0, due - clock.now()))
    return due !== undefined
  }

  async #close(): Promise<void> {
    const life = this.#life
    const closing = life?.isDead === false ? this.#tally?.close() : undefined
    this.#tally = undefined
    let isClosed = closing === undefined
    const closed = closing
      ?.catch((error: unknown) => {
        // It may die of that too.
        if (life?.isDead !== true) throw error
      })
      .finally(() => {
        isClosed = true
      })
    closed?.catch(() => undefined)
    // What is under way takes its time, and is awaited.
    for (let round = 0; !isClosed; round += 1) {
      await settleDown(() => `${life?.boundaries} ${isClosed}`)
      if (life?.isDead === true) return
      if (round > ROUNDS_MAX) throw new Error('it does not close')
      if (!isClosed) this.#advance()
    }
    await closed
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
