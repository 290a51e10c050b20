import { cp } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLevelStore } from '../../src/ledger/index.js'
import { repairLocation, type WiredRuntime } from '../../src/runtime/index.js'
import { cases } from '../support/effort.js'
import {
  documentOf,
  fillLedger,
  openSnapshotLedger,
  receiptsOf,
  temporaryDirectory
} from '../support/snapshots.js'
import { expectVerifyFailure } from '../support/verified-close.js'

const everything = { gte: '', lt: '\u{10ffff}' }
const consents = { notes: [], allowCut: true, acknowledgeNotes: true, acceptLock: true }

/** Of what was erased, a record of the state alone has the value. */
const ERASED = 'erased'

/** Long enough to leave pictures of where its chart stood. */
const LONG = {
  schema: 'tally-composite/1',
  name: 'long',
  version: '1',
  entry_point: 'a',
  max_steps: 300,
  nodes: Object.fromEntries(
    ['a', 'b'].map((id) => [id, { block: 'note', input: { ref: 'request.payload' } }])
  ),
  transitions: { a: 'b', b: 'a' }
}

let place: Awaited<ReturnType<typeof temporaryDirectory>>
/** Keys of the store, without its identity. */
let keys: readonly string[]
let receipts = 0

beforeAll(async () => {
  place = await temporaryDirectory('any-record')
  const tally = await openSnapshotLedger(place.path('sound'), { create: 'if-absent' })
  await fillLedger(tally)
  const inputs = { text: ERASED }
  await tally.begin(documentOf('note'), { inputs, subject: 'somebody' }).result
  await tally.erase('somebody')
  await tally.begin(LONG, { inputs: { text: 'again and again' } }).result
  receipts = tally.status().receipts
  await tally.close()
  const store = await openLevelStore({ path: place.path('sound/data-1'), create: false })
  const found: string[] = []
  for await (const [key] of store.entries(everything)) found.push(key.slice(key.indexOf('/') + 1))
  keys = found
  expect(new Set(found.map(kindOf))).toContain('picture')
  await store.close()
})
afterAll(() => place.remove())

type Damage = 'removed' | 'altered'

async function damaged(key: string, how: Damage): Promise<string> {
  const location = place.path(`${keys.indexOf(key)}-${how}`)
  await cp(place.path('sound'), location, { recursive: true })
  const store = await openLevelStore({ path: `${location}/data-1`, create: false })
  for await (const [stored, value] of store.entries(everything)) {
    if (!stored.endsWith(`/${key}`)) continue
    const bytes = Buffer.from(value)
    const at = bytes.length >> 1
    bytes[at] = (bytes[at] ?? 0) ^ 1
    const change = { puts: [[stored, bytes] as const], deletes: [] }
    await store.commit([how === 'removed' ? { puts: [], deletes: [stored] } : change])
  }
  await store.close()
  return location
}

/** What the keys of one kind have in common. */
const kindOf = (key: string) => key.split('/')[0] ?? ''
const firstOf = (kind: string) => keys.findIndex((key) => kindOf(key) === kind)
/** Of each kind the first ones; all in soaks. */
const OF_A_KIND = cases({ usual: 1, long: 3, soak: Number.POSITIVE_INFINITY })
const taken = () => keys.filter((key, at) => at < firstOf(kindOf(key)) + OF_A_KIND)

describe.each(['removed', 'altered'] as const)('where any one record is %s', (how) => {
  it('K2: recover leads out of it, and loses nothing but what followed a lost commit', async () => {
    for (const [place, key] of taken().entries()) {
      const what = `${key} ${how}`
      const location = await damaged(key, how)
      // A program may have opened it before, which must leave nothing worse.
      if (place % 2 === 0) await openedOnce(location)
      const { recovery } = await repairLocation(location, consents)
      const isLost = /^(commit|blob)\//.test(key) || key === `state/texts/${ERASED}`
      if (!isLost && recovery.kind === 'cut') expect(recovery.lostCommits, what).toBe(0)
      if (key.startsWith('commit/')) {
        const commits = Number.parseInt(key.slice('commit/'.length), 16)
        expect(recovery, what).toMatchObject({ kind: 'cut', commits })
      }
      const tally = await openSnapshotLedger(location)
      expect(tally.status(), what).toMatchObject({ mode: 'ready' })
      if (!isLost) expect(tally.status().receipts, what).toBe(receipts)
      const inputs = { text: 'afterwards' }
      expect((await tally.begin(documentOf('note'), { inputs }).result).status, what).toBe('done')
      expect((await tally.verify()).failure, what).toBeUndefined()
      await tally.close()
    }
  })
})

describe('L4: a ledger whose head cannot be read', () => {
  it.each(['removed', 'altered'] as const)('shows what it holds where that is %s', async (how) => {
    const sound = await openSnapshotLedger(place.path('sound'))
    const shown = await listed(sound)
    await sound.close()
    const location = await damaged('head', how)
    const tally = await openSnapshotLedger(location)
    expect(tally.status()).toMatchObject({ mode: 'safe', receipts })
    expect(await listed(tally)).toEqual(shown)
    const path = place.path(`${how}.tally`)
    await expect(tally.export({ path, damaged: true })).rejects.toMatchObject({
      code: 'ledger.corrupt'
    })
    expectVerifyFailure(how === 'removed' ? 'head' : 'store')
    await tally.close()
    const { recovery } = await repairLocation(location, consents)
    expect(recovery).toMatchObject({ kind: 'cut', lostCommits: 0 })
  })
})

async function listed(tally: WiredRuntime) {
  const { items: runs } = await tally.queries.find({})
  const { items: waits } = await tally.queries.waits({})
  const { items: state } = await tally.queries.state({})
  return {
    receipts: await receiptsOf(tally),
    runs: runs.map(({ id, status }) => [id, status]),
    waits: waits.map(({ wait }) => wait.token),
    state,
    packages: tally.packages.list(() => false),
    roots: tally.ledger.roots()
  }
}

async function openedOnce(location: string): Promise<void> {
  const tally = await openSnapshotLedger(location)
  const { failure } = await tally.verify()
  if (failure !== undefined) expectVerifyFailure(failure.field)
  await tally.close()
}
