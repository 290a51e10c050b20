import * as fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import type { Json } from '../../src/core/index.js'
import { openMemoryStore } from '../../src/ledger/index.js'
import type { WiredRuntime } from '../../src/runtime/runtime.js'
import { openOn } from '../support/lives.js'

const runs = process.env['SOAK'] === undefined ? 15 : 500

/** What a step does to the state; `fail` ends what is around it. */
type Step =
  | { readonly deed: 'put' | 'take' | 'copy' | 'fail'; readonly key: number }
  | { readonly deed: 'nest'; readonly atomic: boolean; readonly steps: readonly Step[] }

const block = defineBlock({
  name: 'step',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['step.do'],
  run: async (ctx, input) => {
    const { deed, key } = input as { readonly deed: string; readonly key: number }
    const name = `k/${key}`
    if (deed === 'put') ctx.state.set(name, ctx.path)
    if (deed === 'take') ctx.state.delete(name)
    if (deed === 'copy') ctx.state.set(`all/${key}`, await ctx.state.list('k/'))
    return deed === 'fail' ? ctx.fail('on_purpose', { key }) : { deed }
  }
})

const leaf: fc.Arbitrary<Step> = fc.record({
  deed: fc.constantFrom('put', 'take', 'copy'),
  key: fc.nat(3)
})
const failing: Step = { deed: 'fail', key: 0 }

/** Steps one of which fails, at any depth. */
const doomed: fc.Arbitrary<readonly Step[]> = fc.letrec<{
  steps: readonly Step[]
  nest: Step
}>((tie) => ({
  nest: fc.record({ deed: fc.constant('nest'), atomic: fc.boolean(), steps: tie('steps') }),
  steps: fc
    .tuple(
      fc.array(leaf, { minLength: 1, maxLength: 3 }),
      fc.oneof({ depthSize: 'small', withCrossShrink: true }, fc.constant(failing), tie('nest')),
      fc.array(leaf, { maxLength: 2 })
    )
    .map(([before, fails, after]) => [...before, fails, ...after])
})).steps

function compositeOf(steps: readonly Step[]): { readonly [member: string]: Json } {
  const nodes = steps.map((step, index): readonly [string, Json] => [
    `n${index}`,
    step.deed === 'nest'
      ? { composite: { atomic: step.atomic, ...compositeOf(step.steps) } }
      : { block: 'step', input: { lit: { ...step } } }
  ])
  const next = nodes.slice(1).map(([name], index): readonly [string, Json] => [`n${index}`, name])
  return {
    entry_point: 'n0',
    nodes: Object.fromEntries(nodes),
    transitions: Object.fromEntries(next)
  }
}

const document = (steps: readonly Step[]): Json => ({
  schema: 'tally-composite/1',
  name: 'doomed',
  version: '1.0.0',
  entry_point: 'all',
  nodes: { all: { composite: { atomic: true, ...compositeOf(steps) } } }
})

let tally: WiredRuntime | undefined
let started = 0

/** One ledger for all, with more in it before every rollback. */
async function rolledBack(rolled: Json): Promise<void> {
  tally ??= await openOn(openMemoryStore(), { blocks: [block] })
  started += 1
  const put = { action: 'step.do', payload: { deed: 'put', key: started % 4 } } as const
  await tally.intent({ id: `put-${started}`, ...put })
  const before = tally.ledger.roots()
  const { receipts } = tally.ledger.state()
  const { status, response } = await tally.begin(rolled, { id: `doomed-${started}` }).result
  expect([status, response.reason]).toEqual(['failed', 'on_purpose'])
  expect(tally.ledger.roots()).toEqual(before)
  expect(tally.ledger.state().receipts).toBe(receipts)
}

afterAll(async () => tally?.close())

describe('the state root after a rollback', () => {
  it('C4, L8: is the one before, whatever a composite did, at any depth', async () => {
    await fc.assert(
      fc.asyncProperty(doomed, (steps) => rolledBack(document(steps))),
      { numRuns: runs }
    )
  })

  it('C4, C1: is the one before for a graph of intents that fails anywhere', async () => {
    const graph = fc.record({
      drafts: fc.array(fc.tuple(leaf, fc.array(fc.nat(), { maxLength: 2 })), {
        minLength: 1,
        maxLength: 6
      }),
      at: fc.nat()
    })
    await fc.assert(
      fc.asyncProperty(graph, async ({ drafts, at }) => {
        const place = at % (drafts.length + 1)
        const all: (readonly [Step, readonly number[]])[] = [...drafts]
        all.splice(place, 0, [failing, []])
        const steps = all.map(([args, picks], index) => ({
          id: `n${index}`,
          action: 'step.do',
          args: { ...args } as Json,
          depends_on: [...new Set(index === 0 ? [] : picks.map((pick) => `n${pick % index}`))]
        }))
        await rolledBack({
          schema: 'tally-graph/1',
          name: 'doomed',
          version: '1.0.0',
          atomic: true,
          steps
        })
      }),
      { numRuns: runs }
    )
  })

  it('P1: and each of the rollbacks is done again by a verification', async () => {
    const report = await tally?.verify()
    expect(report?.failure).toBeUndefined()
    expect(report?.reexecutedFailures).toBeGreaterThan(runs)
    expect(report?.notChecked.join()).not.toContain('not checked')
  })
})
