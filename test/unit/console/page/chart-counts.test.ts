import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineBlock, defineWorkflow } from '../../../../src/code/index.js'
import {
  countsOf,
  edgeKey,
  failedNodes,
  placesOf
} from '../../../../src/console/page/pure/chart-counts.js'
import { pastOf, type RunPast } from '../../../../src/console/page/pure/run-steps.js'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import type { DocumentGraph, WiredRuntime } from '../../../../src/runtime/index.js'
import { RunMoments } from '../../../../src/runtime/run/run-moments.js'
import { cases } from '../../../support/effort.js'
import { openOn } from '../../../support/lives.js'
import '../../../support/seed.js'

/** What the chart says was executed, compared with what actors were told to execute. */

const give = defineBlock({ name: 'give', version: '1.0.0', sideEffects: 'none', run: () => 1 })
const fails = defineBlock({
  name: 'fails',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx) => ctx.fail('no_luck')
})

/** Executions in their order, by path, until it ends. No mock: that would keep each call's run. */
class Watched implements Disposable {
  readonly executed: string[] = []
  readonly #moved = RunMoments.prototype.moved

  constructor() {
    const { executed } = this
    const moved = this.#moved
    RunMoments.prototype.moved = function (...move) {
      const [path, { type }] = move
      if (type === 'block.execute' && path !== 'root') executed.push(path)
      return moved.apply(this, move)
    }
  }

  [Symbol.dispose](): void {
    RunMoments.prototype.moved = this.#moved
  }
}

interface Shown {
  readonly past: RunPast
  readonly graph: DocumentGraph
}

async function shownOf(tally: WiredRuntime): Promise<Shown> {
  const rows = []
  for await (const { text, receiptHash = null } of tally.journal('r')) {
    rows.push({ entry: JSON.parse(text), receiptHash })
  }
  const { graph } = await tally.queries.chart({ id: 'r' })
  return { past: pastOf(rows, rows.length - 1), graph }
}

async function played(document: Json): Promise<Shown & { readonly executed: readonly string[] }> {
  using watched = new Watched()
  const tally = await openOn(openMemoryStore(), { blocks: [give, fails] })
  await tally.begin(document, { id: 'r', inputs: {} }).result
  const shown = await shownOf(tally)
  await tally.close()
  return { ...shown, executed: watched.executed }
}

const count = (paths: readonly string[]) =>
  Object.fromEntries(
    [...new Set(paths)].sort().map((path) => [path, paths.filter((one) => one === path).length])
  )

const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/'))

/** What followed what in each composite that nodes follow one another in. */
function followed(executed: readonly string[]): readonly string[] {
  const last = new Map<string, string>()
  return executed.flatMap((path) => {
    const around = parentOf(path)
    const before = last.get(around)
    last.set(around, path)
    // What is in a composite begins anew with it.
    for (const inner of last.keys()) if (`${inner}/`.startsWith(`${path}/`)) last.delete(inner)
    return before === undefined ? [] : [edgeKey(before, path)]
  })
}

type Shape = 'give' | readonly Shape[]

/** Nodes one behind the other; those of the document lead on as `turns` say. */
function compositeOf(shapes: readonly Shape[], turns?: readonly number[]): JsonObject {
  const nodes = shapes.map((shape, n): readonly [string, Json] => [
    `n${n}`,
    shape === 'give' ? { block: 'give' } : { composite: compositeOf(shape) }
  ])
  const next = (n: number) => (turns === undefined ? n + 1 : (turns[n] ?? 0) % shapes.length)
  const ways = shapes.flatMap((_, n) =>
    next(n) < shapes.length ? [[`n${n}`, `n${next(n)}`] as const] : []
  )
  return {
    entry_point: 'n0',
    nodes: Object.fromEntries(nodes),
    transitions: Object.fromEntries(ways)
  }
}

const shapes = fc.letrec<{ shape: Shape; list: Shape[] }>((tie) => ({
  shape: fc.oneof({ maxDepth: 3 }, fc.constant('give' as const), tie('list')),
  list: fc.array(tie('shape'), { minLength: 1, maxLength: 3 })
})).list

const head = { name: 'counted', version: '1.0.0' }

describe('B3: nodes of the chart', () => {
  it('were executed as often as their actors were told to, and followed one another so', async () => {
    await fc.assert(
      fc.asyncProperty(
        shapes,
        fc.array(fc.nat(2), { minLength: 3, maxLength: 3 }),
        async (list, turns) => {
          const document = { ...head, schema: 'tally-composite/1', max_steps: 9 }
          const { executed, past, graph } = await played({
            ...document,
            ...compositeOf(list, turns)
          })
          const { visits, edges } = countsOf(past.steps, placesOf(graph))
          expect(Object.fromEntries(visits)).toEqual(count(executed))
          expect(Object.fromEntries(edges)).toEqual(count(followed(executed)))
        }
      ),
      { numRuns: cases({ usual: 40, long: 200, soak: 4_000 }) }
    )
  })

  it('were executed as often in a plan, whose nodes run as they get ready', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, async (list) => {
        const nodes = list.map((shape, n) => ({
          id: `n${n}`,
          ...(n === 2 ? { deps: ['n0'] } : {}),
          ...(shape === 'give' ? { block: 'give' } : { composite: compositeOf(shape) })
        }))
        const { executed, past, graph } = await played({ ...head, schema: 'tally-plan/1', nodes })
        const { visits } = countsOf(past.steps, placesOf(graph))
        expect(Object.fromEntries(visits)).toEqual(count(executed))
      }),
      { numRuns: cases({ usual: 20, long: 100, soak: 2_000 }) }
    )
  })

  it('are those of code where it calls a name again, also in atomic parts', async () => {
    const packs = defineWorkflow({
      name: 'packs',
      version: '1.0.0',
      blocks: [give, fails],
      async run(ctx) {
        await ctx.all([1, 2, 3].map(() => ctx.step('pack', give, null)))
        for (let n = 0; n < 2; n += 1) {
          await ctx.atomic('both', (scope) => scope.step('post', give, null))
        }
        await ctx.step('label', fails, null)
        return null
      }
    })
    const tally = await openOn(openMemoryStore(), { workflows: [packs] })
    await (await tally.attach((await tally.start(packs, null, { id: 'r' })).id)).result
    const { past, graph } = await shownOf(tally)
    await tally.close()
    const places = placesOf(graph)
    const { root: _, ...visits } = Object.fromEntries(countsOf(past.steps, places).visits)
    expect(visits).toEqual({ 'root/pack': 3, 'root/both': 2, 'root/both/post': 2, 'root/label': 1 })
    expect([...failedNodes(past.steps, places)].sort()).toEqual(['root', 'root/label'])
  })

  it('have failed where what ended last in them has', async () => {
    const inner = { entry_point: 'x', nodes: { x: { block: 'give' }, y: { block: 'fails' } } }
    const { past, graph } = await played({
      ...head,
      schema: 'tally-composite/1',
      entry_point: 'a',
      nodes: { a: { block: 'give' }, c: { composite: { ...inner, transitions: { x: 'y' } } } },
      transitions: { a: 'c' }
    })
    const failed = failedNodes(past.steps, placesOf(graph))
    expect([...failed].sort()).toEqual(['root', 'root/c', 'root/c/y'])
  })

  it('count nothing of the future, nor what undoes', () => {
    const step = { step: 1, entries: [], from: 0, to: 0, startedAt: 0, endedAt: 0, attempts: 1 }
    const more = { state: 'done', response: null, receiptHash: null } as const
    const steps = [
      { ...step, ...more, path: 'root/a', isFuture: false },
      { ...step, ...more, path: 'root/a~undo.1.1', isFuture: false },
      { ...step, ...more, path: 'root/b', isFuture: true }
    ]
    const graph: DocumentGraph = { kind: 'composite', name: 'n', nodes: [], edges: [] }
    expect(Object.fromEntries(countsOf(steps, placesOf(graph)).visits)).toEqual({ 'root/a': 1 })
  })
})
