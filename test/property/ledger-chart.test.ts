import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { getAdjacencyMap } from 'xstate/graph'
import { nextTurn } from '../../src/core/index.js'
import type { Ledger, Store } from '../../src/ledger/index.js'
import { type LedgerEvent, ledgerMachine } from '../../src/ledger/mode.js'
import { openMemoryStore } from '../../src/ledger/stores/memory.js'
import { storeAround } from '../../src/ledger/stores/store-around.js'
import { createLedger, openLedger } from '../support/ledgers.js'
import { codeOf } from '../support/lives.js'
import { fixedIdentity, ledgerOptions, loneItem } from '../unit/ledger/core/support.js'

const keys = fixedIdentity()
const cause = { code: 'test.cause', message: 'found wrong' }

/** A store whose commits wait for the test to end them. */
class HeldStore {
  readonly #inner = openMemoryStore()
  #isHolding = false
  #end: ((how: 'lands' | 'fails' | 'is lost') => void) | undefined

  get isHeld(): boolean {
    return this.#end !== undefined
  }

  hold(): void {
    this.#isHolding = true
  }

  /** Ends the commit under way; a lost one is neither written nor answered. */
  end(how: 'lands' | 'fails' | 'is lost'): void {
    this.#isHolding = false
    this.#end?.(how)
    this.#end = undefined
  }

  open(): Store {
    const inner = this.#inner
    return storeAround(inner, {
      close: async () => undefined,
      commit: async (items) => {
        if (!this.#isHolding) return inner.commit(items)
        const how = await new Promise<'lands' | 'fails' | 'is lost'>((resolve) => {
          this.#end = resolve
        })
        if (how === 'fails') throw new Error('the disk is full')
        if (how === 'is lost') return new Promise<never>(() => undefined)
        return inner.commit(items)
      }
    })
  }
}

interface Model {
  mode: 'ready' | 'committing' | 'safe' | 'poisoned'
  /** A commit that was begun and has not ended. */
  isWriting: boolean
  acknowledged: number
  appended: number
}

interface Real {
  readonly store: HeldStore
  ledger: Ledger
  /** Outcome of the append that waits. */
  waiting: Promise<unknown> | undefined
}

const walked = new Set<string>()

function edgeOf(from: unknown, event: LedgerEvent['type'], to: unknown): string {
  return `${JSON.stringify(from)} ${event} -> ${JSON.stringify(to)}`
}

const places = {
  ready: 'READY',
  committing: 'BUSY',
  safe: { WAITING: 'safe' },
  poisoned: { WAITING: 'poisoned' }
} as const

/** Where the ledger must be after an event: a second writing of the rules, not of the chart. */
function goes(model: Model, event: LedgerEvent['type'], to: Model['mode']): void {
  walked.add(edgeOf(places[model.mode], event, places[to]))
  model.mode = to
}

type Step = fc.AsyncCommand<Model, Real>

function step(
  name: string,
  check: (model: Readonly<Model>) => boolean,
  act: (model: Model, real: Real) => Promise<void>
): Step {
  return {
    toString: () => name,
    check,
    run: async (model, real) => {
      await act(model, real)
      const { mode, cause: why } = real.ledger.state()
      // That a commit is under way is no mode of its own: a ledger in use is ready.
      expect(mode).toBe(model.mode === 'committing' ? 'ready' : model.mode)
      expect(why === undefined).toBe(mode === 'ready')
    }
  }
}

/** Appends one unit of work; its commit hangs until a later step ends it. */
const append = step(
  'append',
  ({ isWriting }) => !isWriting,
  async (model, real) => {
    const { ledger, store } = real
    const item = loneItem({ id: `unit-${model.appended}` })
    if (model.mode !== 'ready') {
      const code = model.mode === 'safe' ? 'ledger.safe_mode' : 'ledger.poisoned'
      expect(() => ledger.append(item)).toThrow(expect.objectContaining({ code }))
      return
    }
    store.hold()
    const appended = ledger.append(item)
    if (!appended.ok) throw new Error('nothing was read')
    real.waiting = codeOf(ledger.durable(appended.position))
    while (!store.isHeld) await nextTurn()
    model.isWriting = true
    model.appended += 1
    goes(model, 'flush.begun', 'committing')
  }
)

const land = step(
  'the commit lands',
  ({ isWriting }) => isWriting,
  async (model, real) => {
    real.store.end('lands')
    expect(await real.waiting).toEqual({ resolved: undefined })
    await nextTurn()
    model.isWriting = false
    model.acknowledged = model.appended
    if (model.mode === 'committing') goes(model, 'flush.ended', 'ready')
  }
)

const fail = step(
  'the commit fails',
  ({ isWriting }) => isWriting,
  async (model, real) => {
    real.store.end('fails')
    expect(await real.waiting).toBe('ledger.poisoned')
    model.isWriting = false
    goes(model, 'write.failed', 'poisoned')
  }
)

const doubt = step(
  'something is found wrong',
  () => true,
  async (model, { ledger }) => {
    ledger.enterSafeMode(cause)
    if (model.mode === 'ready' || model.mode === 'committing') goes(model, 'ledger.unsafe', 'safe')
  }
)

const verify = step(
  'a clean verification',
  () => true,
  async (model, { ledger }) => {
    ledger.leaveSafeMode({ ok: true })
    if (model.mode === 'safe') goes(model, 'ledger.verified', 'ready')
  }
)

function crash(how: 'lands' | 'is lost') {
  return step(
    `crash: what was being written ${how}`,
    () => true,
    async (model, real) => {
      real.store.end(how)
      await nextTurn()
      real.ledger = await openLedger(ledgerOptions(real.store.open(), keys))
      const { receipts } = real.ledger.state()
      const landed = model.isWriting && how === 'lands'
      expect(receipts).toBe(landed ? model.appended : model.acknowledged)
      Object.assign(model, {
        mode: 'ready',
        isWriting: false,
        acknowledged: receipts,
        appended: receipts
      })
    }
  )
}

async function begin(): Promise<{ readonly model: Model; readonly real: Real }> {
  const store = new HeldStore()
  const ledger = await createLedger(ledgerOptions(store.open(), keys))
  return {
    model: { mode: 'ready', isWriting: false, acknowledged: 0, appended: 0 },
    real: { store, ledger, waiting: undefined }
  }
}

describe('the ledger chart under crashes', () => {
  it('L3, L4: a real ledger does what its rules say, over every transition', async () => {
    const steps = [
      append,
      append,
      land,
      land,
      fail,
      doubt,
      verify,
      crash('lands'),
      crash('is lost')
    ]
    const commands = fc.commands(
      steps.map((one) => fc.constant(one)),
      { maxCommands: 40, size: 'max' }
    )
    await fc.assert(
      fc.asyncProperty(commands, async (sequence) => {
        const setup = await begin()
        await fc.asyncModelRun(() => setup, sequence)
        setup.real.store.end('is lost')
      }),
      { numRuns: process.env['SOAK'] === '1' ? 2_000 : 120 }
    )
    const edges = new Set<string>()
    const events: readonly LedgerEvent[] = [
      { type: 'flush.begun' },
      { type: 'flush.ended' },
      { type: 'ledger.unsafe', cause },
      { type: 'write.failed', cause },
      { type: 'ledger.verified' }
    ]
    for (const { state, transitions } of Object.values(
      getAdjacencyMap(ledgerMachine, { events })
    )) {
      // The keys of a transition map are branded, so its values have lost their type.
      for (const { event, state: next } of Object.values(transitions) as Edge[]) {
        const from = JSON.stringify(state.value)
        if (from !== JSON.stringify(next.value))
          edges.add(edgeOf(state.value, event.type, next.value))
      }
    }
    expect(edges.size).toBe(8)
    expect([...edges].filter((edge) => !walked.has(edge))).toEqual([])
    expect([...walked].filter((edge) => !edges.has(edge))).toEqual([])
  })
})

interface Edge {
  readonly event: LedgerEvent
  readonly state: { readonly value: unknown }
}
