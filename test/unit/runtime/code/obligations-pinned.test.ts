import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type BlockDefinition, defineBlock } from '../../../../src/code/index.js'
import {
  isTallyError,
  type Json,
  type JsonObject,
  ManualClock
} from '../../../../src/core/index.js'
import type { Registrations, RuntimeOptions, WiredRuntime } from '../../../../src/runtime/index.js'
import { answer } from '../../../support/answers.js'
import { LedgerOnDisk } from '../../../support/ledger-on-disk.js'
import { counterPackage, PackageFolder } from '../../../support/packages.js'
import { verifiedByPython } from '../../../support/python-verifier.js'
import { recorded, rewritten } from '../../../support/rewrite.js'

/** K14: what a run has pinned holds for it, and nothing that was declared later. */

const HOUR_MS = 3_600_000

let disk: LedgerOnDisk
let paid: Json[]
beforeEach(async () => {
  disk = await LedgerOnDisk.create()
  paid = []
})
afterEach(() => disk.remove())

type Declared = Pick<BlockDefinition, 'confirm' | 'limits'>

function pay(declared: Declared = {}, name = 'pay') {
  return defineBlock({
    name,
    version: '1.0.0',
    sideEffects: 'non_idempotent',
    intents: [`${name}.bill`],
    ...declared,
    run: (ctx, input) =>
      ctx.effect('bank.pay', {
        request: input as Json,
        perform: ({ request }) => {
          paid.push(request)
          return 'paid'
        }
      })
  })
}

const look = defineBlock({
  name: 'look',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => (await ctx.wait({ reason: 'external' })).value
})

function documentOf(nodes: JsonObject, transitions: JsonObject = {}): JsonObject {
  const [entry_point = ''] = Object.keys(nodes)
  return {
    schema: 'tally-composite/1',
    name: 'bill',
    version: '1',
    entry_point,
    nodes,
    transitions
  }
}

const lookThenPay = documentOf({ look: { block: 'look' }, pay: { block: 'pay' } }, { look: 'pay' })

/** Starts a run, and leaves it when it waits or has ended. */
async function begun(tally: WiredRuntime, document: Json, id: string, inputs: Json = null) {
  const run = tally.begin(document, { id, inputs })
  run.result.catch(() => undefined)
  for await (const { type } of run) if (type === 'run.parked' || type === 'run.finished') break
  return run
}

async function waitsOf(tally: WiredRuntime, id: string) {
  const run = await tally.attach(id)
  return run.waits()
}

const statusOf = async (tally: WiredRuntime, id: string) =>
  (await (await tally.attach(id)).result).status

/** The end of something, while the time passes: a timer may be set late. */
async function whilePassing<Result>(clock: ManualClock, end: Promise<Result>): Promise<Result> {
  let isOver = false
  const over = end.finally(() => {
    isOver = true
  })
  while (!isOver) {
    clock.advance(1)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return over
}

const open = (registrations: Omit<RuntimeOptions, 'location'>): Promise<WiredRuntime> =>
  disk.open({ ...registrations, resume: true })

describe('an obligation that was added later', () => {
  const effects = { 'bank.pay': { confirm: {} } }

  it('K14: contradicts no receipt, and an open run keeps what it began with', async () => {
    const before = await open({ blocks: [pay(), look] })
    await begun(before, documentOf({ pay: { block: 'pay' } }), 'done')
    expect(await before.intent({ id: 'intent', action: 'pay.bill' })).toMatchObject({
      type: 'dapp'
    })
    await begun(before, lookThenPay, 'open')
    await disk.close()
    expect(paid).toHaveLength(2)

    const confirm = { message: 'Pay?' }
    const after = await open({ blocks: [pay({ confirm }), look], obligations: { effects } })
    expect(await after.replay()).toMatchObject({ ok: true })
    await answer(after, 'open', 'resume')
    expect(await statusOf(after, 'open')).toBe('done')
    expect(paid).toHaveLength(3)
    // The same document asks when it is begun now.
    await begun(after, lookThenPay, 'new')
    await answer(after, 'new', 'resume')
    const [wait] = await waitsOf(after, 'new')
    expect(wait).toMatchObject({ reason: 'confirmation', request: confirm })
    expect(paid).toHaveLength(3)
    expect(await after.replay()).toMatchObject({ ok: true })
  })

  it('K14: and taken away again holds for the runs that began under it', async () => {
    const before = await open({ blocks: [pay({ confirm: true }), look], obligations: { effects } })
    await begun(before, lookThenPay, 'open')
    await before.intents.submit({ id: 'intent', action: 'pay.bill' }, { kind: 'owner', id: '' })
    await disk.close()

    const after = await open({ blocks: [pay(), look] })
    await answer(after, 'open', 'resume')
    expect((await answer(after, 'open', 'approve')).request).toMatchObject({ block: 'pay' })
    expect((await answer(after, 'open', 'approve')).request).toMatchObject({ effect: 'bank.pay' })
    expect(await statusOf(after, 'open')).toBe('done')
    await answer(after, 'intent', 'approve')
    await answer(after, 'intent', 'approve')
    expect(await after.result('intent')).toMatchObject({ type: 'dapp' })
    expect(paid).toHaveLength(2)
    expect(await after.replay()).toMatchObject({ ok: true, complete: true })
    expect(pinnedBy(after, 'open')).toEqual({
      blocks: { 'pay@1.0.0': { confirm: {} } },
      effects
    })
  })
})

const pinnedBy = (tally: WiredRuntime, id: string) => tally.run(id)?.started['obligations']

describe('a document', () => {
  const obliged = { confirm: { message: 'Pay the bill?' } }

  it.each([
    ['nothing', {}, 'Pay the bill?'],
    ['never', { confirm: { when: { cel: 'false' } } }, 'Pay the bill?'],
    ['other words', { confirm: { message: 'Only a test!' } }, 'Pay the bill?']
  ])(
    'K14: that says %s of a confirmation is asked once, in the words of the block',
    async (...[, said, message]) => {
      const tally = await open({ blocks: [pay(obliged)] })
      await begun(tally, documentOf({ pay: { block: 'pay', ...said } }), 'one')
      expect((await answer(tally, 'one', 'approve')).request).toMatchObject({ message })
      expect(await statusOf(tally, 'one')).toBe('done')
      expect(paid).toHaveLength(1)
      expect(await tally.replay()).toMatchObject({ ok: true, complete: true })
    }
  )

  it('K14: adds a confirmation with its own words where the block has none', async () => {
    const tally = await open({ blocks: [pay({ confirm: true })] })
    const node = { block: 'pay', confirm: { message: 'Pay June?' } }
    await begun(tally, documentOf({ pay: node }), 'one')
    expect((await answer(tally, 'one', 'deny')).request).toMatchObject({ message: 'Pay June?' })
    expect(await (await tally.attach('one')).result).toMatchObject({
      status: 'failed',
      response: { reason: 'denied' }
    })
    expect(paid).toEqual([])
  })

  it('K14: asks anew for each execution, and for a deferred one before the commit only', async () => {
    const tally = await open({ blocks: [pay(obliged), look] })
    const twice = documentOf({ a: { block: 'pay' }, b: { block: 'pay' } }, { a: 'b' })
    await begun(tally, twice, 'twice')
    await answer(tally, 'twice', 'approve')
    expect(paid).toHaveLength(1)
    await answer(tally, 'twice', 'approve')
    expect(paid).toHaveLength(2)
    const deferred = {
      ...documentOf({ a: { block: 'pay', deferred: true }, b: { block: 'look' } }, { a: 'b' }),
      atomic: true
    }
    await begun(tally, deferred, 'deferred')
    await answer(tally, 'deferred', 'approve')
    await answer(tally, 'deferred', 'resume')
    expect(await statusOf(tally, 'deferred')).toBe('done')
    expect(paid).toHaveLength(3)
    expect(await tally.replay()).toMatchObject({ ok: true, complete: true })
  })
})

describe('a limit of a block', () => {
  function failing(name: string, limits: Declared['limits']) {
    return defineBlock({
      name,
      version: '1.0.0',
      sideEffects: 'idempotent',
      intents: [`${name}.now`],
      ...(limits === undefined ? {} : { limits }),
      run: (ctx) => {
        paid.push(name)
        return ctx.fail('failed')
      }
    })
  }
  const retry = (max_attempts: number) => ({ retry: { max_attempts, interval_ms: 0 } })

  it.each([
    ['more', 5, 2],
    ['less', 1, 1]
  ])('K14: bounds the attempts of a document that asks for %s', async (_, asked, executed) => {
    const tally = await open({ blocks: [failing('try', { attempts: 2 }), failing('other', {})] })
    const nodes = { a: { block: 'try', recovery: [retry(asked), { fallback: ['other'] }] } }
    await begun(tally, documentOf(nodes), 'one')
    expect(paid).toEqual([...Array(executed).fill('try'), 'other'])
    paid.length = 0
    const leaf = { block: 'intent.idempotent', recovery: [retry(asked)] }
    const action = { input: { object: { action: { lit: 'try.now' } } } }
    await begun(tally, documentOf({ a: { ...leaf, ...action } }), 'intent')
    expect(paid).toEqual(Array(executed).fill('try'))
    expect(await tally.replay()).toMatchObject({ ok: true })
  })

  it('K14: refuses a document in which the block stands twice among those of a node', async () => {
    const tally = await open({ blocks: [failing('try', { attempts: 1 })] })
    const nodes = { a: { block: 'try', recovery: [{ fallback: ['try@1.0.0'] }] } }
    expect(await tally.lint(documentOf(nodes))).toMatchObject([
      { reason: 'invalid_graph', path: ['nodes', 'a', 'recovery'] }
    ])
  })

  it.each([
    ['no time', {}, 24 * HOUR_MS],
    ['a longer time', { timeout_ms: 48 * HOUR_MS }, 24 * HOUR_MS],
    ['a shorter time', { timeout_ms: 12 * HOUR_MS }, 12 * HOUR_MS]
  ])('K14: bounds the time of a document that asks for %s', async (_, said, timeoutMs) => {
    const clock = new ManualClock()
    const limited = pay({ confirm: true, limits: { timeoutMs: 24 * HOUR_MS } })
    const tally = await open({ blocks: [limited], clock })
    const run = await begun(tally, documentOf({ pay: { block: 'pay', ...said } }), 'one')
    const [wait] = await run.waits()
    expect(wait?.due).toBe(clock.now() + timeoutMs)
    clock.advance(timeoutMs)
    expect((await whilePassing(clock, run.result)).response).toMatchObject({ reason: 'timed_out' })
    await tally.intents.submit({ id: 'intent', action: 'pay.bill' }, { kind: 'owner', id: '' })
    clock.advance(24 * HOUR_MS)
    const reply = await whilePassing(clock, tally.result('intent'))
    expect(reply).toMatchObject({ type: 'error', reason: 'timed_out' })
    expect(paid).toEqual([])
  })

  it('K14: of the program and of the block are one, the stricter', async () => {
    const obligations = { blocks: { pay: { limits: { attempts: 2, timeoutMs: 500 } } } }
    const blocks = [pay({ limits: { attempts: 3, timeoutMs: 100 } })]
    const tally = await open({ blocks, obligations })
    await begun(tally, documentOf({ pay: { block: 'pay' } }), 'one')
    expect(pinnedBy(tally, 'one')).toEqual({
      blocks: { 'pay@1.0.0': { limits: { attempts: 2, timeoutMs: 100 } } }
    })
  })
})

describe('a package', () => {
  it('K14: is executed once a person has approved it, where the program says so', async () => {
    const folder = await PackageFolder.create()
    const obligations = { packages: { counter: { confirm: { message: 'Count?' } } } }
    const tally = await open({ packages: [await folder.write(counterPackage)], obligations })
    const capabilities = ['storage.read', 'storage.write']
    await tally.intent({ action: 'system.grant', payload: { package: 'counter', capabilities } })
    const asked = await tally.intent({ id: 'one', action: 'count.up', payload: { by: 2 } })
    expect(asked).toMatchObject({
      type: 'waiting',
      request: { block: 'counter', message: 'Count?', payload: { by: 2 } }
    })
    await answer(tally, 'one', 'approve')
    expect(await tally.result('one')).toMatchObject({ type: 'dapp', count: 2 })
    await tally.intent({ id: 'two', action: 'count.up' })
    await answer(tally, 'two', 'deny')
    expect(await tally.result('two')).toMatchObject({ type: 'error', reason: 'denied' })
    expect(await tally.replay()).toMatchObject({ ok: true, complete: true })
    await disk.close()
    await folder.remove()
  })
})

describe('obligations', () => {
  it('K14: of what a run does not reach are not pinned by it', async () => {
    const tally = await open({ blocks: [pay({ confirm: true }), pay({}, 'give'), look] })
    await begun(tally, documentOf({ give: { block: 'give' } }), 'one')
    expect(pinnedBy(tally, 'one')).toBeUndefined()
  })

  it.each([
    [{ blocks: { nothing: { confirm: true } } }, 'nothing'],
    [{ blocks: { pay: { limits: { attempts: 0 } } } }, 'pay'],
    [{ blocks: { pay: { limits: { timeoutMs: 0 } } } }, 'pay'],
    [{ effects: { 'bank.pay': { confirm: { message: 5 } } } }, 'bank.pay']
  ])('K14: that cannot hold are refused: %j', async (obligations, name) => {
    const given = { blocks: [pay()], obligations: obligations as Registrations['obligations'] }
    const error = await open(given as Registrations).catch((thrown: unknown) => thrown)
    expect(isTallyError(error) && error.context).toMatchObject({ name })
    expect(isTallyError(error) && error.code).toBe('runtime.invalid_obligation')
  })

  it('K14: hold for the second verifier, which finds an approval that is missing', async () => {
    const effects = { 'bank.pay': { confirm: true } } as const
    const tally = await open({ blocks: [pay({ confirm: true })], obligations: { effects } })
    await begun(tally, documentOf({ pay: { block: 'pay' } }), 'one')
    await answer(tally, 'one', 'approve')
    await answer(tally, 'one', 'approve')
    const file = join(disk.directory, 'one.snapshot')
    await tally.export({ path: file })
    const [report] = verifiedByPython([file]).reports
    expect(report).toMatchObject({ ok: true, checked: { 'approvals that were obliged': 2 } })
  })
})

describe('a forged journal', () => {
  const code = () => ({ blocks: [pay({ confirm: true })] })
  const play = () =>
    recorded(code(), async (tally) => {
      await begun(tally, documentOf({ pay: { block: 'pay' } }), 'one')
      await answer(tally, 'one', 'approve')
    })

  it.each([
    ['without its obligations', undefined, 'journal.requestHash'],
    ['with obligations that are none', { blocks: { pay: null } }, 'definitionHash']
  ])('K14: is found %s', async (_, obligations, field) => {
    const honest = await play()
    expect(honest.report).toMatchObject({ ok: true })
    const report = await rewritten(honest, (entry) => {
      if (entry['k'] !== 'run.started') return
      delete entry['obligations']
      if (obligations !== undefined) entry['obligations'] = obligations
    })
    expect(report.failure).toMatchObject({ field })
  })

  it('K14: is found with an obligation that nothing has answered', async () => {
    const honest = await recorded({ blocks: [pay()] }, async (tally) => {
      await begun(tally, documentOf({ pay: { block: 'pay' } }), 'one')
    })
    const obligations = { blocks: { 'pay@1.0.0': { confirm: {} } } }
    const report = await rewritten(honest, (entry) => {
      if (entry['k'] === 'run.started') entry['obligations'] = obligations
    })
    expect(report.failure).toMatchObject({
      field: 'sealed.0',
      computed: 'an approved confirmation'
    })
  })
})
