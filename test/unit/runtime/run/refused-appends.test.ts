import { afterEach, describe, expect, it } from 'vitest'
import {
  type BlockContext,
  defineBlock,
  defineWorkflow,
  type WorkflowContext
} from '../../../../src/code/index.js'
import type { RunId } from '../../../../src/core/index.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import type { WiredRuntime } from '../../../../src/runtime/index.js'
import { openOn } from '../../../support/lives.js'

const unheard: unknown[] = []
const hear = (reason: unknown) => unheard.push(reason)

afterEach(() => {
  process.off('unhandledRejection', hear)
  unheard.length = 0
})

type Call = (ctx: BlockContext) => Promise<unknown>
const calls: Readonly<Record<string, Call>> = {
  'a write': (ctx) => ctx.effect('post', { request: 1, perform: () => 1 }),
  'a sleep': (ctx) => ctx.sleep(1_000),
  'a wait': (ctx) => ctx.wait({ reason: 'external' }),
  'a signal': (ctx) => ctx.signal('item'),
  'what it publishes': (ctx) => ctx.publish('stage', 1)
}

const nothing = defineBlock({
  name: 'nothing',
  version: '1.0.0',
  sideEffects: 'none',
  run: () => null
})

type Step = (ctx: WorkflowContext) => Promise<unknown>
const steps: Readonly<Record<string, Step>> = {
  'a step': (ctx) => ctx.step('nothing', nothing, null),
  'a step that is a function': (ctx) => ctx.step('add', () => 1),
  'an atomic part': (ctx) => ctx.atomic(async () => null),
  'a child': (ctx) => ctx.child(child, null, { id: 'child' }),
  'a sleep': (ctx) => ctx.sleep(1_000),
  'a signal': (ctx) => ctx.signal('item')
}
const child = defineWorkflow({ name: 'child', version: '1.0.0', run: async () => null })

/** Makes the ledger refuse everything, and calls; says what the code was told. */
function refusing<Ctx>(of: { tally?: WiredRuntime }, call: (ctx: Ctx) => Promise<unknown>) {
  const told: unknown[] = []
  const run = async (ctx: Ctx): Promise<null> => {
    of.tally?.ledger.enterSafeMode({ code: 'ledger.corrupt', message: 'a test says so' })
    void call(ctx)
    await call(ctx).then(
      (value) => told.push({ value }),
      (error) => told.push(error)
    )
    return null
  }
  return { run, told }
}

async function expectUntold(
  tally: WiredRuntime,
  result: Promise<unknown>,
  told: readonly unknown[]
): Promise<void> {
  process.on('unhandledRejection', hear)
  await expect(result).rejects.toMatchObject({ code: 'ledger.safe_mode' })
  // A rejection that nobody has heard is told after the microtasks of its turn.
  await new Promise((resolve) => setImmediate(resolve))
  expect([told, unheard]).toEqual([[], []])
  await tally.close()
}

const documentOf = (block: string) => ({
  schema: 'tally-composite/1',
  name: 'one',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block } },
  transitions: {}
})

describe('L4, D2: a start that the ledger refuses is not accepted', () => {
  const starts: Readonly<Record<string, (tally: WiredRuntime) => Promise<unknown>>> = {
    'of a document': (tally) => tally.start(documentOf('nothing'), { id: 'r' }),
    'of a workflow in code': (tally) => tally.start(child, null, { id: 'r' }),
    'that waits in a queue': (tally) => tally.start(child, null, { id: 'r', queue: 'orders' })
  }

  it.each(Object.keys(starts))('%s', async (name) => {
    const queues = { orders: { concurrency: 1 } }
    const given = { blocks: [nothing], workflows: [child], queues }
    const tally = await openOn(openMemoryStore(), given)
    tally.ledger.enterSafeMode({ code: 'ledger.corrupt', message: 'a test says so' })
    await expect(starts[name]?.(tally)).rejects.toMatchObject({ code: 'ledger.safe_mode' })
    expect(tally.ledger.run('r' as RunId)).toBeUndefined()
    await tally.close()
  })
})

describe('L4, D1: what the ledger refuses ends the driving of a run and reaches no code', () => {
  it.each(Object.keys(calls))('in a block: %s', async (name) => {
    const of: { tally?: WiredRuntime } = {}
    const { run, told } = refusing(of, calls[name] as Call)
    const block = defineBlock({ name: 'acts', version: '1.0.0', sideEffects: 'idempotent', run })
    const tally = await openOn(openMemoryStore(), { blocks: [block] })
    of.tally = tally
    await expectUntold(tally, tally.begin(documentOf('acts')).result, told)
  })

  it.each(Object.keys(steps))('in a workflow in code: %s', async (name) => {
    const of: { tally?: WiredRuntime } = {}
    const { run, told } = refusing(of, steps[name] as Step)
    const blocks = [nothing]
    const workflow = defineWorkflow({ name: 'flow', version: '1.0.0', blocks, run })
    const tally = await openOn(openMemoryStore(), { workflows: [workflow, child] })
    of.tally = tally
    await expectUntold(tally, tally.begin(workflow, null).result, told)
  })
})
