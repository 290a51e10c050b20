import { describe, expect, it } from 'vitest'
import { type BlockContext, defineBlock, EffectFailure } from '../../../src/code/index.js'
import type { Json, RunId } from '../../../src/core/index.js'
import type { RunHandle } from '../../../src/runtime/index.js'
import type { WiredRuntime } from '../../../src/runtime/runtime.js'
import { settleDown } from '../../support/lives.js'
import { type Recorded, recordedLives, rewritten } from '../../support/rewrite.js'

/**
 * A block acts, and is run again on another state by the next process: what it then drops has
 * happened outside all the same, and the evidence of its failure says so.
 */
interface Case {
  /** What the block does after its first read, on the first state and on the other. */
  readonly first: (ctx: BlockContext) => Promise<unknown>
  readonly other: (ctx: BlockContext) => Promise<unknown>
  readonly ending?: 'answer' | 'cancel'
  readonly node?: Readonly<Record<string, Json>>
  readonly landed?: readonly string[]
  readonly inDoubt?: readonly string[]
}

const send = (ctx: BlockContext) => ctx.effect('send', { request: 'same', perform: () => 1 })
const lose = (ctx: BlockContext) =>
  ctx.effect('lose', {
    perform: () => {
      throw new EffectFailure('gone')
    }
  })
const ask = (ctx: BlockContext) => ctx.wait({ reason: 'external' })
const sendAndAsk = async (ctx: BlockContext) => {
  await send(ctx)
  await ask(ctx)
}
const fail = async (ctx: BlockContext) => ctx.fail('boom')

const cases: Readonly<Record<string, Case>> = {
  'code that fails instead': { first: sendAndAsk, other: fail, landed: ['send'] },
  'code that has no use for it, and so contradicts it': {
    first: sendAndAsk,
    other: ask,
    ending: 'answer',
    landed: ['send']
  },
  'code that is given it again, and fails': {
    first: sendAndAsk,
    other: async (ctx) => {
      await send(ctx)
      ctx.fail('boom')
    },
    landed: ['send']
  },
  'an attempt that is cancelled': {
    first: sendAndAsk,
    other: ask,
    ending: 'cancel',
    landed: ['send']
  },
  'an attempt that is tried again': {
    first: sendAndAsk,
    other: async (ctx) => {
      if (ctx.attempt === 1) ctx.fail('boom')
      await send(ctx)
      ctx.fail('again')
    },
    node: { recovery: [{ retry: { max_attempts: 2, interval_ms: 0 } }] },
    landed: ['send']
  },
  'two writes that were dropped together': {
    first: async (ctx) => {
      await send(ctx)
      await ctx.effect('tell', { perform: () => 2 })
      await ask(ctx)
    },
    other: fail,
    landed: ['send', 'tell']
  },
  'a write without an answer': { first: lose, other: fail, inDoubt: ['lose'] }
}

const document = (node: Case['node'] = {}): Json => ({
  schema: 'tally-composite/1',
  name: 'droppers',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block: 'act', ...node } },
  transitions: {}
})

const poke: Json = { ...(document() as object), name: 'poke', nodes: { a: { block: 'poke' } } }

const blocksOf = ({ first, other }: Case) => [
  defineBlock({
    name: 'act',
    version: '1.0.0',
    sideEffects: 'non_idempotent',
    run: async (ctx) => {
      const way = ctx.state.get<number>('way') ?? 0
      await ctx.effect('look', { request: way, sideEffects: 'none', perform: () => way })
      await (way === 0 ? first(ctx) : other(ctx))
      return null
    }
  }),
  defineBlock({
    name: 'poke',
    version: '1.0.0',
    sideEffects: 'none',
    run: (ctx) => ctx.state.set('way', 1)
  })
]

async function settled(tally: WiredRuntime): Promise<void> {
  await settleDown(() => tally.ledger.run('r' as RunId)?.entries ?? 0)
}

async function endAs(run: RunHandle, ending: Case['ending']): Promise<void> {
  if (ending === 'cancel') await run.cancel('enough')
  if (ending !== 'answer') return
  const [wait] = await run.waits()
  if (wait !== undefined) await run.resume(wait.token, { digest: wait.digest })
}

/** Two processes: the block acts in the first, and runs on another state in the second. */
function played(given: Case): Promise<Recorded> {
  return recordedLives({ blocks: blocksOf(given) }, [
    async (tally) => {
      const run = tally.begin(document(given.node), { id: 'r' })
      run.result.catch(() => undefined)
      await settled(tally)
    },
    async (tally) => {
      await tally.begin(poke, { id: 'poke' }).result
      const run = await tally.resume('r')
      await settled(tally)
      await endAs(run, given.ending)
      const { status } = await run.result
      expect(['failed', 'cancelled']).toContain(status)
    }
  ])
}

function evidenceOf({ items }: Recorded) {
  const stated = items.flatMap(({ evidence }) => (evidence === undefined ? [] : [evidence]))
  expect(stated).toHaveLength(1)
  const [{ landed, details } = { landed: [], details: null }] = stated
  const { in_doubt: doubts } = details as { readonly in_doubt: readonly { effect: string }[] }
  return {
    landed: landed.map(({ effect }) => effect),
    inDoubt: doubts.map(({ effect }) => effect)
  }
}

describe('C3: evidence of a failure states what dropped parts of its attempts did outside', () => {
  it.each(Object.keys(cases))('of %s', async (name) => {
    const given = cases[name] as Case
    const recorded = await played(given)
    const { landed = [], inDoubt = [] } = given
    expect(evidenceOf(recorded)).toEqual({ landed, inDoubt })
    expect(recorded.report.failure).toBeUndefined()
    expect(recorded.report.complete).toBe(true)
  })

  it('and a ledger that states less is found, though its own key has signed it', async () => {
    const recorded = await played(cases['code that fails instead'] as Case)
    const { failure } = await rewritten(recorded, (_, evidence) => {
      if (evidence !== undefined) evidence.landed = []
    })
    expect(failure).toMatchObject({ field: 'evidence.landed' })
  })

  it('and a ledger of a version that stated less verifies, by what its journal says', async () => {
    const recorded = await played(cases['code that fails instead'] as Case)
    const asBefore = (entry: Record<string, Json>) => {
      if (entry['k'] === 'rewound') delete entry['outside']
    }
    const older = await rewritten(recorded, (entry, evidence) => {
      asBefore(entry)
      if (evidence !== undefined) evidence.landed = []
    })
    expect(older.failure).toBeUndefined()
    const mixed = await rewritten(recorded, asBefore)
    expect(mixed.failure).toMatchObject({ field: 'evidence.landed' })
  })

  it('and a journal that speaks of writes where none were dropped is found', async () => {
    const recorded = await played({ first: ask, other: fail })
    const { failure } = await rewritten(recorded, (entry) => {
      if (entry['k'] === 'rewound') entry['outside'] = true
    })
    expect(failure).toMatchObject({ field: 'journal.outside' })
  })
})
