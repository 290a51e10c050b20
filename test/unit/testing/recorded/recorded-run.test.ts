import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defineBlock, EffectFailure } from '../../../../src/code/index.js'
import type { Json } from '../../../../src/core/index.js'
import type { Registrations, WiredRuntime } from '../../../../src/runtime/index.js'
import { fromLedger, openRecording } from '../../../../src/testing/index.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../../../support/ledger-on-disk.js'
import { codeOf } from '../../../support/lives.js'
import {
  counterPackage,
  type PackageFolder,
  packagesForAllTests
} from '../../../support/packages.js'

let disk: LedgerOnDisk
ledgerForEachTest((given) => {
  disk = given
})
let folder: PackageFolder
packagesForAllTests((given) => {
  folder = given
})

/** What may be changed of the code, and what was performed. */
interface Manner {
  readonly version?: string
  readonly fee?: number
  readonly asks?: string
  readonly reason?: string
  readonly readsMore?: boolean
  readonly performed?: string[]
}

function codeWith(manner: Manner = {}): Registrations {
  const { version = '1.0.0', fee = 1, asks = 'how much?', reason = 'no_money' } = manner
  const block = (name: string, run: Parameters<typeof defineBlock>[0]['run']) =>
    defineBlock({ name, version, sideEffects: 'idempotent', run })
  return {
    blocks: [
      block('shop.pay', async (ctx) => {
        const limit = ctx.state.get<number>('limit') ?? 10
        if (manner.readsMore === true) ctx.state.get('other')
        const paid = await ctx.effect<number>('bank', { request: { fee } })
        ctx.state.set('paid', paid + fee)
        return { paid, limit }
      }),
      block('shop.limit', (ctx) => {
        ctx.state.set('limit', (ctx.state.get<number>('limit') ?? 10) + 5)
        return null
      }),
      block('shop.ask', async (ctx) => {
        const { value = null } = await ctx.wait({ reason: 'external', request: asks })
        return value
      }),
      block('shop.fail', (ctx) => ctx.fail(reason, { fee }))
    ],
    providers: [
      {
        name: 'bank',
        perform: ({ request }) => {
          manner.performed?.push(JSON.stringify(request))
          if (manner.performed?.length === 1) throw new EffectFailure('busy', { definite: true })
          return 7
        }
      }
    ]
  }
}

function shop(...nodes: readonly string[]): Json {
  const named = nodes.map((block, n) => [
    `n${n}`,
    { block: `shop.${block}`, recovery: [{ retry: { max_attempts: 2 } }] }
  ])
  return {
    schema: 'tally-composite/1',
    name: 'shop',
    version: '2.1.0',
    entry_point: 'n0',
    nodes: Object.fromEntries(named),
    transitions: Object.fromEntries(nodes.slice(1).map((_, n) => [`n${n}`, `n${n + 1}`]))
  } as Json
}

async function answered(tally: WiredRuntime, id: string, document: Json): Promise<void> {
  const run = tally.begin(document, { id, inputs: { order: 4 } })
  for await (const event of run) {
    if (event.type !== 'waiting') continue
    await run.resume(event.token, { digest: event.digest, value: 'five', by: 'Ada' })
  }
  await run.result
}

async function parked(tally: WiredRuntime, id: string, document: Json): Promise<void> {
  for await (const event of tally.begin(document, { id })) if (event.type === 'run.parked') return
}

/** A ledger with a run that was retried, asked and failed, and what others did meanwhile. */
async function made(code: Registrations = codeWith({ performed: [] })): Promise<void> {
  const tally = await disk.open(code)
  await tally.begin(shop('limit'), { id: 'before' }).result
  await answered(tally, 'one', shop('pay', 'ask', 'limit', 'fail'))
  await tally.begin(shop('limit'), { id: 'after' }).result
  await parked(tally, 'open', shop('limit', 'ask'))
  await disk.close()
}

describe('a run of a ledger', () => {
  it('says what it was given, and how it ended', async () => {
    await made()
    const run = await fromLedger(disk.path, 'one')
    expect(run.target).toBe('shop@2.1.0')
    expect(run.input).toEqual({ order: 4 })
    expect(run.status).toBe('failed')
    expect(run.response).toMatchObject({ success: false, reason: 'no_money' })
    expect(run.tape.map(({ effect, ok }) => [effect, ok])).toEqual([
      ['bank', false],
      ['bank', true],
      ['wait', true]
    ])
    expect(run.answers).toMatchObject([{ body: { value: 'five' } }])
    expect(run.state).toMatchObject({ limit: 15 })
    expect(run.notChecked).toEqual([])
    expect((await fromLedger(disk.path, 'open')).status).toBe('waiting')
  })

  it('R1, R2: comes out the same, and performs nothing', async () => {
    await made()
    const performed: string[] = []
    for (const id of ['before', 'one', 'after', 'open']) {
      const report = await (await fromLedger(disk.path, id)).replay(codeWith({ performed }))
      expect.soft(report.outcome, report.text).toBe('same')
    }
    expect(performed).toEqual([])
    const report = await (await fromLedger(disk.path, 'one')).replay(codeWith())
    expect(report.executed).toEqual({ receipts: 3, failures: 3, open: 0 })
    const open = await (await fromLedger(disk.path, 'open')).replay(codeWith())
    expect(open.executed).toEqual({ receipts: 1, failures: 0, open: 1 })
  })

  it.each<[string, string, Manner, object]>([
    [
      'another request',
      'one',
      { fee: 2 },
      { kind: 'settled', place: { path: 'root/n0', attempt: 1 }, field: 'sealed.1.requestHash' }
    ],
    [
      'another failure',
      'one',
      { reason: 'bankrupt' },
      { kind: 'settled', place: { path: 'root/n3' }, field: 'journal.response' }
    ],
    [
      'another question where it is parked',
      'open',
      { asks: 'how many?' },
      {
        entry: null,
        place: { path: 'root/n1' },
        expected: expect.stringContaining('how much?'),
        found: expect.stringContaining('how many?')
      }
    ]
  ])('comes out otherwise by %s, and says where', async (_, id, manner, difference) => {
    await made()
    const report = await (await fromLedger(disk.path, id)).replay(codeWith(manner))
    expect(report.outcome).toBe('otherwise')
    expect(report.difference).toMatchObject(difference)
    expect(report.difference?.code).toHaveLength(1)
    expect(report.text).toContain(`run ${id} comes out otherwise at `)
    expect(report.text).toContain('shop.')
  })

  it('R3: is not checked by code of other versions, which it names', async () => {
    await made()
    const run = await fromLedger(disk.path, 'one')
    const report = await run.replay(codeWith({ version: '1.1.0' }))
    expect(report.outcome).toBe('not_checked')
    expect(report.difference).toBeUndefined()
    expect(report.text).toContain('shop.pay@1.0.0')
    expect((await run.replay({})).outcome).toBe('not_checked')
  })

  it('R3: is not checked by code that reads what the recording does not have', async () => {
    await made()
    const run = await fromLedger(disk.path, 'one')
    const file = join(disk.directory, 'one.json')
    await writeFile(file, await run.fixture(codeWith()))
    const narrowed = await openRecording(file)
    expect(narrowed.state).toEqual({ limit: 15 })
    expect((await narrowed.replay(codeWith())).outcome).toBe('same')
    const report = await narrowed.replay(codeWith({ readsMore: true }))
    expect(report.outcome).toBe('not_checked')
    expect(report.text).toContain('state other is not in the recording')
    expect((await run.replay(codeWith({ readsMore: true }))).outcome).toBe('same')
  })

  it('is read of the process that holds the ledger', async () => {
    await made()
    const before = await fromLedger(disk.path, 'one')
    await disk.open({ ...codeWith(), serve: true } as never)
    expect((await fromLedger(disk.path, 'one')).recording).toEqual(before.recording)
    const report = await (await fromLedger(disk.path, 'open')).replay(codeWith())
    expect(report.outcome, report.text).toBe('same')
    expect(await codeOf(fromLedger(disk.path, 'none'))).toBe('run.not_found')
  })

  it('executes a package by the code that it had', async () => {
    const directory = await folder.write(counterPackage)
    const tally = await disk.open({ packages: [directory] })
    await tally.intent({ action: 'count.up', payload: { by: 2 }, id: 'up' })
    await tally.intent({
      action: 'system.grant',
      payload: { package: 'counter', capabilities: ['storage.read', 'storage.write'] }
    })
    await tally.result('up').catch(() => undefined)
    await disk.close()
    const run = await fromLedger(disk.path, 'up')
    expect(run.target).toBe('count.up')
    const here = await run.replay({})
    expect(here.outcome, here.text).toBe('same')
    expect(here.executed.receipts).toBe(1)
    const file = join(disk.directory, 'up.json')
    await writeFile(file, await run.fixture({}))
    const alone = await openRecording(file)
    const given = await alone.replay({ packages: [directory] })
    expect(given.outcome, given.text).toBe('same')
    const without = await alone.replay({})
    expect(without.outcome).toBe('not_checked')
    expect(without.text).toContain('counter')
  })

  it('is refused by a code that says what to do', async () => {
    await made()
    expect(await codeOf(fromLedger(disk.path, 'none'))).toBe('run.not_found')
    expect(await codeOf(fromLedger(join(disk.directory, 'none'), 'one'))).toBe('ledger.not_found')
    const file = join(disk.directory, 'bad.json')
    for (const text of ['{', '[]', '{"schema":"other"}']) {
      await writeFile(file, text)
      expect.soft(await codeOf(openRecording(file)), text).toBe('testing.recording_invalid')
    }
    const { recording } = await fromLedger(disk.path, 'one')
    const [first, ...rest] = recording.entries
    const broken = [
      { ...recording, entries: rest },
      { ...recording, entries: [] },
      { ...recording, state: [{ value: 1 }] },
      { ...recording, lists: [1] },
      { ...recording, identity: 1 },
      { ...recording, more: 1 },
      { ...recording, state: [{ key: 'k', withheld: 1 }] },
      { ...recording, entries: [{ ...first, receipt: {} }, ...rest] },
      { ...recording, entries: [{ ...first, elsewhere: 1 }, ...rest] }
    ]
    for (const one of broken) {
      await writeFile(file, JSON.stringify(one))
      expect.soft(await codeOf(openRecording(file))).toBe('testing.recording_invalid')
    }
  })
})
