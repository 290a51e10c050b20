import { readFile } from 'node:fs/promises'
import { type Block, defineBlock } from 'tallystick'
import { z } from 'zod'

/** The blocks of the invoice run. They touch the world only through `ctx`. */

const invoice = z.object({ id: z.string(), payee: z.string(), amount: z.string() })
type Invoice = z.infer<typeof invoice>

const load = defineBlock({
  name: 'invoices.load',
  version: '1.0.0',
  sideEffects: 'none',
  input: z.object({ path: z.string() }),
  async run(ctx, { path }) {
    // Reading the file is an effect: its content is sealed, so a replay needs no file.
    const text = await ctx.effect('file.read', {
      request: { path },
      perform: () => readFile(path, 'utf8')
    })
    const invoices = parseCsv(text)
    for (const one of invoices) ctx.state.set(`invoice/${one.id}`, one)
    ctx.state.set(
      'open',
      invoices.map(({ id }) => id)
    )
    ctx.state.set('paid', [])
    return { invoices: invoices.length }
  }
})

const pick = defineBlock({
  name: 'invoices.pick',
  version: '1.0.0',
  sideEffects: 'none',
  run(ctx) {
    const [next, ...rest] = ctx.state.get<string[]>('open') ?? []
    if (next === undefined) return { done: true, invoice: null }
    ctx.state.set('open', rest)
    return { done: false, invoice: ctx.state.get(`invoice/${next}`) ?? null }
  }
})

const pay = defineBlock({
  name: 'invoices.pay',
  version: '1.0.0',
  sideEffects: 'idempotent',
  capabilities: ['bank.transfer'],
  input: invoice,
  async run(ctx, { id, payee, amount }) {
    const request = { invoice: id, payee, amount }
    const { reference } = await ctx.effect<{ reference: string }>('bank.transfer', { request })
    ctx.state.set('paid', [...(ctx.state.get<string[]>('paid') ?? []), id])
    ctx.state.set(`payment/${id}`, { payee, amount, reference })
    return { invoice: id, payee, amount, reference }
  }
})

const book = defineBlock({
  name: 'invoices.book',
  version: '1.0.0',
  sideEffects: 'none',
  input: invoice,
  run(ctx, { id, payee }) {
    ctx.log(`nothing to pay for ${id}`)
    ctx.state.set(`payment/${id}`, { payee, amount: '0.00', reference: null })
    return { invoice: id, payee, amount: '0.00' }
  }
})

const report = defineBlock({
  name: 'invoices.report',
  version: '1.0.0',
  sideEffects: 'none',
  run(ctx) {
    const paid = ctx.state.get<string[]>('paid') ?? []
    const cents = paid.reduce((sum, id) => {
      const payment = ctx.state.get<{ amount: string }>(`payment/${id}`)
      return sum + BigInt((payment?.amount ?? '0.00').replace('.', ''))
    }, 0n)
    return { paid: paid.length, total: `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}` }
  }
})

export const invoiceBlocks: readonly Block[] = [load, pick, pay, book, report]

/** The rows of the file; the header names the columns. */
function parseCsv(text: string): Invoice[] {
  const [, ...rows] = text.trim().split('\n')
  return rows.map((row) => {
    const [id = '', payee = '', amount = ''] = row.split(',')
    return { id, payee, amount }
  })
}
