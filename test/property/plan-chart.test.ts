import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PlanContext } from '../../src/block/chart/plan-progress.js'
import type { CompositeEvent, PumpCommand } from '../../src/block/chart/protocol.js'
import { itemsOf } from '../../src/block/chart/rows.js'
import { compilePlan } from '../../src/block/document/compile.js'
import { parsePlan } from '../../src/block/document/parse.js'
import type { JsonObject } from '../../src/core/index.js'
import { testRegistry } from '../support/composites.js'
import { fakeExpressions } from '../support/fake-expressions.js'
import { failed, succeeded, testRequest } from '../support/fake-pump.js'
import { planMachine } from '../support/interpreted-charts.js'
import { openAsks, Played } from '../support/played.js'

/**
 * The plan's chart against what it promises, worked out from the definition alone, and the table
 * that runs against XState's own interpreter, over every kind of answer in any order.
 */

const runs = process.env['SOAK'] === undefined ? 100 : 5_000

interface Draft {
  readonly order: 'arrival' | 'declared'
  readonly parallel: boolean
  readonly atomic: boolean
  readonly retries: boolean
  readonly asks: boolean
  readonly nodes: readonly {
    readonly deps: readonly number[]
    readonly writes: boolean
    readonly onError: 'stop' | 'continue' | 'ask'
    readonly lane: boolean
  }[]
}

const drafts: fc.Arbitrary<Draft> = fc.record({
  order: fc.constantFrom('arrival', 'declared'),
  parallel: fc.boolean(),
  atomic: fc.boolean(),
  retries: fc.boolean(),
  asks: fc.boolean(),
  nodes: fc.array(
    fc.record({
      deps: fc.array(fc.nat(6), { maxLength: 2 }),
      writes: fc.boolean(),
      onError: fc.constantFrom('stop', 'continue', 'ask'),
      lane: fc.boolean()
    }),
    { minLength: 1, maxLength: 6 }
  )
})

interface Planned {
  readonly id: string
  readonly deps: readonly string[]
  readonly lane: boolean
  readonly isInLine: boolean
}

function documentOf({ order, parallel, atomic, nodes }: Draft): JsonObject {
  const isDeclared = order === 'declared'
  return {
    schema: 'tally-plan/1',
    name: 'generated',
    version: '1',
    order,
    parallel: isDeclared ? parallel : true,
    atomic: isDeclared && atomic,
    lanes: isDeclared ? {} : { narrow: 1 },
    nodes: nodes.map(({ deps, writes, onError, lane }, index) => ({
      id: `n${index}`,
      deps: index === 0 ? [] : [...new Set(deps.map((dep) => `n${dep % index}`))],
      block: writes && !(isDeclared && atomic) ? 'idempotent.x' : 'none.x',
      on_error: onError,
      ...(lane && !isDeclared ? { lane: 'narrow' } : {})
    }))
  }
}

function compiled(draft: Draft) {
  const parsed = parsePlan(documentOf(draft))
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics))
  const options = { registry: testRegistry, expressions: fakeExpressions }
  const result = compilePlan(parsed.definition, options)
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics))
  const planned = result.compiled.plan.nodes.map(({ name, deps, lane, isInLine }): Planned => {
    const ids = deps.map((dep) => result.compiled.plan.nodes[dep]?.name ?? '')
    return { id: name, deps: ids, lane: lane !== null, isInLine }
  })
  return { ...result, planned }
}

/** One answer: which of the open asks, how, and whether the process dies before. */
const answers = fc.array(
  fc.record({
    pick: fc.nat(),
    how: fc.nat(11),
    crash: fc.boolean()
  }),
  { maxLength: 40 }
)

const wait = { reason: 'external', request: null, actions: ['resume'] } as const

function eventFor(
  ask: PumpCommand,
  { how, at, isWaiting }: { readonly how: number; readonly at: number; readonly isWaiting: boolean }
): CompositeEvent {
  switch (ask.kind) {
    case 'timer':
      return { type: 'timer.fired', at: Math.max(at, ask.due) }
    case 'decision': {
      const actions = ['retry', 'patch', 'skip', 'abort'] as const
      if (how > 8) return { type: 'timer.fired', at }
      const action = actions[how % 4] ?? 'abort'
      return { type: 'decision.made', action, at, ...(action === 'patch' ? { patch: {} } : {}) }
    }
    case 'scope.commit':
      if (how === 0) return { type: 'scope.conflict', at }
      if (how === 1) return { type: 'scope.settled', response: failed('lost'), at }
      return { type: 'scope.settled', response: ask.response, at }
    case 'scope.abort':
      return { type: 'scope.settled', response: ask.response, sent: false, at }
    default:
      if (how < 6) return { type: 'attempt.settled', response: succeeded(how), sent: how > 3, at }
      if (how < 8) {
        const reason = how === 6 ? 'broken' : 'denied'
        return { type: 'attempt.settled', response: failed(reason), sent: false, at }
      }
      if (isWaiting && how === 11) return { type: 'attempt.resumed', at }
      return { type: 'attempt.waiting', wait, sent: how === 9, at }
  }
}

/** A plan played twice: as the table, which crashes, and as XState interprets the chart. */
class Pair {
  readonly table: Played
  readonly chart: Played
  readonly open = new Map<string, PumpCommand>()
  readonly waiting = new Set<string>()
  readonly seen = new Set<string>()
  #at = 1_000

  constructor(draft: Draft) {
    const { compiled: plan } = compiled(draft)
    const input = { path: 'root', node: 'root', block: 'generated', sideEffects: 'none' }
    this.table = new Played(plan.logic, input)
    this.chart = new Played(planMachine(plan), input)
  }

  get context(): PlanContext {
    return this.table.state.context as PlanContext
  }

  get value(): string {
    return JSON.stringify(this.table.state.value)
  }

  send(event: CompositeEvent, path = 'root'): readonly PumpCommand[] {
    const asks = this.table.send(event, path)
    expect(asks).toEqual(this.chart.send(event, path))
    expect(this.table.state).toEqual(this.chart.state)
    expect([...this.table.problems, ...this.chart.problems]).toEqual([])
    this.seen.add(`${this.value} ${event.type}`)
    if (event.type === 'attempt.settled') this.#close(path)
    for (const ask of asks) {
      if (openAsks.includes(ask.kind)) this.open.set(ask.path, ask)
      if (ask.kind === 'cancel') this.#close(ask.path)
    }
    return asks
  }

  answer(pick: number, how: number): readonly PumpCommand[] {
    const asks = [...this.open.values()]
    const ask = asks[pick % Math.max(1, asks.length)]
    if (ask === undefined) return []
    this.#at += 10
    const { path } = ask
    const event = eventFor(ask, { how, at: this.#at, isWaiting: this.waiting.has(path) })
    if (event.type === 'attempt.waiting') this.waiting.add(path)
    else if (event.type === 'attempt.resumed') this.waiting.delete(path)
    else this.#close(path)
    return this.send(event, path)
  }

  /** What is asked for again was open, and nothing else was. */
  crash(): void {
    const again = this.table.crash().filter(({ kind }) => openAsks.includes(kind))
    const byPath = (asks: readonly PumpCommand[]) =>
      [...asks].sort((a, b) => (a.path < b.path ? -1 : 1))
    expect(byPath(again)).toEqual(byPath([...this.open.values()]))
    expect(this.table.state).toEqual(this.chart.state)
  }

  execute(options: JsonObject = {}): readonly PumpCommand[] {
    const request = testRequest({ x: 1 })
    return this.send({ type: 'block.execute', request, step: 1, options, at: this.#at })
  }

  cancel(): readonly PumpCommand[] {
    return this.send({ type: 'block.cancel', reason: 'test', at: this.#at })
  }

  #close(path: string): void {
    this.open.delete(path)
    this.waiting.delete(path)
  }
}

/** What holds whenever a plan is running, whatever has happened (C2, W9, W11). */
function checkStanding(pair: Pair, planned: readonly Planned[], atomic: boolean): void {
  const { context, value } = pair
  const states = [...itemsOf(context.nodes)]
  const statusOf = (id: string) => states[planned.findIndex((node) => node.id === id)]?.status
  const isUnderWay = (status: string | undefined) => status === 'running' || status === 'waiting'
  const active = planned.filter(({ id }) => isUnderWay(statusOf(id)))
  expect(context.active).toBe(active.length)
  expect(active.filter(({ lane }) => lane).length).toBeLessThanOrEqual(1)
  for (const { deps } of active) expect(deps.map(statusOf)).toEqual(deps.map(() => 'done'))
  const isWaiting = value === '{"WAITING":"running"}' || value === '{"WAITING":"stopping"}'
  const allWait = active.length > 0 && active.every(({ id }) => statusOf(id) === 'waiting')
  expect(isWaiting).toBe(allWait && /running|stopping/.test(value))
  if (!/running/.test(value) || context.failure !== null) return
  const isLaneFree = !active.some(({ lane }) => lane)
  const startable = planned.filter(({ id, deps, lane, isInLine }, place) => {
    if (isUnderWay(statusOf(id)) || !['idle', 'queued'].includes(statusOf(id) ?? '')) return false
    if (lane && !isLaneFree) return false
    if (isInLine && states.slice(0, place).some(({ status }) => !isEnd(status))) return false
    return deps.every((dep) => statusOf(dep) === 'done')
  })
  expect(startable.map(({ id }) => id)).toEqual([])
  expect(atomic || active.length > 0).toBe(true)
}

function isEnd(status: string): boolean {
  return ['done', 'failed', 'blocked', 'cancelled'].includes(status)
}

describe('the plan chart', () => {
  const seen = new Set<string>()

  it('C2, W9, W11, D6: starts what may start, and the table does what the chart says', () => {
    const extra = fc.constantFrom('none', 'none', 'cancel', 'execute')
    fc.assert(
      fc.property(drafts, answers, fc.nat(20), extra, (draft, script, when, what) => {
        const { planned } = compiled(draft)
        const pair = new Pair(draft)
        const recovery = draft.retries
          ? [{ kind: 'retry', maxAttempts: 2, intervalMs: 100, backoff: 'fixed' }]
          : []
        pair.execute({ recovery, ...(draft.asks ? { onError: 'ask' } : {}) })
        for (const [index, { pick, how, crash }] of script.entries()) {
          if (index === when && what === 'cancel') pair.cancel()
          if (index === when && what === 'execute') pair.execute()
          checkStanding(pair, planned, draft.atomic)
          if (pair.value === '"READY"') break
          const asked = pair.answer(pick, how)
          const isStopping = /stopping|recover|abort/.test(pair.value)
          if (isStopping) expect(asked.filter(({ kind }) => kind === 'attempt')).toEqual([])
          if (crash) pair.crash()
        }
        for (const one of pair.seen) seen.add(one)
      }),
      { numRuns: runs }
    )
  })

  const two: Draft = {
    order: 'arrival',
    parallel: true,
    atomic: false,
    retries: false,
    asks: false,
    nodes: ['stop', 'stop'].map(() => ({ deps: [], writes: true, onError: 'stop', lane: false }))
  }

  /** The first node waits, then the second one fails. */
  function stopped(sent: boolean): { readonly pair: Pair; readonly asks: readonly PumpCommand[] } {
    const pair = new Pair(two)
    pair.execute()
    pair.send({ type: 'attempt.waiting', wait, sent, at: 1 }, 'root/n0')
    const event = {
      type: 'attempt.settled',
      response: failed('broken'),
      sent: false,
      at: 2
    } as const
    const asks = pair.send(event, 'root/n1')
    for (const one of pair.seen) seen.add(one)
    return { pair, asks }
  }

  it('W9: cancels what only waits when a node fails', () => {
    const { pair, asks } = stopped(false)
    expect(pair.value).toBe('"READY"')
    expect(asks.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'cancel root/n0',
      'settled root'
    ])
    expect(asks.at(-1)).toMatchObject({
      response: {
        reason: 'broken',
        details: {
          failed_node: 'n1',
          nodes: { n0: { status: 'cancelled' }, n1: { status: 'failed', reason: 'broken' } }
        }
      }
    })
  })

  it('W9: a node that has sent something finishes before the plan ends', () => {
    const { pair, asks } = stopped(true)
    expect(asks).toMatchObject([{ kind: 'waiting', wait: { request: { waiting: 1 } } }])
    expect(pair.value).toBe('{"WAITING":"stopping"}')
    pair.crash()
    pair.send({ type: 'attempt.resumed', at: 3 }, 'root/n0')
    const event = { type: 'attempt.settled', response: succeeded('sent'), at: 4 } as const
    const ended = pair.send(event, 'root/n0')
    const nodes = { n0: { status: 'done' }, n1: { status: 'failed', reason: 'broken' } }
    expect(ended).toMatchObject([{ kind: 'settled', response: { details: { nodes } } }])
  })

  it('has been in every state', () => {
    const states = [
      '"READY"',
      '{"BUSY":"running"}',
      '{"BUSY":"stopping"}',
      '{"BUSY":"commit"}',
      '{"BUSY":"abort"}',
      '{"WAITING":"running"}',
      '{"WAITING":"stopping"}',
      '{"WAITING":"retry"}',
      '{"WAITING":"decision"}'
    ]
    const missed = states.filter((state) => ![...seen].some((one) => one.startsWith(state)))
    expect(missed).toEqual([])
  })
})
