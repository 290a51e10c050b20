import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { defineBlock, defineWorkflow, type Workflow } from '../../../../src/code/index.js'
import type { Json } from '../../../../src/core/index.js'
import {
  type Case,
  type MachineOptions,
  type MachineReport,
  verifyCase,
  verifyMachine
} from '../../../../src/testing/index.js'
import { builtModule } from '../../../support/built.js'
import { cases, testMs } from '../../../support/effort.js'
import { root } from '../../../support/source.js'
import { tallyErrorOf } from '../../../support/tally-error-of.js'

const Order = z.object({ order: z.string().min(1).max(4), cents: z.number().int().min(0).max(9) })

const notPerformed = (): never => {
  throw new Error('it is not performed here')
}

const book = defineBlock({
  name: 'book',
  version: '1.0.0',
  sideEffects: 'none',
  input: z.object({ key: z.string(), cents: z.number() }),
  run(ctx, { key, cents }) {
    if (cents > 7) return ctx.fail('too_much')
    ctx.state.set(key, cents)
    return cents
  }
})

const again = { sideEffects: 'idempotent', retry: { attempts: 2, interval: 10 } } as const

/** Asks, charges, books both sides or none, waits for the carrier, and mails. */
const checkout = defineWorkflow({
  name: 'checkout',
  version: '1.0.0',
  input: Order,
  blocks: [book],
  async run(ctx, { order, cents }) {
    if (cents === 0) return { sent: false }
    await ctx.setTags(['new'])
    await ctx.step('charge', notPerformed, { order, cents }, again)
    await ctx.atomic('books', async (scope) => {
      await scope.step('debit', book, { key: 'customer', cents: -cents })
      await scope.step('credit', book, { key: 'shop', cents })
    })
    const shipped = await ctx.signal('shipped', z.object({ parcel: z.string() }), {
      timeoutMs: 86_400_000
    })
    await ctx.publish('shipped', shipped !== undefined)
    await ctx.sleep('1h')
    await ctx.step('mail', notPerformed, { order, parcel: shipped?.parcel }, { confirm: 'Mail?' })
    return { sent: true, at: ctx.now() }
  }
})

const world: MachineOptions['effects'] = {
  'checkout.charge': { answer: (request) => ({ charged: request }) },
  'checkout.mail': { answer: z.object({ mailed: z.boolean() }) },
  'signal shipped': { answer: z.object({ parcel: z.enum(['a', 'b']) }) }
}

function flow(run: Parameters<typeof defineWorkflow>[0]['run'], name = 'flow'): Workflow {
  return defineWorkflow({ name, version: '1.0.0', input: Order, run }) as Workflow
}

async function brokenBy(target: Parameters<typeof verifyMachine>[0], options: MachineOptions) {
  const error = await tallyErrorOf(verifyMachine(target, { cases: 40, ...options }))
  expect(error.code).toBe('testing.promise_broken')
  return error
}

const paid = { 'flow.pay': { answer: () => ({ paid: true }) } } as const

describe('a workflow in code', () => {
  it(
    'keeps every promise: steps, an atomic part, a signal, a sleep, people and crashes',
    async () => {
      const count = cases({ usual: 12, long: 33, soak: 66 })
      const report: MachineReport = await verifyMachine(checkout, {
        effects: world,
        cases: count,
        always: {
          'both sides or none': ({ state }) =>
            (state['customer'] ?? 0) === -Number(state['shop'] ?? 0)
        }
      })
      expect(report.cases).toBe(count)
      expect(report.crashes).toBeGreaterThan(count / 8)
      expect(report.notChecked.join()).toContain('workflows in code')
    },
    testMs(900_000)
  )

  it('has its steps in the coverage, with what became of them', async () => {
    const report = await verifyCase(
      checkout,
      { inputs: [{ order: 'o', cents: 8 }] },
      { effects: world }
    )
    const { states, missed } = report.coverage
    expect(states).toEqual({ taken: 4, of: 9 })
    expect(missed.map(({ what }) => what)).toEqual([
      'root/books/credit: done',
      'root/books/debit: failed',
      'root/books: committed',
      'root/charge: failed',
      'root/charge: recovery'
    ])
  })

  it(
    'plays runs beside each other on the same state',
    async () => {
      const report = await verifyMachine(checkout, { effects: world, concurrent: 3, cases: 8 })
      expect(report.cases).toBe(8)
    },
    testMs(300_000)
  )

  it(
    'B12: keeps every promise wherever its process dies: what ends without an answer',
    async () => {
      const target = defineWorkflow({
        name: 'flow',
        version: '1.0.0',
        input: Order,
        blocks: [book],
        async run(ctx, { cents }) {
          await ctx.atomic(async (scope) => scope.step('debit', book, { key: 'customer', cents }))
          await ctx.step('pay', notPerformed, cents, { confirm: 'Pay?' })
          return ctx.now()
        }
      })
      // A second answer has the journal written between the end of the step and that of the code.
      const given: Case = { inputs: [{ order: 'o', cents: 1 }], people: [{ manner: 'twice' }] }
      for (let at = 1; at <= 16; at += 1) {
        const report = await verifyCase(target, { ...given, deaths: [{ at }] }, { effects: paid })
        expect(report.crashes).toBe(1)
      }
    },
    testMs(300_000)
  )

  it(
    'plays steps beside each other, and races',
    async () => {
      const racing = flow(async (ctx) => {
        await ctx.all([ctx.step('pay', notPerformed, 1), ctx.step('pay', notPerformed, 2)])
        return ctx.race([ctx.step('pay', notPerformed, 3), ctx.sleep(1_000)])
      })
      const report = await verifyMachine(racing, { effects: paid, cases: 16 })
      expect(report.coverage.states.taken).toBeGreaterThan(1)
    },
    testMs(300_000)
  )

  it(
    'starts others as runs of their own, whose waits people answer',
    async () => {
      const child = defineWorkflow({
        name: 'child',
        version: '1.0.0',
        async run(ctx, input: { cents: number }) {
          const { action } = await ctx.wait({ reason: 'confirmation', request: input })
          return { action, cents: input.cents }
        }
      })
      const parent = flow(async (ctx, input) => {
        const { cents } = input as z.infer<typeof Order>
        return ctx.child(child, { cents }, { id: `child-${ctx.runId}` })
      })
      const target = { starts: parent, workflows: [child] }
      const report = await verifyMachine(target, { cases: 16 })
      expect(report.crashes).toBeGreaterThan(2)
      const left: string[] = []
      await verifyCase(
        target,
        { inputs: [{ order: 'o', cents: 3 }] },
        { eventually: { looks: ({ results }) => left.push(JSON.stringify(results[0]?.response)) } }
      )
      expect(left.join()).toContain('"cents":3')
    },
    testMs(300_000)
  )

  it(
    'is redeployed with the next version, while open runs keep theirs',
    async () => {
      const next = flow(async (ctx) => ctx.step('other', notPerformed), 'checkout')
      const later = {
        ...next,
        version: '2.0.0',
        definition: { ...next.definition, version: '2.0.0' }
      }
      const report = await verifyMachine(checkout, {
        effects: { ...world, 'checkout.other': { answer: () => null } },
        next: { workflows: [checkout, later] },
        cases: 12
      })
      expect(report.crashes).toBeGreaterThan(2)
    },
    testMs(300_000)
  )
})

describe('a fault of a workflow in code', () => {
  it('deterministic: what it decides by the clock of the process', async () => {
    const clocked = flow(async (ctx) => {
      await ctx.step('pay', notPerformed, Date.now())
    })
    const { message } = await brokenBy(clocked, { effects: paid })
    expect(message).toContain('deterministic')
  })

  it('deterministic: code that was changed without a new version', async () => {
    const first = flow(async (ctx) => {
      await ctx.step('pay', notPerformed, 1)
      await ctx.wait({ reason: 'external' })
    })
    const second = flow(async (ctx) => {
      await ctx.step('pay', notPerformed, 2)
      await ctx.wait({ reason: 'external' })
    })
    const error = await brokenBy(first, { effects: paid, next: { workflows: [second] } })
    expect(error.context).toMatchObject({ promise: 'deterministic' })
    expect(error.message).toContain('run again after a crash')
  })

  it('deterministic: a memory of the process that the code decides by', async () => {
    const target = () => {
      let calls = 0
      return flow(async (ctx) => {
        await ctx.wait({ reason: 'external' })
        calls += 1
        await ctx.step('pay', notPerformed, calls)
        await ctx.wait({ reason: 'external' })
      })
    }
    const shared = target()
    const error = await brokenBy(shared, { effects: paid })
    expect(error.context['promise']).toMatch(/deterministic|resumes|replays/)
  })

  it('once: a step that its service does again under the same key', async () => {
    const blind = flow(async (ctx) => {
      await ctx.step('pay', notPerformed, 1, { sideEffects: 'idempotent', retry: 3 })
    })
    const effects = { 'flow.pay': { answer: () => ({ paid: true }), repeats: 'again' } } as const
    const error = await brokenBy(blind, { effects })
    expect(error.context).toMatchObject({ promise: 'once' })
  })

  it('once: a step that is asked for anew where the first outcome is unknown', async () => {
    const stubborn = flow(async (ctx) => {
      const pay = () => ctx.step('pay', notPerformed, 1, { sideEffects: 'idempotent' })
      await pay().catch(pay)
    })
    const error = await brokenBy(stubborn, { effects: paid })
    expect(error.context).toMatchObject({ promise: 'once' })
  })

  it('ends: it waits for what ctx does not know', async () => {
    const stuck = flow(async (ctx) => {
      await ctx.step('pay', notPerformed, 1)
      await new Promise(() => undefined)
    })
    const error = await brokenBy(stuck, { effects: paid, cases: 5 })
    expect(error.context).toMatchObject({ promise: 'ends' })
  })

  it('bounded: steps without an end', async () => {
    const endless = flow(async (ctx) => {
      for (;;) await ctx.step('pay', notPerformed, 1)
    })
    const effects = { 'flow.pay': { answer: () => null, troubles: [] } } as const
    const error = await brokenBy(endless, { effects, cases: 2, bounds: { effects: 20 } })
    expect(error.context).toMatchObject({ promise: 'bounded' })
  })

  it('always, eventually, never_both: what its user says does not hold', async () => {
    const both = flow(async (ctx, input) => {
      await ctx.step('pay', notPerformed, input)
      await ctx.step('refund', notPerformed, input)
    })
    const effects = { ...paid, 'flow.refund': { answer: () => null } } as const
    const never = await brokenBy(both, { effects, neverBoth: [['flow.pay', 'flow.refund']] })
    expect(never.context).toMatchObject({ promise: 'never_both' })
    const ended = await brokenBy(both, {
      effects,
      eventually: { 'nothing is paid': ({ deeds }) => deeds.length === 0 }
    })
    expect(ended.context).toMatchObject({ promise: 'eventually' })
    const always = await brokenBy(both, {
      effects,
      always: {
        'no refund': ({ receipts }) => receipts.every((one) => one.intent !== 'flow.refund')
      }
    })
    expect(always.context).toMatchObject({ promise: 'always' })
    expect(always.message).toContain('s_pay["pay"]')
    expect(always.message).toMatch(/s_pay --> s_refund/)
    expect(always.message).toMatch(/class s_refund failing/)
    expect(always.message).toContain("import { verifyCase } from 'tallystick/testing'")
  })

  it('asks for the answer to a step, and for inputs of code without a schema', async () => {
    const error = await tallyErrorOf(verifyMachine(checkout, { cases: 5 }))
    expect(error.code).toBe('testing.answer_missing')
    expect(error.message).toContain('checkout.charge')
    const open = defineWorkflow({ name: 'open', version: '1.0.0', run: async () => null })
    expect((await tallyErrorOf(verifyMachine(open, { cases: 1 }))).code).toBe(
      'testing.inputs_missing'
    )
  })

  it('is printed and saved as a program that plays it again', async () => {
    mkdirSync(join(root, 'dist'), { recursive: true })
    const folder = mkdtempSync(join(root, 'dist', 'regressions-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const module = new URL('./stubborn.mjs', import.meta.url).href
    builtModule('testing/index.js')
    const stubborn: { readonly target: Workflow; readonly options: MachineOptions } = await import(
      module
    )
    const from = { module, target: 'target', options: 'options' }
    const inputs = fc.constant<Json>({})
    const error = await brokenBy(stubborn.target, {
      ...stubborn.options,
      inputs,
      from,
      save: folder
    })
    const [name = ''] = readdirSync(folder)
    const script = readFileSync(join(folder, name), 'utf8')
    expect(script.split('\n').length).toBeLessThanOrEqual(30)
    expect(error.message).toContain(script)
    const path = join(folder, name)
    const { stderr, status } = spawnSync(process.execPath, [path], { encoding: 'utf8' })
    expect(status).not.toBe(0)
    expect(stderr).toContain('breaks the promise "once"')
    expect(stderr).toContain('s_pay["pay"]')
  })

  it('refuses what starts no workflow', async () => {
    const target = { starts: {} } as never
    expect((await tallyErrorOf(verifyMachine(target))).code).toBe('testing.target_invalid')
  })
})
