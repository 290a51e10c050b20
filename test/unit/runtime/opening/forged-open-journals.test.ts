import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { alterRecords } from '../../../../src/cli/demo/alter.js'
import { defineBlock } from '../../../../src/code/index.js'
import type { Json } from '../../../../src/core/index.js'
import { holdStore } from '../../../../src/ledger/index.js'
import { repairLocation, verifyLocation } from '../../../../src/runtime/index.js'
import type { WiredRuntime } from '../../../../src/runtime/runtime.js'
import { LedgerOnDisk } from '../../../support/ledger-on-disk.js'
import { inspectOpening } from '../../../support/standing-time.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'

/** The journal of a run that has not ended is altered by somebody without the key. */

let executed = 0
const blocks = [
  defineBlock({
    name: 'price',
    version: '1.0.0',
    sideEffects: 'none',
    run: () => ({ amount: '100.00' })
  }),
  defineBlock({
    name: 'ask',
    version: '1.0.0',
    sideEffects: 'none',
    run: (ctx) => ctx.wait({ reason: 'external' })
  }),
  defineBlock({
    name: 'clock',
    version: '1.0.0',
    sideEffects: 'none',
    intents: ['clock.read'],
    run: () => {
      executed += 1
      return { executed }
    }
  })
]
const composite = (name: string, nodes: Json, transitions: Json = {}): Json => ({
  schema: 'tally-composite/1',
  name,
  version: '1.0.0',
  entry_point: 'price',
  nodes,
  transitions
})
const ended = composite('ended', { price: { block: 'price' } })
const asking = composite(
  'asking',
  { price: { block: 'price' }, ask: { block: 'ask' } },
  { price: 'ask' }
)

async function begin(tally: WiredRuntime): Promise<void> {
  await tally.begin(ended, { id: 'before' }).result
  const run = tally.begin(asking, { id: 'open' })
  run.result.catch(() => undefined)
  for await (const event of run) if (event.type === 'run.parked') break
  await tally.begin(ended, { id: 'after' }).result
}

/** Changes lines of the items of one run. */
const ofRun = (id: string, change: (line: string) => string | undefined) => (text: string) => {
  let isMeant = false
  const lines = text.split('\n').map((line) => {
    if (line.startsWith('I')) isMeant = line === `I"${id}"`
    return isMeant ? change(line) : line
  })
  return lines.filter((line) => line !== undefined).join('\n')
}

const otherCode = (line: string) => (line.startsWith('M') ? `M"${'0'.repeat(64)}"` : line)

const forgeries: readonly (readonly [string, (text: string) => string])[] = [
  [
    'a step result',
    ofRun('open', (line) =>
      line.startsWith('J') ? line.replace('"amount":"100.00"', '"amount":"900.00"') : line
    )
  ],
  [
    'the input',
    ofRun('open', (line) =>
      line.startsWith('J') ? line.replace('"input":{}', '"input":{"a":1}') : line
    )
  ],
  ['a code', ofRun('open', otherCode)],
  ['a code that is gone', ofRun('open', (line) => (line.startsWith('M') ? undefined : line))]
]

const nothing = { notes: [], allowCut: false, acknowledgeNotes: false }
const unsafe = { mode: 'safe', cause: { code: 'run.journal_forged' } }

describe('a ledger whose open run has entries that it has not written', () => {
  let disk: LedgerOnDisk
  beforeEach(async () => {
    disk = await LedgerOnDisk.create()
    await begin(await disk.open({ blocks }))
    await disk.close()
  })
  afterEach(() => disk.remove())

  async function forge(change: (text: string) => string): Promise<void> {
    const held = await holdStore(disk.path)
    const [identity] = held.location.marker.identities
    if (identity === undefined) throw new Error('the ledger has no identity')
    expect(await alterRecords(held.store, identity, change)).toBeGreaterThan(0)
    await held.close()
  }

  it.each(forgeries)(
    'K10, L12: is judged alike by doctor, opening and verify, with %s',
    async (name, change) => {
      expectVerifyFailure('journal.code')
      // The record of the run has its input, too.
      if (name === 'the input') expectVerifyFailure('derived.run')
      await forge(change)
      const { causes } = await inspectOpening(disk.path, { code: { blocks } })
      expect(causes).toMatchObject([{ code: 'run.journal_forged', consent: 'cut' }])
      const tally = await disk.open({ blocks })
      expect(tally.status()).toMatchObject(unsafe)
      for (const reexecute of [true, false]) {
        const { failure } = await tally.verify({ reexecute })
        expect(failure).toMatchObject({ field: 'journal.code', key: 'open' })
      }
      expect(tally.status()).toMatchObject(unsafe)
      await expect(tally.resume('open')).rejects.toMatchObject({ code: 'run.journal_forged' })
      expect(await tally.intent({ action: 'system.recover' })).toMatchObject({
        ok: false,
        cause: { code: 'run.journal_forged', consent: 'cut', loses: expect.any(String) }
      })
    }
  )

  it.each(forgeries)(
    'K2: is led out of safe mode by a cut before them, with %s',
    async (_, change) => {
      await forge(change)
      await expect(repairLocation(disk.path, nothing)).rejects.toMatchObject({
        code: 'ledger.not_recoverable'
      })
      const { recovery } = await repairLocation(disk.path, { ...nothing, allowCut: true })
      expect(recovery).toMatchObject({ kind: 'cut' })
      expect((await inspectOpening(disk.path, { code: { blocks } })).causes).toEqual([])
      const tally = await disk.open({ blocks })
      expect(tally.status().mode).toBe('ready')
      expect((await tally.verify()).failure).toBeUndefined()
      expect(tally.run('before')?.status).toBe('done')
    }
  )

  it('L12: needs no code for a run that has ended', async () => {
    await forge(ofRun('after', otherCode))
    expect((await inspectOpening(disk.path, { code: { blocks } })).causes).toEqual([])
    const tally = await disk.open({ blocks })
    expect(tally.status().mode).toBe('ready')
    expect((await tally.verify()).failure).toBeUndefined()
  })

  it('K2: stays in safe mode where a wrong lock and code that differs hide them', async () => {
    for (const field of ['journal.response', 'journal.code', 'lock']) expectVerifyFailure(field)
    const tally = await disk.open({ blocks })
    await tally.intent({ id: 'reading', action: 'clock.read' })
    await disk.close()
    const directory = join(disk.path, 'integrity')
    const [name = ''] = await readdir(directory)
    await writeFile(join(directory, name), 'lock')
    const [, change] = forgeries[0] ?? ['', (text: string) => text]
    await forge(change)
    const again = await disk.open({ blocks })
    expect(again.status().cause?.code).toBe('runtime.integrity_lock')
    const payload = { acceptLock: true }
    expect(await again.intent({ action: 'system.recover', payload })).toMatchObject({
      ok: false,
      mode: 'safe',
      cause: { code: 'run.journal_forged' }
    })
    const options = { ...nothing, acceptLock: true }
    await expect(repairLocation(disk.path, options)).rejects.toMatchObject({
      code: expect.stringMatching(/^ledger\./)
    })
  })

  it('says without the key what is not checked', async () => {
    expect((await verifyLocation(disk.path, { notes: [] })).notChecked.join()).toContain('blob key')
    expect((await (await disk.open({ blocks })).verify()).notChecked.join()).not.toContain('blob')
  })
})
