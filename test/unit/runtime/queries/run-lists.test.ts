import { describe, expect, it } from 'vitest'
import { alterRecords } from '../../../../src/cli/demo/alter.js'
import { defineBlock } from '../../../../src/code/index.js'
import { digestOf, type Json, ManualClock } from '../../../../src/core/index.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import type { Queries, WiredRuntime } from '../../../../src/runtime/index.js'
import { askApprovers } from '../../../support/approvers.js'
import { lasting } from '../../../support/lasting-store.js'
import { openOn, testKeys } from '../../../support/lives.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'

const ask = defineBlock({
  name: 'ask',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx, input) =>
    (await ctx.wait({ reason: 'external', request: input as Json })).value as Json
})
const give = defineBlock({
  name: 'give',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['give'],
  run: (_, input) => ({ given: input as Json })
})
const fail = defineBlock({
  name: 'fail',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx) => ctx.fail('no_stock', { message: 'none\n  is left' })
})

const asking = (name: string): Json => ({
  schema: 'tally-composite/1',
  name,
  version: '1.0.0',
  entry_point: 'give',
  nodes: { give: { block: 'give' }, ask: { block: 'ask' } },
  transitions: { give: 'ask' }
})
const failing: Json = {
  schema: 'tally-composite/1',
  name: 'ship',
  version: '1.0.0',
  entry_point: 'fail',
  nodes: { fail: { block: 'fail' } }
}

const askingFor = (reason: string): Json => ({
  schema: 'tally-composite/1',
  name: reason,
  version: '1.0.0',
  entry_point: 'ask',
  nodes: { ask: { block: `ask.${reason}` } }
})

const clock = () => new ManualClock(1_700_000_000_000)

async function opened(store = openMemoryStore()): Promise<WiredRuntime> {
  return openOn(store, { blocks: [ask, give, fail], clock: clock() })
}

async function parked(tally: WiredRuntime, id: string, name = 'ask-it'): Promise<void> {
  for await (const event of tally.begin(asking(name), { id, inputs: { of: id } })) {
    if (event.type === 'run.parked') return
  }
}

async function pages<Item>(
  ask: (
    cursor: object
  ) => Promise<{ readonly items: readonly Item[]; readonly next: string | null }>
): Promise<readonly (readonly Item[])[]> {
  const found: (readonly Item[])[] = []
  for (let cursor: string | null | undefined; cursor !== null && found.length < 20; ) {
    const page = await ask(cursor === undefined ? {} : { cursor })
    found.push(page.items)
    cursor = page.next
  }
  return found
}

describe('the list of runs', () => {
  it('says of each run how it stands, who began it, its receipts and why it failed', async () => {
    await using tally = await opened()
    await parked(tally, 'waits')
    await tally.begin(failing, { id: 'failed' }).result
    await tally.intent({ id: 'lone', action: 'give' })
    const { items, next } = await tally.queries.find()
    expect(next).toBeNull()
    const byId = Object.fromEntries(items.map((line) => [line.id, line]))
    expect(byId).toMatchObject({
      waits: { status: 'waiting', name: 'ask-it', receipts: 1, failure: null, entries: 5 },
      failed: { status: 'failed', receipts: 0, failure: 'no_stock: none is left' },
      lone: { status: 'done', receipts: 1, principal: { kind: 'owner', id: 'local' } }
    })
    expect(byId['waits']?.waits).toHaveLength(1)
    // What the run has done since is counted on.
    const [wait] = byId['waits']?.waits ?? []
    const run = await tally.attach('waits')
    await run.resume(wait?.token ?? '', { digest: wait?.digest ?? '', value: 1 })
    await run.result
    const again = await tally.queries.find({ text: 'waits' })
    expect(again.items).toMatchObject([{ status: 'done', receipts: 3, waits: [] }])
  })

  it('keeps to status, name, part of a text, and time', async () => {
    await using tally = await opened()
    for (const id of ['one', 'two', 'three']) await parked(tally, id, `ask-${id}`)
    await tally.begin(failing, { id: 'four' }).result
    const ids = async (filter: Parameters<Queries['find']>[0]) =>
      (await tally.queries.find(filter)).items.map(({ id }) => id as string).sort()
    expect(await ids({ status: 'failed' })).toEqual(['four'])
    expect(await ids({ name: 'ask-two' })).toEqual(['two'])
    expect(await ids({ text: 'ASK-T' })).toEqual(['three', 'two'])
    expect(await ids({ since: 1_700_000_000_000, until: 1_700_000_000_000 })).toEqual([])
    expect(await ids({ since: 1_700_000_000_000, status: 'waiting' })).toHaveLength(3)
    expect(await ids({ status: 'imported' })).toEqual([])
    const listed = await pages((cursor) => tally.queries.find({ limit: 3, ...cursor }))
    expect(listed.map((page) => page.length)).toEqual([3, 1])
  })

  it('counts them by how they stand, also when they move', async () => {
    await using tally = await opened()
    expect(await tally.queries.counts()).toEqual({ all: 0, byStatus: {} })
    for (const id of ['one', 'two']) await parked(tally, id)
    await tally.begin(failing, { id: 'failed' }).result
    expect(await tally.queries.counts()).toEqual({ all: 3, byStatus: { waiting: 2, failed: 1 } })
    const run = await tally.attach('one')
    const [wait] = (await tally.queries.find({ text: 'one' })).items[0]?.waits ?? []
    await run.resume(wait?.token ?? '', { digest: wait?.digest ?? '', value: 1 })
    await run.result
    const { all, byStatus } = await tally.queries.counts()
    expect({ all, ...byStatus }).toEqual({ all: 3, waiting: 1, failed: 1, done: 1 })
    for (const [status, count] of Object.entries(byStatus)) {
      const found = await tally.queries.find({ status: status as never })
      expect(found.items, status).toHaveLength(count)
    }
  })

  it('refuses pages without an end, and cursors that it has not given', async () => {
    await using tally = await opened()
    const invalid = { code: 'service.invalid_params' }
    const { find } = tally.queries
    await expect(find({ limit: 0 })).rejects.toMatchObject(invalid)
    await expect(find({ limit: 201 })).rejects.toMatchObject(invalid)
    await expect(find({ cursor: 'x' })).rejects.toMatchObject(invalid)
    await expect(find({ cursor: `1.${'0'.repeat(16)}` })).rejects.toMatchObject(invalid)
    await expect(find({ status: 'lost' as never })).rejects.toMatchObject(invalid)
    await expect(find({ more: 1 } as never)).rejects.toMatchObject(invalid)
  })

  it('K13: shows an agent its own runs alone', async () => {
    await using tally = await opened()
    await parked(tally, 'owned')
    expect((await tally.queries.find({ agent: 'mail' })).items).toEqual([])
  })
})

describe('the list of waits', () => {
  it('W7: gives each wait with all that its digest covers, oldest run first, page by page', async () => {
    await using tally = await opened()
    for (const id of ['one', 'two', 'three']) await parked(tally, id)
    const listed = await pages((cursor) => tally.queries.waits({ limit: 2, ...cursor }))
    expect(listed.map((page) => page.length)).toEqual([2, 1])
    for (const { wait, runId, mayAnswer, since } of listed.flat()) {
      expect(digestOf(wait)).toBe(wait.digest)
      expect(wait.request).toMatchObject({ request: { of: runId } })
      expect(mayAnswer).toEqual({ ok: true })
      expect(since).toBeGreaterThanOrEqual(1_700_000_000_000)
    }
    const run = await tally.attach('two')
    const [wait] = await run.waits()
    await run.resume(wait?.token ?? '', { digest: wait?.digest ?? '', value: 1 })
    await run.result
    const left = (await tally.queries.waits()).items.map(({ runId }) => runId as string).sort()
    expect(left).toEqual(['one', 'three'])
  })

  it('K13: says how many approvers have to sign, and why an agent may not answer', async () => {
    await using tally = await openOn(openMemoryStore(), {
      blocks: [askApprovers('confirmation'), askApprovers('permission')],
      clock: clock()
    })
    for (const reason of ['confirmation', 'permission'] as const) {
      const run = tally.begin(askingFor(reason), { id: reason })
      for await (const event of run) if (event.type === 'run.parked') break
    }
    const reasons = async (agent: object) =>
      Object.fromEntries(
        (await tally.queries.waits(agent)).items.map(({ runId, mayAnswer }) => [
          runId,
          mayAnswer.ok || mayAnswer.reason
        ])
      )
    const signatures = 'it takes signatures of 2 of 3 approvers; 0 are there'
    expect(await reasons({})).toEqual({ confirmation: signatures, permission: signatures })
    expect(await reasons({ agent: 'mail', answers: true })).toEqual({ confirmation: signatures })
    expect(await reasons({ agent: 'mail' })).toEqual({})
  })

  it('K13: shows an agent that may answer what it may answer, and another nothing', async () => {
    await using tally = await opened()
    await parked(tally, 'owned')
    const { items } = await tally.queries.waits({ agent: 'mail', answers: true })
    expect(items).toMatchObject([{ runId: 'owned', mayAnswer: { ok: true } }])
    for (const runId of [undefined, 'owned']) {
      const asked = runId === undefined ? {} : { runId }
      expect((await tally.queries.waits({ agent: 'mail', ...asked })).items).toEqual([])
    }
  })

  it('L12: leaves out a run whose wait is not what is signed, and the list of runs names it', async () => {
    expectVerifyFailure('journal.code')
    const store = lasting(openMemoryStore())
    const before = await opened(store)
    await parked(before, 'forged')
    await parked(before, 'sound')
    await before.close()
    const forge = (text: string) =>
      text.replaceAll('{\\"of\\":\\"forged\\"}', '{\\"of\\":\\"better\\"}')
    const plain = (text: string) => text.replaceAll('{"of":"forged"}', '{"of":"better"}')
    expect(
      await alterRecords(store, testKeys.identity, (text) => plain(forge(text)))
    ).toBeGreaterThan(0)
    const tally = await opened(store)
    const { items } = await tally.queries.waits()
    expect(items.map(({ runId }) => runId)).toEqual(['sound'])
    const { items: runs } = await tally.queries.find({ text: 'forged' })
    expect(runs).toMatchObject([{ waits: [], problem: expect.stringMatching(/forged/) }])
    expect((await tally.queries.locate({ text: 'forged' })).found).toMatchObject([{ kind: 'run' }])
    await tally.close()
  })
})

describe('the search', () => {
  it('leads from an id, a part of one, a hash, a place, a token and a key to what they name', async () => {
    await using tally = await opened()
    await parked(tally, 'june-7')
    const receipt = await tally.receipt(0)
    const { receiptHash = '' } = receipt?.receipt ?? {}
    const [wait] = await (await tally.attach('june-7')).waits()
    const found = async (text: string) => (await tally.queries.locate({ text })).found
    expect(await found(' june-7 ')).toEqual([{ kind: 'run', id: 'june-7', name: 'ask-it' }])
    expect(await found('JUNE')).toMatchObject([{ kind: 'run', id: 'june-7' }])
    expect(await found(receiptHash)).toMatchObject([{ kind: 'receipt', hash: receiptHash }])
    expect(await found(`#${receipt?.index}`)).toMatchObject([{ hash: receiptHash }])
    expect(await found(wait?.token ?? '')).toEqual([
      { kind: 'wait', runId: 'june-7', token: wait?.token }
    ])
    expect(await found('nothing-of-this')).toEqual([])
    expect(await found('  ')).toEqual([])
  })
})
