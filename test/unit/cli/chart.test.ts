import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { chartLines } from '../../../src/cli/frame/chart.js'
import { painter } from '../../../src/cli/frame/text.js'
import type { ChartAt, DocumentGraph, RunChart, RunSummary } from '../../../src/runtime/index.js'
import { openReader } from '../../../src/runtime/index.js'

const plain = painter(false)
const node = (id: string, more = {}) => ({
  path: `root/${id}`,
  id,
  does: `shop.${id}`,
  sideEffects: 'none',
  confirm: false,
  ...more
})
const edge = (from: string, to: string, order: number | null = 1, when: string | null = null) => ({
  from,
  to,
  order,
  when
})
const actor = (path: string, more: object) => ({
  path,
  mark: 'READY' as const,
  value: 'READY',
  step: 1,
  attempt: 1,
  ended: null,
  ...more
})

describe('a chart in the terminal', () => {
  it('has the nodes as the document leads, and marks where each stands', () => {
    const inner: DocumentGraph = {
      kind: 'composite',
      name: 'pay',
      nodes: [{ ...node('charge'), path: 'root/pay/charge' }],
      edges: []
    }
    const graph: DocumentGraph = {
      kind: 'composite',
      name: 'order',
      nodes: [
        node('done', { sideEffects: 'idempotent' }),
        node('lost'),
        node('pay', { graph: inner, does: 'composite', confirm: true }),
        node('quote')
      ],
      edges: [
        edge('quote', 'done', 2),
        edge('quote', 'pay', 1, 'response.data.price > 10'),
        edge('pay', 'lost'),
        edge('pay', 'pay', 2, 'again')
      ]
    }
    const at = {
      actors: [
        actor('root/quote', { ended: 'succeeded' }),
        actor('root/pay', { mark: 'WAITING', step: 2, attempt: 3 }),
        actor('root/pay/charge', { mark: 'BUSY' }),
        actor('root/lost', { ended: 'failed' })
      ]
    } as unknown as ChartAt
    expect(chartLines(plain, graph, at).map(({ value }) => value.trimEnd())).toEqual([
      'order composite',
      '├─ ✓ quote  shop.quote             done, step 1',
      '│      1 → pay when response.data.price > 10',
      '│      2 → done',
      '├─ ? pay    composite, asks first  waits, step 2, attempt 3',
      '│      1 → lost',
      '│      2 → pay when again',
      '│  └─ ▶ charge  shop.charge  runs, step 1',
      '├─ · done   shop.done, idempotent',
      '└─ ✗ lost   shop.lost              failed, step 1'
    ])
    expect(chartLines(plain, graph, undefined)[1]?.value).toContain('· quote')
    expect(chartLines(painter(true), graph, at)[4]?.value).toContain('\u001b[33m?\u001b[0m')
  })

  it('shows what is at work of calls that code makes at once, with what they are called', () => {
    const graph: DocumentGraph = { kind: 'function', name: 'o', nodes: [node('pack')], edges: [] }
    const shown = (...marks: readonly object[]) => {
      const actors = marks.map((more, n) => actor(`root/pack${n === 0 ? '' : `.${n + 1}`}`, more))
      return chartLines(plain, graph, { actors } as unknown as ChartAt)[1]?.value
    }
    const done = { ended: 'succeeded' }
    expect(shown(done, { mark: 'WAITING', step: 2 }, { mark: 'BUSY', step: 3 })).toMatch(
      /runs, step 3/
    )
    expect(shown(done, { mark: 'WAITING', step: 2 })).toMatch(/waits, step 2/)
    expect(shown(done, { ended: 'failed', step: 2 })).toMatch(/failed, step 2/)
  })

  it('has each node once, also of a cycle and of a plan', () => {
    const nodes = ['a', 'b', 'c'].map((id) => node(id))
    const cycle = [edge('a', 'b'), edge('b', 'a'), edge('c', 'c')]
    const drawn = (edges: DocumentGraph['edges']) =>
      chartLines(plain, { kind: 'plan', name: 'p', nodes, edges }, undefined).map(
        ({ value }) => value
      )
    expect(drawn(cycle).filter((line) => line.includes('·'))).toHaveLength(3)
    const plan = [edge('c', 'a', null, 'ok'), edge('b', 'a', null, 'ok')]
    expect(
      drawn(plan)
        .slice(1)
        .map((line) => line.trimEnd())
    ).toEqual(['├─ · b  shop.b', '├─ · c  shop.c', '└─ · a  shop.a', '       needs c, b when ok'])
  })

  it('T23: steers no terminal', () => {
    const evil = '\u001b[2J\u202e\r\n'
    const graph: DocumentGraph = {
      kind: 'flow',
      name: evil,
      nodes: [node(evil, { does: evil })],
      edges: [edge(evil, evil, 1, evil)]
    }
    for (const { value } of chartLines(plain, graph, undefined)) {
      expect(value).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    }
  })

  it('is drawn of runs of every kind of document', async () => {
    const kinds = new Set<string>()
    for (const name of golden()) {
      const reader = await openReader(name)
      const ask = (method: string, params: object) =>
        reader.service({ method, params: params as never, signal: new AbortController().signal })
      for await (const run of ask('runs', {}) as AsyncIterable<unknown>) {
        const { id } = run as RunSummary
        const { graph } = (await ask('chart', { id })) as unknown as RunChart
        const at = (await Promise.resolve(ask('chartAt', { id })).catch(() => undefined)) as
          | ChartAt
          | undefined
        const lines = chartLines(plain, graph, at).map(({ value }) => value)
        for (const { id: shown } of graph.nodes) {
          expect(lines.some((line) => line.includes(shown.slice(0, 30)))).toBe(true)
        }
        kinds.add(graph.kind)
      }
      await reader.close()
    }
    expect([...kinds].sort()).toEqual(['composite', 'flow', 'intent', 'plan', 'workflow'])
  })
})

/** Ledgers of the vectors that have composites, plans, flows, intents and workflows. */
function golden(): readonly string[] {
  const folder = fileURLToPath(new URL('../../vectors/ledgers/', import.meta.url))
  const wanted = /^(agents|composites|intents|plans|workflows?)\.snapshot\.gz$/
  return readdirSync(folder)
    .filter((name) => wanted.test(name))
    .map((name) => `${folder}${name}`)
}
