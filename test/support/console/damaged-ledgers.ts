import { alterRecords } from '../../../src/cli/demo/alter.js'
import { defineBlock } from '../../../src/code/index.js'
import { openMemoryStore, type Store } from '../../../src/ledger/index.js'
import type { WiredRuntime } from '../../../src/runtime/index.js'
import { lasting } from '../lasting-store.js'
import { openOn, testKeys } from '../lives.js'

/** Ledgers in memory of which one thing was altered behind the kernel's back. */

const LONG = 'x'.repeat(2_000)
const pay = defineBlock({
  name: 'pay',
  version: '1.0.0',
  sideEffects: 'idempotent',
  run: async (ctx, input) => {
    const { to } = input as { readonly to: string }
    const paid = await ctx.effect('bank', { request: { to }, perform: () => `paid ${to}` })
    ctx.state.set(`payee/${to}`, { paid, text: `${to} ${LONG}` })
    return { paid }
  }
})
const refuse = defineBlock({
  name: 'refuse',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx) => ctx.fail('no_money', { message: 'none is left' })
})
const one = (block: string) => ({
  schema: 'tally-composite/1',
  name: block,
  version: '1.0.0',
  entry_point: 'first',
  nodes: { first: { block } }
})

const open = (store: Store) => openOn(store, { blocks: [pay, refuse] })

/** What is altered, in the records of Bo's run or of the one that failed. */
export const damages: Readonly<
  Record<string, { readonly at: number; readonly alter: (record: string) => string }>
> = {
  'a result': { at: 2, alter: line('O', 'paid Bo', 'paid Bob') },
  'a field of a receipt': { at: 2, alter: line('R', '"intent":"pay"', '"intent":"pax"') },
  'the input that a receipt has': { at: 2, alter: line('R', '"to":"Bo"', '"to":"Di"') },
  'a signature': { at: 2, alter: line('R', /("signature":")(.)/, flipped) },
  'a write': { at: 2, alter: line('W', 'payee/Bo', 'payee/Di') },
  'an answer in a journal': { at: 2, alter: line('J', 'paid Bo', 'paid Bob') },
  'a name in a journal': { at: 2, alter: line('J', /("k":"settled"[^\n]*"run":"Bo)(")/, '$1b$2') },
  'a large value': { at: 2, alter: line('B', 'Bo xx', 'Bo xy') },
  'receipts that are missing': { at: 2, alter: (record) => headOf(record) },
  evidence: { at: 4, alter: line('E', 'none is left', 'some is left') }
}

function flipped(_: string, before: string, first: string): string {
  return `${before}${first === '0' ? '1' : '0'}`
}

/** Alters lines of one kind of the records that hold `from`. */
function line(kind: string, from: string | RegExp, to: string | typeof flipped) {
  return (record: string) =>
    record
      .split('\n')
      .map((text) =>
        text.startsWith(kind) && isMeant(record) ? text.replace(from, to as string) : text
      )
      .join('\n')
}

/** Only how the record begins, of one that has something of the run. */
function headOf(record: string): string {
  return isMeant(record) && record.includes('"Bo"') ? record.slice(0, record.indexOf('\n')) : record
}

const isMeant = (record: string) => /"(Bo|failed)"/.test(record)

/** A ledger of four runs, altered. */
export async function damaged(alter: (record: string) => string): Promise<WiredRuntime> {
  const store = openMemoryStore()
  const kept = lasting(store)
  const honest = await open(kept)
  for (const to of ['Al', 'Bo']) await honest.begin(one('pay'), { id: to, inputs: { to } }).result
  await honest.begin(one('refuse'), { id: 'failed' }).result
  await honest.begin(one('pay'), { id: 'Cy', inputs: { to: 'Cy' } }).result
  await honest.close()
  if ((await alterRecords(store, testKeys.identity, alter)) === 0)
    throw new Error('nothing altered')
  return open(store)
}
