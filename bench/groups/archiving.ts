import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { elapsedMs, type Json } from '../../src/core/index.js'
import { defineBlock } from '../../src/index.js'
import { createRuntime, type WiredRuntime } from '../../src/runtime/index.js'
import { median, Scratch } from '../measure.js'
import type { BenchOptions, Group, Row } from '../row.js'

const WIDTH = 16
const steps = ['price', 'reserve', 'charge', 'book']

interface Order {
  readonly order: string
  readonly amount: string
  readonly lines: readonly { readonly sku: string; readonly n: number }[]
}

const blocks = steps.map((name) =>
  defineBlock<Order, Json>({
    name,
    version: '1.0.0',
    sideEffects: 'idempotent',
    run: async (ctx, { order }) => {
      await ctx.effect('shop.do', { request: { order, step: name } })
      if (name === 'book') ctx.state.set(`orders/${order.split('-')[1]}`, { status: 'booked' })
      return { order }
    }
  })
)

const document: Json = {
  schema: 'tally-composite/1',
  name: 'order',
  version: '1.0.0',
  entry_point: 'price',
  nodes: Object.fromEntries(
    steps.map((name) => [name, { block: name, input: { ref: 'request.payload' } }])
  ),
  transitions: { price: 'reserve', reserve: 'charge', charge: 'book' }
}

/**
 * What a finished order of four steps takes on the disk, before archiving and behind it, state and
 * records included; and the opening of a ledger by how many orders of it are archived, with a state
 * of the same size.
 */
export const archiving: Group = {
  rows: ['archived.bytes', 'archived.open'],
  async measure({ full, rounds }: BenchOptions): Promise<readonly Row[]> {
    const scratch = new Scratch()
    const sized = await archived(scratch.directory(), { orders: 1_000, keys: 1_000 })
    const few = await archived(scratch.directory(), { orders: 200, keys: 200 })
    const orders = full ? 20_000 : 4_000
    const many = await archived(scratch.directory(), { orders, keys: 200 })
    const opened = {
      few: await openedMs(few.location, rounds),
      many: await openedMs(many.location, rounds)
    }
    scratch.remove()
    return [
      {
        name: 'archived.bytes',
        value: sized.bytes,
        unit: 'B/order',
        floor: sized.bytesBefore,
        ratio: null,
        target: 2_000,
        better: 'lower'
      },
      {
        name: 'archived.open',
        value: opened.many,
        unit: 'ms',
        floor: opened.few,
        ratio: opened.many / opened.few,
        target: 1.5,
        better: 'lower'
      }
    ]
  }
}

function open(location: string): Promise<WiredRuntime> {
  return createRuntime({
    location,
    create: 'if-absent',
    insecurePlaintextKey: true,
    serve: false,
    blocks,
    providers: [{ name: 'shop.do', perform: async () => ({ ok: true }) }]
  })
}

/** So many orders, whose books have so many keys of the state. */
async function archived(
  folder: string,
  { orders, keys }: { readonly orders: number; readonly keys: number }
) {
  mkdirSync(folder)
  const location = join(folder, 'ledger')
  const tally = await open(location)
  let next = 0
  const lane = async () => {
    while (next < orders) {
      const order = `order-${next % keys}-${next}`
      next += 1
      const inputs = { order, amount: '12.00', lines: [{ sku: 'a-1', n: 2 }] }
      const { status } = await tally.begin(document, { id: order, inputs }).result
      if (status !== 'done') throw new Error(`${order} ended as ${status}`)
    }
  }
  await Promise.all(Array.from({ length: WIDTH }, lane))
  await tally.close()
  const compacted = await open(location)
  const bytesBefore = bytesOf(location) / orders
  await compacted.archive({ path: join(folder, '1.archive.gz'), before: '2999-01-01' })
  await compacted.close()
  return { location, bytesBefore, bytes: bytesOf(location) / orders }
}

/** Of the store. */
function bytesOf(location: string): number {
  const live = join(location, 'data-1')
  return readdirSync(live).reduce((sum, name) => sum + statSync(join(live, name)).size, 0)
}

async function openedMs(location: string, rounds: number): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const begin = elapsedMs()
    const tally = await open(location)
    times.push(elapsedMs() - begin)
    await tally.close()
  }
  return median(times)
}
