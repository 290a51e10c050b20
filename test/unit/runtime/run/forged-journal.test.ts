import { describe, expect, it } from 'vitest'
import { alterRecords } from '../../../../src/cli/demo/alter.js'
import { defineBlock } from '../../../../src/code/index.js'
import { type Json, ManualClock } from '../../../../src/core/index.js'
import { openMemoryStore, type Store } from '../../../../src/ledger/index.js'
import { lasting } from '../../../support/lasting-store.js'
import { openOn, testKeys } from '../../../support/lives.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'

const price = defineBlock({
  name: 'price',
  version: '1.0.0',
  sideEffects: 'none',
  run: () => ({ amount: '100.00' })
})
const sent: Json[] = []
const pay = defineBlock({
  name: 'pay',
  version: '1.0.0',
  sideEffects: 'idempotent',
  run: (ctx, input) =>
    ctx.effect('bank', {
      request: input as Json,
      perform: ({ request }) => {
        sent.push(request)
        return 'paid'
      }
    })
})
const document: Json = {
  schema: 'tally-composite/1',
  name: 'pay-price',
  version: '1.0.0',
  entry_point: 'price',
  nodes: {
    price: { block: 'price' },
    pay: { block: 'pay', input: { ref: 'nodes.price.response.data' }, confirm: true }
  },
  transitions: { price: 'pay' }
}

const open = (store: Store) => openOn(store, { blocks: [price, pay], clock: new ManualClock() })

async function parked(): Promise<Store> {
  const store = lasting(openMemoryStore())
  const tally = await open(store)
  const run = tally.begin(document, { id: 'forged' })
  for await (const event of run) if (event.type === 'run.parked') break
  await tally.close()
  return store
}

async function resumeAndApprove(store: Store): Promise<string> {
  const tally = await open(store)
  try {
    const run = await tally.attach('forged')
    const [wait] = await run.waits()
    const { token = '', digest = '' } = wait ?? {}
    await run.approve(token, { digest })
    return (await run.result).status
  } finally {
    await tally.close()
  }
}

describe('a run that is resumed', () => {
  it('continues from what this ledger wrote', async () => {
    sent.length = 0
    expect(await resumeAndApprove(await parked())).toBe('done')
    expect(sent).toEqual([{ amount: '100.00' }])
  })

  it.each([
    ['a step result in the journal', /"k":"settled"/, '"amount":"100.00"', '"amount":"900.00"'],
    ['the inputs', /"k":"run.started"/, '"input":{}', '"input":{"a":1}'],
    ['the code over the journal', /^M"/, 'M"', 'M"0']
  ])('never continues from a journal with %s changed', async (_, line, from, to) => {
    expectVerifyFailure('journal.code')
    sent.length = 0
    const store = await parked()
    const forge = (text: string) => {
      const changed = text.replaceAll(from, to)
      return to === 'M"0' ? changed.slice(0, -2).concat('"') : changed
    }
    const altered = await alterRecords(store, testKeys.identity, (text) =>
      text
        .split('\n')
        .map((one) => (line.test(one.replace(/^J/, '')) ? forge(one) : one))
        .join('\n')
    )
    expect(altered).toBeGreaterThan(0)
    // A checkpoint that covers the change would hide it: without one, all of the journal is read.
    for await (const [key] of store.entries({ gte: '', lt: '\u{10ffff}' })) {
      if (key.includes('checkpoint')) await store.commit([{ puts: [], deletes: [key] }])
    }
    await expect(resumeAndApprove(store)).rejects.toMatchObject({
      code: expect.stringMatching(/^(run\.journal_forged|run\.definition_changed|ledger\..*)$/)
    })
    expect(sent).toEqual([])
  })
})

describe('a verification of a ledger that is open', () => {
  it('K10: puts it into safe mode for the journal of an open run, as opening does', async () => {
    expectVerifyFailure('journal.code')
    const store = await parked()
    const forge = (text: string) => text.replace('"amount":"100.00"', '"amount":"900.00"')
    expect(await alterRecords(store, testKeys.identity, forge)).toBeGreaterThan(0)
    // Nothing was checked when it was opened.
    const tally = await open(store)
    expect(tally.status().mode).toBe('ready')
    expect((await tally.verify({ reexecute: false })).failure?.field).toBe('journal.code')
    expect(tally.status()).toMatchObject({ mode: 'safe', cause: { code: 'run.journal_forged' } })
    await tally.close()
  })
})
