import { cp, readdir } from 'node:fs/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { importSnapshot, inspectLocation, unfinishedData } from '../../src/ledger/index.js'
import { verifyLocation } from '../../src/runtime/index.js'
import { builtModule } from '../support/built.js'
import {
  documentOf,
  fillLedger,
  openSnapshotLedger,
  temporaryDirectory
} from '../support/snapshots.js'
import { startWriter } from './crash-store/process.js'

let place: Awaited<ReturnType<typeof temporaryDirectory>>
beforeEach(async () => {
  place = await temporaryDirectory('crash-snapshot')
})
afterEach(() => place.remove())

const early = () => place.path('early.snapshot')
const whole = () => place.path('whole.snapshot')

/**
 * Imports in a process of its own that dies at a step; tells how many steps it lived, if it did.
 */
async function dying(location: string, step: number, delayMs = 0): Promise<number | undefined> {
  const { lived } = await importing('ledger/index.js', [location, whole(), `${step}`, `${delayMs}`])
  return lived
}

async function importing(module: string, options: readonly string[]) {
  const told: string[] = []
  let lived: number | undefined
  await startWriter('import-worker.mjs', [builtModule(module), ...options], (line) => {
    const [kind, what = ''] = line.split(' ')
    if (kind === 'told') told.push(what)
    else lived = Number(what)
  })
  return { lived, told }
}

it('L9, P3, K10: an import that dies at any step leaves the old ledger, and the next succeeds', async () => {
  const tally = await openSnapshotLedger(place.path('ledger'), { create: 'if-absent' })
  await tally.begin(documentOf('note'), { inputs: { text: 'first' } }).result
  const first = await tally.export({ path: early() })
  await fillLedger(tally)
  const last = await tally.export({ path: whole() })
  await tally.close()
  const location = place.path('imported')
  await importSnapshot(location, { file: early() })

  const steps = (await dying(place.path('counted'), Number.POSITIVE_INFINITY)) ?? 0
  expect(steps).toBeGreaterThan(6)
  const wait = process.env['SOAK'] === '1' ? 1 : 6
  let isSwitched = false
  let died = 0
  for (let step = 2; step < steps + 12; step += wait) {
    const lived = await dying(location, step, step % 3 === 0 ? 4 : 0)
    if (lived === undefined) died += 1
    const report = await verifyLocation(location, { notes: [] })
    expect(report.failure, `step ${step}`).toBeUndefined()
    const roots = [first.headRoot, last.headRoot]
    expect(roots).toContain(report.head?.headRoot)
    // There is no way back.
    if (isSwitched) expect(report.head?.headRoot).toBe(last.headRoot)
    isSwitched = report.head?.headRoot === last.headRoot
    if (lived !== undefined) break
  }
  expect(died).toBeGreaterThan(1)
  await importSnapshot(location, { file: whole() })
  expect(await unfinishedData(location)).toEqual([])
  const found = await inspectLocation(location)
  expect(found?.marker.followers).toEqual(found?.marker.identities)
  const left = (await readdir(location)).filter((name) => name.startsWith('data-')).sort()
  expect(left).toEqual(['data-1', found?.marker.live])
  expect(await verifyLocation(location, { notes: [] })).toMatchObject({ ok: true })

  // The first import of a place dies before its data directory, and before its marker.
  const fresh = place.path('fresh')
  expect(await dying(fresh, 6)).toBeUndefined()
  expect(await unfinishedData(fresh)).toEqual([])
  expect(await dying(fresh, 7)).toBeUndefined()
  expect(await inspectLocation(fresh)).toBeUndefined()
  expect(await unfinishedData(fresh)).toEqual(['data-1'])
  const { live } = await importSnapshot(fresh, { file: whole() })
  expect((await readdir(fresh)).sort()).toEqual([live, 'marker.json'])
})

it('L9, K10, D2: an open ledger that dies while it is restored is the old or the new one', async () => {
  const tally = await openSnapshotLedger(place.path('ledger'), { create: 'if-absent' })
  await tally.begin(documentOf('note'), { inputs: { text: 'first' } }).result
  const first = tally.ledger.roots().head
  await tally.close()
  await cp(place.path('ledger'), place.path('early'), { recursive: true })
  const later = await openSnapshotLedger(place.path('ledger'))
  await later.begin(documentOf('note'), { inputs: { text: 'later' } }).result
  const { headRoot } = await later.export({ path: whole() })
  await later.close()

  const steps = ['before marker', 'behind marker']
  if (process.env['SOAK'] === '1') for (let step = 1; step < 25; step += 1) steps.push(`${step}`)
  for (const step of steps) {
    const location = place.path(`open-${step.replace(' ', '-')}`)
    await cp(place.path('early'), location, { recursive: true })
    const { told } = await importing('index.js', [location, whole(), step, '0', 'open'])
    // What waited for its commit was not acknowledged.
    expect(told, step).toEqual([])
    const report = await verifyLocation(location, { notes: [] })
    expect(report.failure, step).toBeUndefined()
    const isNew = report.head?.headRoot === headRoot
    if (!isNew) expect(report.head?.headRoot, step).toBe(first)
    if (step === 'before marker') expect(isNew).toBe(false)
    if (step === 'behind marker') expect(isNew).toBe(true)
    const again = await openSnapshotLedger(location, isNew ? { takeOver: true } : {})
    expect(again.status(), step).toMatchObject({ mode: 'ready', warnings: [] })
    const reply = await again.intent({ action: 'system.import', payload: { file: whole() } })
    expect(reply, step).toMatchObject({ restored: !isNew })
    await again.close()
    expect(await unfinishedData(location), step).toEqual([])
  }
})
