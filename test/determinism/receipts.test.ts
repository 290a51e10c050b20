import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineBlock } from '../../src/code/index.js'
import { type Json, ManualClock } from '../../src/core/index.js'
import { openMemoryStore } from '../../src/ledger/index.js'
import { openOn } from '../support/lives.js'
import { committedVectors } from '../support/vectors.js'

/**
 * The same definition, inputs, state, sealed responses and delivery order give the same bytes on
 * every major of Node (D5). The profile is fixed here, since it names the major; the blocks use no
 * maths that
 * V8 has changed.
 */

interface Vector {
  readonly name: string
  readonly receipts: readonly string[]
  readonly headRoot: string
  readonly storageRoot: string
  readonly journalHash: string
  readonly result: Json
}

const draw = defineBlock({
  name: 'draw',
  version: '1.0.0',
  sideEffects: 'none',
  input: z.object({ faces: z.number() }),
  run(ctx, { faces }) {
    const rolls = ctx.state.get<number[]>('rolls') ?? []
    const roll = Math.floor(ctx.random() * faces) + 1
    ctx.state.set('rolls', [...rolls, roll])
    ctx.state.set(`ids/${ctx.uuid()}`, { at: ctx.now(), roll })
    return { roll, total: rolls.reduce((sum, one) => sum + one, roll) }
  }
})

const send = defineBlock({
  name: 'send',
  version: '2.1.0',
  sideEffects: 'idempotent',
  capabilities: ['post.card'],
  async run(ctx, input) {
    const card = await ctx.effect<{ number: string }>('post.card', {
      request: { to: 'ünïcode 😀', input: input as Json },
      perform: ({ key }) => ({ number: key.slice(0, 6) })
    })
    const listed = await ctx.state.list('ids/')
    ctx.state.delete(listed[0] ?? 'none')
    return { card: card.number, left: listed.length - 1, ratio: 0.1 + 0.2 }
  }
})

const documents: Readonly<Record<string, Json>> = {
  'a loop with a branch by CEL': {
    schema: 'tally-composite/1',
    name: 'dice',
    version: '1.0.0',
    max_steps: 40,
    entry_point: 'draw',
    nodes: {
      draw: { block: 'draw', input: { object: { faces: { ref: 'request.payload.faces' } } } },
      send: {
        block: 'send',
        input: { object: { total: { ref: 'nodes.draw.response.data.total' } } }
      }
    },
    transitions: {
      draw: [
        { condition: { cel: 'response.data.total < 30' }, target: 'draw' },
        { condition: 'default', target: 'send' }
      ]
    }
  },
  'an atomic composite': {
    schema: 'tally-composite/1',
    name: 'both',
    version: '1.0.0',
    entry_point: 'pair',
    nodes: {
      pair: {
        composite: {
          atomic: true,
          entry_point: 'first',
          nodes: { first: { block: 'draw' }, second: { block: 'draw' } },
          transitions: { first: 'second' }
        }
      },
      last: { block: 'draw' }
    },
    transitions: { pair: 'last' }
  }
}

async function runOne(name: string, document: Json): Promise<Vector> {
  const store = openMemoryStore()
  const tally = await openOn(store, {
    blocks: [draw, send],
    clock: new ManualClock(1_700_000_000_000),
    profile: { js: 'vector' }
  })
  const { status, response } = await tally.begin(document, { id: 'vector', inputs: { faces: 6 } })
    .result
  expect(status).toBe('done')
  const receipts: string[] = []
  for await (const { receipt } of tally.receipts()) receipts.push(receipt.receiptHash)
  const { head, storage } = tally.ledger.roots()
  let journalHash = ''
  for await (const { value } of tally.journal('vector')) {
    const entry = value as { readonly k: string; readonly journalHash?: string }
    if (entry.k === 'run.finished') journalHash = entry.journalHash ?? ''
  }
  await tally.close()
  return {
    name,
    receipts,
    headRoot: head,
    storageRoot: storage,
    journalHash,
    result: response.data
  }
}

describe('D5: byte-identical receipts', () => {
  it('gives the committed vectors on this Node', async () => {
    const made: Vector[] = []
    for (const [name, document] of Object.entries(documents))
      made.push(await runOne(name, document))
    expect(made).toEqual(committedVectors('determinism.json', () => made))
  })

  it('gives them again, whatever ran before', async () => {
    for (const [name, document] of Object.entries(documents)) {
      expect(await runOne(name, document)).toEqual(await runOne(name, document))
    }
  })
})
