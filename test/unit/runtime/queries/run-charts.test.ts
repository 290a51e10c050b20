import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { alterRecords } from '../../../../src/cli/demo/alter.js'
import { defineBlock } from '../../../../src/code/index.js'
import { type Json, limits, ManualClock, type RunId } from '../../../../src/core/index.js'
import { openMemoryStore, type Store } from '../../../../src/ledger/index.js'
import type { ChartAt, DocumentGraph, WiredRuntime } from '../../../../src/runtime/index.js'
import { ComparedRuns } from '../../../../src/runtime/queries/compared-runs.js'
import { RunCharts } from '../../../../src/runtime/queries/run-charts.js'
import { lasting } from '../../../support/lasting-store.js'
import { openOn, testKeys } from '../../../support/lives.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'

const give = defineBlock({
  name: 'give',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['give'],
  run: (_, input) => ({ given: input as Json })
})
const pay = defineBlock({
  name: 'pay',
  version: '1.0.0',
  sideEffects: 'idempotent',
  run: (ctx) => ctx.effect('bank', { request: 1, perform: () => 'paid' })
})

const inner: Json = {
  schema: 'tally-composite/1',
  name: 'inner',
  version: '1.0.0',
  entry_point: 'give',
  nodes: { give: { block: 'give' } }
}
const outer: Json = {
  schema: 'tally-composite/1',
  name: 'outer',
  version: '1.0.0',
  entry_point: 'give',
  max_steps: 400,
  nodes: {
    give: { block: 'give' },
    pay: { block: 'pay', confirm: true },
    used: { use: 'inner' },
    own: {
      composite: { entry_point: 'deep', nodes: { deep: { block: 'pay' } } }
    }
  },
  transitions: {
    give: [
      { condition: { cel: 'response.data.given == 1' }, target: 'pay' },
      { condition: 'rich', target: 'own' },
      { condition: 'default', target: 'used' }
    ],
    used: 'own'
  }
}
const plan: Json = {
  schema: 'tally-plan/1',
  name: 'both',
  version: '1.0.0',
  nodes: [
    { id: 'a', block: 'give' },
    { id: 'b', block: 'pay', deps: ['a'] }
  ]
}

async function opened(store: Store = openMemoryStore()): Promise<WiredRuntime> {
  return openOn(store, {
    blocks: [give, pay],
    composites: [inner],
    conditions: { rich: () => false },
    clock: new ManualClock(1_700_000_000_000)
  })
}

async function graphOf(tally: WiredRuntime, id: string): Promise<DocumentGraph> {
  return (await tally.queries.chart({ id })).graph
}

/** Paths of all nodes, those of inner graphs too. */
function pathsIn({ nodes }: DocumentGraph): readonly string[] {
  return nodes.flatMap(({ path, graph }) => [path, ...(graph === undefined ? [] : pathsIn(graph))])
}

describe('the chart of a run', () => {
  it('draws a composite with those inside it, in the order of first match', async () => {
    await using tally = await opened()
    await tally.begin(outer, { id: 'one' }).result
    const graph = await graphOf(tally, 'one')
    expect(graph).toMatchObject({ kind: 'composite', name: 'outer' })
    expect(graph.edges).toEqual([
      { from: 'give', to: 'pay', order: 1, when: 'response.data.given == 1' },
      { from: 'give', to: 'own', order: 2, when: 'rich' },
      { from: 'give', to: 'used', order: 3, when: null },
      { from: 'used', to: 'own', order: 1, when: null }
    ])
    expect(graph.nodes).toMatchObject([
      { id: 'give', does: 'give', confirm: false, sideEffects: 'none' },
      { id: 'own', does: 'composite', graph: { name: 'own' } },
      { id: 'pay', does: 'pay', confirm: true, sideEffects: 'idempotent' },
      { id: 'used', does: 'inner', graph: { kind: 'composite', name: 'inner' } }
    ])
    // Receipts name the same paths.
    const paths = new Set(pathsIn(graph))
    for await (const { receipt } of tally.receipts()) {
      const { action, run } = receipt.inputPayload
      if (action !== 'run.completed') expect(paths).toContain(run?.path)
    }
    expect(paths.size).toBe(6)
  })

  it('draws plans without an order, and a lone intent as one node', async () => {
    await using tally = await opened()
    await tally.begin(plan, { id: 'two' }).result
    expect(await graphOf(tally, 'two')).toMatchObject({
      kind: 'plan',
      nodes: [{ path: 'root/a' }, { path: 'root/b', sideEffects: 'idempotent' }],
      edges: [{ from: 'a', to: 'b', order: null, when: null }]
    })
    await tally.intent({ id: 'lone', action: 'give' })
    expect(await graphOf(tally, 'lone')).toMatchObject({
      kind: 'intent',
      nodes: [{ path: 'root', does: 'give' }],
      edges: []
    })
  })

  it('refuses runs that are not there', async () => {
    await using tally = await opened()
    const missing = { code: 'run.not_found' }
    await expect(tally.queries.chart({ id: 'none' })).rejects.toMatchObject(missing)
    await expect(tally.queries.chartAt({ id: 'none', entry: 0 })).rejects.toMatchObject(missing)
  })
})

describe('the chart of a run at an entry', () => {
  it('is the same forwards, backwards and by itself, over every 256th entry', async () => {
    await using tally = await opened()
    const nodes = Array.from({ length: 200 }, (_, n) => [`n${n}`, { block: 'give' }] as const)
    const long: Json = {
      schema: 'tally-composite/1',
      name: 'long',
      version: '1.0.0',
      max_steps: 400,
      entry_point: 'n0',
      nodes: Object.fromEntries(nodes) as Json,
      transitions: Object.fromEntries(
        nodes.slice(1).map(([id], n) => [`n${n}`, id] as const)
      ) as Json
    }
    await tally.begin(long, { id: 'long' }).result
    await tally.begin(outer, { id: 'other' }).result
    const entries = tally.run('long')?.entries ?? 0
    expect(entries).toBeGreaterThan(200)
    const at = (entry: number) => tally.queries.chartAt({ id: 'long', entry })
    const forwards = []
    for (let entry = 0; entry < entries; entry += 7) forwards.push(await at(entry))
    for (const one of [...forwards].reverse()) expect(await at(one.entry)).toEqual(one)
    // Another run takes its place, and it is folded anew.
    await tally.queries.chartAt({ id: 'other' })
    const [middle] = forwards.slice(-9)
    expect(await at(middle?.entry ?? 0)).toEqual(middle)
    const last = await tally.queries.chartAt({ id: 'long' })
    expect(last).toEqual(await at(entries + 1_000))
    expect(last).toMatchObject({ entry: entries - 1, status: 'done' })
    expect(last.actors).toHaveLength(201)
    expect(limits.PICTURE_ENTRIES_BETWEEN).toBe(256)
  })

  it('follows a run that goes on', async () => {
    await using tally = await opened()
    const confirming: Json = { ...(outer as object), entry_point: 'pay' }
    const run = tally.begin(confirming, { id: 'live' })
    for await (const event of run) if (event.type === 'run.parked') break
    const before = await tally.queries.chartAt({ id: 'live' })
    expect(before.actors).toMatchObject([
      { path: 'root', mark: 'WAITING' },
      { path: 'root/pay', mark: 'WAITING', ended: null, attempt: 1 }
    ])
    const [wait] = await run.waits()
    await run.approve(wait?.token ?? '', { digest: wait?.digest ?? '' })
    await run.result
    const after = await tally.queries.chartAt({ id: 'live' })
    expect(after).toMatchObject({ status: 'done' })
    expect(after.actors.map(({ ended }) => ended)).toEqual(['succeeded', 'succeeded'])
    expect(await tally.queries.chartAt({ id: 'live', entry: before.entry })).toEqual(before)
  })

  it('Q3: is of no altered journal, and of what comes before nothing, nor are calls', async () => {
    expectVerifyFailure('journal.code')
    // Of the last entry, which the record of the run has too.
    expectVerifyFailure('derived.run')
    const store = openMemoryStore()
    const honest = await opened(lasting(store))
    await honest.begin(outer, { id: 'one' }).result
    const entries = honest.run('one')?.entries ?? 0
    const right = await momentsOf(honest, 'one')
    const codes = await codesOf(honest, 'one')
    await honest.close()
    const refused: number[] = []
    let shown = 0
    for (let entry = 0; entry < entries; entry += 1) {
      const copy = await copyOf(store)
      expect(await alterRecords(copy, testKeys.identity, later(entry))).toBe(1)
      const tally = await opened(copy)
      const forged = { code: 'run.journal_forged' }
      const { calls, chart, chartAt } = tally.queries
      await chart({ id: 'one' }).catch(() => refused.push(entry))
      // Each moment, and again: what was refused is not kept.
      for (const at of [0, entries, ...right.keys(), 0]) {
        const code = codes.find((place) => place >= at) ?? entries - 1
        const asked = chartAt({ id: 'one', entry: at })
        if (code < entry && code < entries - 1) {
          expect(await asked, `${entry} at ${at}`).toEqual(right[at])
          shown += 1
        } else await expect(asked, `${entry} at ${at}`).rejects.toMatchObject(forged)
        const called = calls({ id: 'one', path: 'root', step: at })
        await expect(called, `${entry}`).rejects.toMatchObject(forged)
      }
      await tally.close()
    }
    expect(shown).toBeGreaterThan(entries)
    expect(refused[0]).toBe(0)
    expect(refused).not.toContain(entries - 1)
    const sound = await opened(await copyOf(store))
    expect(await sound.queries.chartAt({ id: 'one' })).toMatchObject({ status: 'done' })
    await sound.close()
  })

  it('Q3: goes on comparing where it had come to', async () => {
    expectVerifyFailure('journal.code')
    const store = openMemoryStore()
    const honest = await opened(lasting(store))
    await honest.begin(outer, { id: 'one' }).result
    const right = await momentsOf(honest, 'one')
    await honest.close()
    const tally = await opened(store)
    const { chartAt } = tally.queries
    expect(await chartAt({ id: 'one', entry: 0 })).toEqual(right[0])
    const last = right.length - 2
    expect(await alterRecords(store, testKeys.identity, later(last))).toBe(1)
    const forged = { code: 'run.journal_forged' }
    await expect(chartAt({ id: 'one' })).rejects.toMatchObject(forged)
    expect(await chartAt({ id: 'one', entry: 0 })).toEqual(right[0])
    await expect(chartAt({ id: 'one', entry: last })).rejects.toMatchObject(forged)
    await tally.close()
  })

  it('Q1: is what a fold from the beginning gives, in any order of questions', async () => {
    const store = openMemoryStore()
    const written = await opened(lasting(store))
    // More runs than are kept, of some entries each.
    const ids = Array.from({ length: limits.PICTURES_MAX + 4 }, (_, n) => `run-${n}`)
    for (const [n, id] of ids.entries()) {
      await written.begin(n % 3 === 0 ? plan : outer, { id }).result
    }
    const right = new Map<string, readonly ChartAt[]>()
    for (const id of ids) right.set(id, await momentsOf(written, id))
    await written.close()
    const question = fc.record({ id: fc.constantFrom(...ids), place: fc.nat(20) })
    await fc.assert(
      fc.asyncProperty(fc.array(question, { minLength: 40, maxLength: 80 }), async (questions) => {
        const tally = await opened(lasting(store))
        for (const { id, place } of questions) {
          const moments = right.get(id) ?? []
          const entry = place % moments.length
          expect(await tally.queries.chartAt({ id, entry })).toEqual(moments[entry])
        }
        await tally.close()
      }),
      { numRuns: 6 }
    )
  })
})

/** Each moment of a run, each folded from the beginning. */
async function momentsOf(tally: WiredRuntime, id: string): Promise<readonly ChartAt[]> {
  const moments: ChartAt[] = []
  const entries = tally.run(id)?.entries ?? 0
  for (let entry = 0; entry < entries; entry += 1) {
    const { ledger, registry } = tally
    const compared = new ComparedRuns({ ledger, isLive: () => false })
    const charts = new RunCharts({ ledger, registry, compared })
    moments.push(await charts.chartAt(id as RunId, entry))
  }
  return moments
}

/** Entries of a run behind which a code stands. */
async function codesOf({ ledger }: WiredRuntime, id: string): Promise<readonly number[]> {
  const codes: number[] = []
  for await (const { n, mac } of ledger.journal(id as RunId)) if (mac !== undefined) codes.push(n)
  return codes
}

/** Alters the time of an entry. */
function later(entry: number): (text: string) => string {
  const found = new RegExp(`(\\nJ\\{"at":)(\\d+)(,[^\\n]*"n":${entry},)`)
  return (text) =>
    text.replace(
      found,
      (_, before: string, at: string, after: string) => `${before}${Number(at) + 1}${after}`
    )
}

async function copyOf(store: Store): Promise<Store> {
  const copy = openMemoryStore()
  const puts: (readonly [string, Uint8Array])[] = []
  for await (const put of store.entries({ gte: '', lt: '\uffff' })) puts.push(put)
  await copy.commit([{ puts, deletes: [] }])
  return copy
}
