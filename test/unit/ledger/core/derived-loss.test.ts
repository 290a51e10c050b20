import { describe, expect, it } from 'vitest'
import { type IdentityId, type RunId, sha256Hex, type UnitId } from '../../../../src/core/index.js'
import { RUN_COMMITS_IN_BLOCK } from '../../../../src/ledger/derived/run-records.js'
import { unwrapUnchecked, wrapValue } from '../../../../src/ledger/envelope.js'
import { type Ledger, type Store, verifyLedger } from '../../../../src/ledger/index.js'
import { openMemoryStore } from '../../../../src/ledger/stores/memory.js'
import { derivedText, withBody } from '../../../support/derived.js'
import { isTaken } from '../../../support/effort.js'
import { openLedger } from '../../../support/ledgers.js'
import {
  collect,
  commit,
  entry,
  fixedIdentity,
  ledgerOptions,
  loneItem,
  newLedger,
  reopen
} from './support.js'

const keys = fixedIdentity()
const { identity } = keys
const LONG_RUN = 'long' as RunId
const UNITS = 24

type Entries = readonly (readonly [key: string, value: Uint8Array])[]

async function entriesOf(store: Store): Promise<Entries> {
  return collect(store.entries({ gte: '', lt: '\u{10ffff}' }))
}

async function storeOf(entries: Entries): Promise<Store> {
  const store = openMemoryStore()
  await store.commit([{ puts: entries, deletes: [] }])
  return store
}

interface Written {
  /** What was stored half-way. */
  readonly earlier: Entries
  readonly whole: Entries
  /** What the whole ledger answers. */
  readonly undamaged: string
}

let all: Promise<Written> | undefined

/** Written once for all tests, which change copies of it. */
function written(): Promise<Written> {
  all ??= write()
  return all
}

/** A ledger with records of every derived kind. */
async function write(): Promise<Written> {
  const opened = await newLedger()
  const grow = async (ledger: Ledger, from: number, to: number) => {
    for (let n = from; n < to; n += 1) {
      await commit(ledger, loneItem({ id: `u${n}`, writes: { [`k${n % 9}`]: n } }))
      if (n % 5 === 4) await ledger.logHashes()
    }
  }
  const visit = async (ledger: Ledger, from: number, to: number) => {
    for (let n = from; n < to; n += 1) {
      const fields = n === 0 ? { k: 'run.started', status: 'running' } : { k: 'sealed' }
      await commit(ledger, { runId: LONG_RUN, entries: [entry(LONG_RUN, n, fields)] })
    }
  }
  await visit(opened.ledger, 0, RUN_COMMITS_IN_BLOCK + 20)
  await grow(opened.ledger, 0, UNITS / 2)
  await opened.ledger.close()
  const earlier = await entriesOf(opened.store)
  const again = await reopen(opened)
  await grow(again, UNITS / 2, UNITS)
  await visit(again, RUN_COMMITS_IN_BLOCK + 20, RUN_COMMITS_IN_BLOCK * 2 + 40)
  await again.close()
  const whole = await entriesOf(opened.store)
  const undamaged = await answers(await reopen({ store: await storeOf(whole), keys }))
  return { earlier, whole, undamaged }
}

const kinds: readonly string[] = ['derived', 'index', 'chain', 'run', 'visits', 'page', 'tile']
const kindOfKey = (key: string) => key.slice(identity.length + 1).split('/')[0] ?? ''
const isDerived = (key: string) => kinds.includes(kindOfKey(key))

/** Of each kind the first record, and one in twelve of the others; with more effort all. */
function damageable(whole: Entries): Entries {
  const derived = whole.filter(([key]) => isDerived(key))
  return kinds.flatMap((kind) =>
    derived.filter(([key]) => kindOfKey(key) === kind).filter((_, place) => isTaken(place, 12))
  )
}

/** Every answer of the reading side, as text. */
async function answers(ledger: Ledger): Promise<string> {
  const receipts = await collect(ledger.receipts())
  const named = await Promise.all(
    receipts.map(async ({ receipt, index }) => [
      (await ledger.unit(receipt.inputPayload.id))?.index,
      (await ledger.receipt(receipt.receiptHash))?.index,
      (await ledger.receipt(index))?.receipt.receiptHash,
      await ledger.hasUnit(receipt.inputPayload.id)
    ])
  )
  const expected = await Promise.all(
    Array.from({ length: UNITS }, async (_, n) => [
      await ledger.hasUnit(`u${n}` as UnitId),
      ledger.run(`run-u${n}` as RunId)?.status
    ])
  )
  const runs = await collect(ledger.runs())
  const journals = await Promise.all(
    [...runs.map(({ runId }) => runId), LONG_RUN].map((runId) => collect(ledger.journal(runId)))
  )
  const { size, readHash } = await ledger.logHashes()
  return JSON.stringify({
    receipts,
    named,
    expected,
    runs,
    long: ledger.run(LONG_RUN),
    journals,
    log: await collect(ledger.log()),
    part: await collect(ledger.receipts({ from: 7, to: 11 })),
    nobody: await ledger.hasUnit('nobody' as UnitId),
    state: await collect(ledger.stateEntries()),
    list: await ledger.list('k'),
    roots: ledger.roots(),
    head: ledger.head(),
    counted: ledger.state().receipts,
    leaves: Array.from({ length: size }, (_, leaf) => sha256Hex(readHash(0, leaf) ?? ''))
  })
}

async function kindOf(
  entries: Entries,
  undamaged: string,
  readOnly: boolean
): Promise<'equal' | 'refused' | 'wrong'> {
  const store = await storeOf(entries)
  const ledger = await openLedger({ ...ledgerOptions(store, keys), readOnly })
  if (ledger.state().mode === 'safe') return 'refused'
  if ((await answers(ledger)) !== undamaged) return 'wrong'
  if (readOnly) return 'equal'
  await ledger.close()
  const report = await verifyLedger({ store, identity: identity as IdentityId })
  if (!report.ok) return 'wrong'
  const again = await reopen({ store, keys })
  return (await answers(again)) === undamaged ? 'equal' : 'wrong'
}

describe('derived records that are lost, stale or damaged', () => {
  const damages: readonly (readonly [
    string,
    (value: Uint8Array, key: string, earlier: Entries) => Uint8Array | null | undefined
  ])[] = [
    ['lost', () => null],
    ['of an older watermark', (_, key, earlier) => earlier.find(([name]) => name === key)?.[1]],
    [
      'with a flipped bit',
      (value) => {
        const copy = Buffer.from(value)
        copy[copy.length - 1] = (copy.at(-1) ?? 0) ^ 1
        return copy
      }
    ]
  ]

  for (const readOnly of [false, true]) {
    it.each(damages)(
      `L4, L6: no answer changes when one is %s${readOnly ? ' (read-only)' : ''}`,
      async (_, damage) => {
        const { earlier, whole, undamaged } = await written()
        const outcomes = new Map<string, string>()
        for (const [key, value] of damageable(whole)) {
          const damaged = damage(value, key, earlier)
          if (damaged === undefined || (damaged && Buffer.compare(damaged, value) === 0)) continue
          const rest = whole.filter(([name]) => name !== key)
          const entries = damaged === null ? rest : [...rest, [key, damaged] as const]
          const kind = await kindOf(entries, undamaged, readOnly)
          if (kind !== 'equal' && !(kind === 'refused' && key.endsWith('/derived'))) {
            outcomes.set(key.slice(identity.length), kind)
          }
        }
        expect([...outcomes]).toEqual([])
      }
    )
  }

  it('L4: opening continues from derived records of an older watermark', async () => {
    const { earlier, whole, undamaged } = await written()
    const older = earlier.filter(([key]) => isDerived(key))
    const source = whole.filter(([key]) => !isDerived(key))
    for (const readOnly of [false, true]) {
      const store = await storeOf([...source, ...older])
      const ledger = await openLedger({ ...ledgerOptions(store, keys), readOnly })
      const { leaves: _, ...found } = JSON.parse(await answers(ledger))
      const { leaves: __, ...expected } = JSON.parse(undamaged)
      expect(found).toEqual(expected)
    }
  })

  it('L4: one too many is no answer either', async () => {
    const { whole, undamaged } = await written()
    const from = `${identity}/run/run-u1`
    const to = `${identity}/run/run-u1x`
    const value = whole.find(([key]) => key === from)?.[1] ?? Buffer.alloc(0)
    const stray = withBody(to, value, derivedText(from, value))
    expect(await kindOf([...whole, [to, stray]], undamaged, false)).toBe('equal')
  })

  it('L4, L12: all of 0.1.0, which has no codes, is made again', async () => {
    const { whole, undamaged } = await written()
    const old = whole.map(([key, value]) => {
      if (!isDerived(key)) return [key, value] as const
      const body = unwrapUnchecked(key, value)
      const isStamp = key === `${identity}/derived`
      const text = body.toString().replace(/"digest":"[^"]*","version":3/, '"version":1')
      return [key, wrapValue(key, isStamp ? text : body)] as const
    })
    expect(old.some(([key, value]) => isDerived(key) && value[0] === 2)).toBe(false)
    for (const readOnly of [false, true]) {
      expect(await kindOf(old, undamaged, readOnly)).toBe('equal')
    }
    expect((await verifyLedger({ store: await storeOf(old), identity })).failure).toBeUndefined()
  })

  it('L1: pages never claim commits after the ones that they were written from', async () => {
    const opened = await newLedger()
    await commit(opened.ledger, loneItem({ id: 'a', writes: { k: 1 } }))
    // Derived up to here without pages, then the process dies.
    await opened.ledger.logHashes()
    const again = await reopen(opened)
    again.saveCheckpoint('run-a' as RunId, { text: '{}', entries: 2 }, 0)
    await again.close()
    const last = await reopen(opened)
    expect(last.state()).toMatchObject({ mode: 'ready', receipts: 1 })
    expect(last.roots()).toEqual(opened.ledger.roots())
    expect((await verifyLedger({ store: opened.store, identity })).failure).toBeUndefined()
  })
})
