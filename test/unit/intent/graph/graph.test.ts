import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { defineBlock, EffectFailure } from '../../../../src/code/index.js'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { parseGraph } from '../../../../src/intent/graph/parse.js'
import { graphJsonSchema } from '../../../../src/intent/graph/schema.js'
import { createRuntime, type WiredRuntime } from '../../../../src/runtime/index.js'

/** Providers of the seed's wallet: what they keep is in state, so an atomic graph can undo it. */
const wallet = [
  defineBlock({
    name: 'wallet.book',
    version: '1',
    sideEffects: 'none',
    intents: ['finance.balance'],
    run: (ctx) => ({ balance: ctx.state.get<number>('balance') ?? 100 })
  }),
  defineBlock({
    name: 'wallet.pay',
    version: '1',
    sideEffects: 'none',
    intents: ['finance.transactions'],
    run: (ctx, input) => {
      const { amount, $deps, $prev } = input as unknown as {
        readonly amount: number
        readonly $deps: { readonly balance: { readonly balance: number } }
        readonly $prev?: Json
      }
      if (amount > $deps.balance.balance) return ctx.fail('insufficient_funds')
      ctx.state.set('balance', $deps.balance.balance - amount)
      return { paid: amount, deps: Object.keys($deps), prev: $prev ?? null }
    }
  }),
  defineBlock({
    name: 'contacts.book',
    version: '1',
    sideEffects: 'none',
    intents: ['contacts.validate'],
    run: (_, input) => ({ valid: (input as { readonly recipient: string }).recipient !== '' })
  }),
  defineBlock({
    name: 'messages.box',
    version: '1',
    sideEffects: 'none',
    intents: ['messages.send'],
    run: (ctx, input) => {
      const { message } = input as { readonly message: string }
      if (message === 'bad') return ctx.fail('not_delivered')
      ctx.state.set('last', message)
      return { sent: true }
    }
  })
]

let tries = 0
const shaky = defineBlock({
  name: 'shaky',
  version: '1',
  sideEffects: 'none',
  run: async (ctx) =>
    ctx.effect('shake', async () => {
      tries += 1
      if (tries < 3) throw new EffectFailure('not_yet')
      return { tries }
    })
})
const broken = defineBlock({
  name: 'broken',
  version: '1',
  sideEffects: 'none',
  run: (ctx) => ctx.fail('broken')
})
/** Two that serve one action: the longer form of it is served by the second. */
const letters = [
  defineBlock({
    name: 'letters.fast',
    version: '1',
    sideEffects: 'non_idempotent',
    intents: ['post.letter'],
    run: (ctx) => ctx.fail('no_stamps')
  }),
  defineBlock({
    name: 'letters.slow',
    version: '1',
    sideEffects: 'non_idempotent',
    intents: ['post'],
    run: () => ({ posted: true })
  })
]

const balance = { id: 'balance', action: 'finance.balance' }
const send = (more: JsonObject = {}): JsonObject => ({
  id: 'send',
  action: 'finance.transactions',
  depends_on: ['balance'],
  args: { target: 'Alice', amount: 10 },
  ...more
})
const complex = (message: string): readonly JsonObject[] => [
  { id: 'validate', action: 'contacts.validate', args: { recipient: 'Alice' } },
  balance,
  send({ depends_on: ['validate', 'balance'] }),
  {
    id: 'notify',
    action: 'messages.send',
    depends_on: ['send'],
    args: { recipient: 'Alice', message }
  }
]

let tally: WiredRuntime
afterEach(() => tally.close())

async function run(graph: JsonObject) {
  tries = 0
  tally = await createRuntime({
    location: 'memory:',
    blocks: [...wallet, ...letters, shaky, broken]
  })
  const document = { schema: 'tally-graph/1', name: 'pay', ...graph }
  const before = tally.ledger.roots().execution
  const { response } = await tally.begin(document, { inputs: null }).result
  const report = await tally.verify({ executions: 2 })
  expect(report.failure).toBeUndefined()
  return { response, report, before }
}

describe('execution graphs (C1)', () => {
  it('C2: runs the simple composite of the seed, with bare results for dependents', async () => {
    const { response, report } = await run({ steps: [balance, send()] })
    expect(response.data).toEqual({
      results: {
        balance: { balance: 100 },
        send: { paid: 10, deps: ['balance'], prev: { balance: 100 } }
      }
    })
    expect(report.receipts).toBe(3)
  })

  it('C2: gives $prev only with exactly one dependency', async () => {
    const { response } = await run({ steps: complex('Payment sent') })
    expect(response.data).toMatchObject({
      results: { send: { deps: ['balance', 'validate'], prev: null }, notify: { sent: true } }
    })
  })

  it('C1: the first error stops, and what was done before stays done', async () => {
    const { response, report } = await run({ steps: complex('bad') })
    expect(response).toMatchObject({
      success: false,
      reason: 'not_delivered',
      details: { failed_node: 'notify', nodes: { send: { status: 'done' } } }
    })
    expect(report.receipts).toBe(3)
    expect(tally.ledger.read('balance')).toBe('90')
  })

  it('C1: an atomic graph leaves one receipt', async () => {
    const { response, report } = await run({ atomic: true, steps: complex('sent') })
    expect(response.success).toBe(true)
    // Its own, and the one of the run.
    expect(report.receipts).toBe(2)
    expect(tally.ledger.read('balance')).toBe('90')
  })

  it('C4: a rolled back atomic graph leaves the state root as it was', async () => {
    const { response, report, before } = await run({ atomic: true, steps: complex('bad') })
    expect(response).toMatchObject({ reason: 'not_delivered', details: { failed_node: 'notify' } })
    expect(report.receipts).toBe(0)
    expect(tally.ledger.read('balance')).toBeUndefined()
    expect(tally.ledger.roots().execution).toBe(before)
  })

  it('C3: tries again, and then asks the next provider', async () => {
    const { response } = await run({
      steps: [
        { id: 'a', block: 'shaky', retries: 2 },
        { id: 'b', block: 'broken', providers: ['messages.box'], args: { message: 'x' } }
      ]
    })
    expect(response.data).toEqual({ results: { a: { tries: 3 }, b: { sent: true } } })
  })

  it('C3: asks the next provider, also one of an intent, where trying again is unsafe', async () => {
    const { response } = await run({
      retries: 2,
      steps: [
        { id: 'a', block: 'broken', side_effects: 'non_idempotent', providers: ['messages.box'] },
        { id: 'b', action: 'post.letter', providers: ['letters.slow'] }
      ]
    })
    expect(response.data).toEqual({ results: { a: { sent: true }, b: { posted: true } } })
  })
})

describe('a graph document', () => {
  const problems = (graph: JsonObject) => {
    const parsed = parseGraph({ schema: 'tally-graph/1', name: 'pay', ...graph })
    return parsed.ok ? [] : parsed.diagnostics.map(({ path, message }) => [path.join('.'), message])
  }

  it('C1, C2: refuses what cannot run', () => {
    const atomic = problems({ atomic: true, steps: [balance] })
    expect(atomic).toEqual([['steps', 'an atomic graph has at least two steps']])
    expect(problems({ steps: [send()] })).toEqual([['steps.0.depends_on.0', 'no node balance']])
    expect(problems({ steps: [balance, balance] })).toEqual([
      ['steps.1.id', 'two nodes have the id balance']
    ])
    const circle = [
      { ...balance, depends_on: ['send'] },
      { ...send(), depends_on: ['balance'] }
    ]
    expect(problems({ steps: circle })).toEqual([
      ['steps.0.depends_on', 'the nodes depend on each other: balance -> send -> balance']
    ])
    expect(problems({ steps: [{ id: 'a' }] })).toEqual([
      ['steps.0', 'a step has exactly one of action and block']
    ])
    expect(problems({ steps: [{ ...balance, args: { $deps: 1 } }] })).toEqual([
      ['steps.0.args.$deps', 'names that begin with $ are reserved']
    ])
    expect(problems({ steps: [balance], more: 1 })).toHaveLength(1)
  })

  it('has a published schema', () => {
    const text = readFileSync('docs/schema/tally-graph-1.json', 'utf8')
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(graphJsonSchema())))
  })
})
