import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { alterRecords } from '../../src/cli/demo/alter.js'
import { canonicalize, type Hash, isJsonObject, type Json } from '../../src/core/index.js'
import { type JournalItem, openMemoryStore, type Store } from '../../src/ledger/index.js'
import { cases } from '../support/effort.js'
import { forgedLedger, honestLedger, verifyForged } from '../support/forge.js'
import { testKeys } from '../support/lives.js'

let honest: Awaited<ReturnType<typeof honestLedger>>

beforeAll(async () => {
  honest = await honestLedger()
})

describe('a ledger that was done again', () => {
  it('verifies, and so does the same ledger written once more', async () => {
    const report = await verifyForged(honest.store)
    expect(report.failure).toBeUndefined()
    expect(report).toMatchObject({ ok: true, receipts: 7, reexecuted: 7 })
    const again = await verifyForged(await forgedLedger(honest.items))
    expect(again.failure).toBeUndefined()
  })
})

describe('stored bytes changed, checksums mended', () => {
  it('T2: any character of any line is found at or before its receipt', async () => {
    const lines = await linesOf(honest.store)
    await fc.assert(
      fc.asyncProperty(fc.nat(lines.length - 1), fc.nat(), fc.nat(), async (which, at, how) => {
        const line = lines[which] ?? ''
        const changed = flip(line, at, how)
        if (changed === line || isFree(line, changed)) return
        const copy = await copyOf(honest.store)
        let seen = -1
        await alterRecords(copy, testKeys.identity, (text) =>
          text
            .split('\n')
            .map((one) => {
              seen += 1
              return seen === which ? changed : one
            })
            .join('\n')
        )
        const report = await verifyForged(copy)
        expect(report.ok, `${line}\n${changed}`).toBe(false)
        expect(report.failure?.index).toBeLessThanOrEqual(lastIndex(lines, which))
      }),
      { numRuns: cases({ usual: 40, long: 138 }) }
    )
  })

  it('T2: a dropped, repeated or swapped item is found', async () => {
    const items = honest.items.length
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('drop', 'repeat', 'swap'),
        fc.nat(items - 2),
        async (how, at) => {
          const copy = await copyOf(honest.store)
          let seen = -1
          await alterRecords(copy, testKeys.identity, (text) => {
            const [header = '', ...parts] = text.split(/\n(?=I)/)
            const moved = parts.flatMap((part) => {
              seen += 1
              if (seen !== at) return [part]
              return how === 'drop' ? [] : [part, part]
            })
            if (how === 'swap') parts.splice(at, 2, ...parts.slice(at, at + 2).reverse())
            return [header, ...(how === 'swap' ? parts : moved)].join('\n')
          })
          const report = await verifyForged(copy)
          const isSame =
            canonicalize(await linesOf(copy)) === canonicalize(await linesOf(honest.store))
          expect(report.ok).toBe(isSame)
        }
      ),
      { numRuns: cases({ usual: 12, long: 33 }) }
    )
  })

  it('T1: a ledger signed with another key is found at its first receipt', async () => {
    const { generateIdentity } = await import('../../src/identity/index.js')
    const other = generateIdentity({ bytes: (n) => new Uint8Array(n).fill(9), uuid: () => '' })
    const store = await forgedLedger(honest.items, other).catch((error: unknown) => error)
    if (store instanceof Error) expect(store.message).toMatch(/key/i)
    else expect((await verifyForged(store as Store)).failure).toMatchObject({ index: 0 })
  })
})

describe('forged with the right key', () => {
  it('B6: a changed field of a unit is found by doing it again', async () => {
    const units = honest.items.flatMap((item, index) => (item.unit === undefined ? [] : [index]))
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...units), fc.nat(), fc.nat(), async (index, which, how) => {
        const unitIndex = units.indexOf(index)
        const forged = forgeUnit(honest.items, index, which, how)
        if (forged === undefined) return
        const store = await forgedLedger(forged)
        const plain = await verifyForged(store, false)
        // The result of a run stands in its journal too, which is compared with the receipt.
        if (plain.failure !== undefined) expect(plain.failure.field).toBe('journal.response.data')
        const report = await verifyForged(store)
        // Who signs can say of other code that it did it: that cannot be checked here, and is
        // reported.
        const { provider: was } = honest.items[index]?.unit ?? {}
        const { codeHash, kind } = forged[index]?.unit?.provider ?? {}
        const isOtherCode = kind === 'declared' && codeHash !== was?.codeHash
        expect(report).toMatchObject({ ok: isOtherCode, complete: false })
        if (!isOtherCode) expect(report.failure?.index).toBeLessThanOrEqual(unitIndex)
        else expect(report.notChecked.join()).toMatch(/receipt \d+: not executed again: other code/)
      }),
      { numRuns: cases({ usual: 16, long: 55 }) }
    )
  })

  it('D3: a changed journal entry is found at or before the end of its run', async () => {
    const places = honest.items.flatMap((item, index) =>
      leavesOf(JSON.parse(item.entries[0] ?? '{}'), []).map((path) => ({ index, path }))
    )
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), fc.nat(), async ({ index, path }, how) => {
        const forged = forgeEntry(honest.items, index, path, how)
        if (forged === undefined) return
        const report = await verifyForged(await forgedLedger(forged))
        expect(report.ok, `${index} ${path.join('.')}`).toBe(false)
        const before = honest.items.slice(0, index).filter(({ unit }) => unit !== undefined).length
        expect(report.failure?.index).toBeLessThanOrEqual(Math.max(before, 6))
      }),
      { numRuns: cases({ usual: 32, long: 110 }) }
    )
  })

  it('D3: a step left out, done twice or in another order is found', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('drop', 'repeat', 'swap'),
        fc.nat(honest.items.length - 2),
        async (how, at) => {
          const items = [...honest.items]
          const [item, next] = [items[at], items[at + 1]]
          if (item === undefined || next === undefined) return
          // Nothing else records when a run was parked and resumed.
          if (`${item.entries}${next.entries}`.includes('"k":"run.resumed"')) return
          // Keys are listed again whenever another unit has come first (L10).
          if (how === 'repeat' && `${item.entries}`.includes('"state.list"')) return
          if (how === 'drop') items.splice(at, 1)
          if (how === 'repeat') items.splice(at, 0, item)
          if (how === 'swap') items.splice(at, 2, next, item)
          const store = await forgedLedger(renumbered(items)).catch(() => undefined)
          // What the ledger itself refuses needs no finding: a conflict, a unit id used twice.
          if (store === undefined) return
          const report = await verifyForged(store)
          expect(report.ok, `${how} ${at}`).toBe(false)
        }
      ),
      { numRuns: cases({ usual: 12, long: 33 }) }
    )
  })
})

/** A unit's field changed, with its journal entry made to fit where a forger would. */
function forgeUnit(
  items: readonly JournalItem[],
  index: number,
  which: number,
  how: number
): readonly JournalItem[] | undefined {
  const item = items[index]
  const { unit } = item ?? {}
  if (item === undefined || unit === undefined) return undefined
  const entry = JSON.parse(item.entries[0] ?? '{}')
  const data = { ...JSON.parse(unit.resultText), forged: how }
  const key = [...unit.writes.keys()][0]
  const forgeries: readonly (Partial<JournalItem> | undefined)[] = [
    { unit: { ...unit, resultText: canonicalize(data) } },
    {
      unit: { ...unit, resultText: canonicalize(data) },
      entries: [canonicalize({ ...entry, response: { ...entry.response, data } })]
    },
    { unit: { ...unit, writes: new Map([...unit.writes, ['forged', canonicalize(how)]]) } },
    key === undefined
      ? undefined
      : { unit: { ...unit, writes: new Map([...unit.writes].filter(([one]) => one !== key)) } },
    key === undefined
      ? undefined
      : { unit: { ...unit, writes: new Map([...unit.writes, [key, canonicalize(how + 1000)]]) } },
    { unit: { ...unit, payloadText: canonicalize({ forged: how }) } },
    { unit: { ...unit, dappId: `block:forged@${how}` } },
    { unit: { ...unit, principal: { kind: 'owner', id: 'mallory' } } },
    { unit: { ...unit, at: unit.at + 1000 * (how + 1) } },
    { unit: { ...unit, provider: { ...unit.provider, codeHash: 'f'.repeat(64) as Hash } } },
    {
      unit: {
        ...unit,
        capabilitiesDeclared: ['price', 'wire'],
        capabilitiesUsed: how % 2 === 0 ? ['wire'] : unit.capabilitiesUsed
      }
    },
    unit.sealed.length === 0 ? undefined : { unit: { ...unit, sealed: unit.sealed.slice(1) } },
    unit.sealed.length === 0
      ? undefined
      : { unit: { ...unit, sealed: unit.sealed.map((one) => ({ ...one, seq: one.seq + 1 })) } },
    { unit: { ...unit, run: { ...unit.run, attempt: 9 } as never } }
  ]
  const forgery = forgeries[which % forgeries.length]
  if (forgery === undefined) return undefined
  const forged = { ...item, ...forgery }
  // The totals of a run are made to fit again, which undoes a change of them.
  if (entry.k === 'run.finished' && forged.unit?.payloadText !== unit.payloadText) return undefined
  return items.map((one, at) => (at === index ? forged : one))
}

// Facts that only the process itself knows: who answered, when, what was said, how long it may
// take, what a failed attempt failed with, and the class of an effect that was announced.
const facts = new Set([
  'by',
  'at',
  'due',
  'details',
  'salt',
  'claimed',
  'id',
  'kind',
  'sideEffects'
])

function forgeEntry(
  items: readonly JournalItem[],
  index: number,
  path: readonly string[],
  how: number
): readonly JournalItem[] | undefined {
  const item = items[index]
  const entry = JSON.parse(item?.entries[0] ?? '{}')
  const isFact = path.some((name) => facts.has(name)) || isOfFailure(entry)
  if (item === undefined || isFact || path.at(-1) === 'run' || path.at(-1) === 'n') return undefined
  // A body with another hash is found without doing anything again, and so are the totals.
  if (entry.k === 'sealed' && path[0] === 'body') return undefined
  if (path.at(-1) === 'journalHash') return undefined
  const forged = canonicalize(changedAt(entry, path, how))
  if (forged === item.entries[0]) return undefined
  return items.map((one, at) => (at === index ? { ...one, entries: [forged] } : one))
}

function isOfFailure(entry: { readonly k?: string; readonly response?: { success?: boolean } }) {
  return entry.k === 'settled' && entry.response?.success === false
}

function changedAt(value: Json, [head, ...rest]: readonly string[], how: number): Json {
  if (head === undefined) return changed(value, how)
  if (Array.isArray(value)) {
    return value.map((item, at) => (String(at) === head ? changedAt(item, rest, how) : item))
  }
  if (!isJsonObject(value)) return value
  return { ...value, [head]: changedAt(value[head] ?? null, rest, how) }
}

function changed(value: Json, how: number): Json {
  if (typeof value === 'number') return value + 1 + how
  if (typeof value === 'boolean') return !value
  if (typeof value === 'string') return `${value}${how % 10}`
  return how
}

function leavesOf(value: Json, path: readonly string[]): readonly (readonly string[])[] {
  if (Array.isArray(value))
    return value.flatMap((item, at) => leavesOf(item, [...path, String(at)]))
  if (!isJsonObject(value)) return [path]
  return Object.entries(value).flatMap(([name, item]) => leavesOf(item, [...path, name]))
}

function renumbered(items: readonly JournalItem[]): readonly JournalItem[] {
  return items.map((item, n) => ({
    ...item,
    entries: item.entries.map((text) => canonicalize({ ...JSON.parse(text), n }))
  }))
}

async function linesOf(store: Store): Promise<readonly string[]> {
  const lines: string[] = []
  await alterRecords(store, testKeys.identity, (text) => {
    lines.push(...text.split('\n'))
    return text
  })
  return lines
}

/** Receipt at which a change of a line has to be found: its own, or that of the end of the run. */
function lastIndex(lines: readonly string[], which: number): number {
  const last = lines.filter((line) => line.startsWith('R')).length
  const kind = lines[which]?.[0] ?? ''
  if (!'RWO'.includes(kind)) return last
  return lines.slice(0, which + 1).filter((line) => line.startsWith('R')).length - 1
}

// The epoch says who wrote, and the time of the last entry is covered by nothing after it.
function isFree(before: string, after: string): boolean {
  // Only the holder of the ledger's secret can tell a wrong authentication code.
  if (before.startsWith('M')) return true
  if (before.startsWith('C')) return before.replace(/\d+/, '') === after.replace(/\d+/, '')
  const at = /"at":\d+/
  return before.includes('"k":"run.finished"') && before.replace(at, '') === after.replace(at, '')
}

function flip(line: string, where: number, how: number): string {
  const at = 1 + (where % Math.max(1, line.length - 1))
  const char = line[at] ?? ''
  const digits = '0123456789abcdef'
  const next = digits.includes(char)
    ? (digits[(digits.indexOf(char) + 1 + (how % 15)) % 16] ?? '0')
    : String.fromCharCode(0x20 + (how % 90))
  return line.slice(0, at) + next + line.slice(at + 1)
}

async function copyOf(store: Store): Promise<Store> {
  const copy = openMemoryStore()
  const puts: (readonly [string, Uint8Array])[] = []
  for await (const entry of store.entries({ gte: '', lt: '\u{10ffff}' })) puts.push(entry)
  await copy.commit([{ puts, deletes: [] }])
  return copy
}
