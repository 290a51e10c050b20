import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalize, type RunId } from '../../../../src/core/index.js'
import { ArchivedRuns } from '../../../../src/ledger/derived/archived-runs.js'
import { uncheckedForm } from '../../../../src/ledger/derived/record-form.js'
import {
  addEntries,
  changeOf,
  foldRecord,
  newDelta,
  type RunDelta,
  RunRecords,
  runChangesIn
} from '../../../../src/ledger/derived/run-records.js'
import { decodePlaces, decodeRun } from '../../../../src/ledger/derived/run-value.js'
import { unwrapText } from '../../../../src/ledger/envelope.js'
import { StoreKeys } from '../../../../src/ledger/keys.js'
import type { RunRecord } from '../../../../src/ledger/ledger-api.js'
import { openMemoryStore } from '../../../../src/ledger/stores/memory.js'
import type { Store } from '../../../../src/ledger/stores/port.js'
import { fixedIdentity } from './support.js'

const keys = new StoreKeys(fixedIdentity().identity)
const runId = 'run-1' as RunId

function started(input: unknown): string {
  return canonicalize({ at: 5, input, k: 'run.started', n: 0, run: runId, status: 'running' })
}

function finished(data: unknown): string {
  return canonicalize({ at: 9, k: 'run.finished', n: 1, response: { data }, status: 'done' })
}

function deltaOf(entries: readonly string[]): RunDelta {
  const delta = newDelta()
  addEntries(delta, entries, { seq: 7 })
  return delta
}

function recordsIn(store: Store): RunRecords {
  const parts = { store, keys, form: uncheckedForm }
  return new RunRecords({ ...parts, archived: new ArchivedRuns({ ...parts, runs: [] }) })
}

/** The value that one stretch of commits leaves for the run. */
function writtenFor(entries: readonly string[]): string {
  const records = recordsIn(openMemoryStore())
  const [put] = records.puts(runId, deltaOf(entries), 8).puts
  if (put === undefined) throw new Error('nothing was written')
  return unwrapText(put[0], put[1])
}

/** The value that stretches of commits, each written after the one before, leave for the run. */
async function writtenAfter(stretches: readonly (readonly string[])[]): Promise<string> {
  const store = openMemoryStore()
  const records = recordsIn(store)
  let before = 0
  for (const [index, entries] of stretches.entries()) {
    const delta = newDelta(before)
    addEntries(delta, entries, { seq: 7 + index })
    const { puts } = records.puts(runId, delta, 8 + index)
    await store.commit([{ puts, deletes: [] }])
    before += entries.length
  }
  const key = keys.run(runId)
  return unwrapText(key, store.get(key) ?? Buffer.alloc(0))
}

// Keys that look like an index come first in an object, whatever the order of its text.
const key = fc.oneof(fc.constantFrom('10', '9', '0', '__proto__', '-1', '01', 'a'), fc.string())
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('"9":', '"k":"run.started"', null, true),
    fc.string({ unit: 'grapheme' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 })
  )
})).value

describe('the derived value of a run', () => {
  it('L4: joined from texts is what a parsed record is written as, whatever the keys', () => {
    fc.assert(
      fc.property(json, json, (input, data) => {
        const text = writtenFor([started(input), finished(data)])
        expect(text).toBe(JSON.stringify(JSON.parse(text)))
        const { record, entries, visits } = decodeRun('key', runId, text)
        expect(canonicalize(record?.started)).toBe(started(input))
        expect(canonicalize(record?.last)).toBe(finished(data))
        expect({ status: record?.status, at: record?.updatedAt }).toEqual({ status: 'done', at: 9 })
        expect({ entries, visits }).toEqual({ entries: 2, visits: [[7, 0]] })
        const places = { status: 'done', entries, visits, blocks: 0, upTo: 8 }
        expect(decodePlaces('key', runId, Buffer.from(text))).toEqual(places)
      })
    )
  })

  it('L4: with later entries it is what the parsed record is written as, in any stretches', async () => {
    const plain = fc.constant(canonicalize({ k: 'settled', n: 1, note: 'run.' }))
    const changing = fc.constantFrom('run.waiting', 'run.resumed', 'run.other')
    const status = fc.constantFrom('running', 'waiting', 'paused', null)
    const changed = fc.record({ k: changing, n: fc.nat(9), status, at: fc.nat(9), note: json })
    const entry = fc.oneof(plain, changed.map(canonicalize))
    const stretches = fc.array(fc.array(entry, { maxLength: 3 }), { maxLength: 4 })
    const begun = fc.oneof(
      fc.constant([]),
      json.map((input) => [started(input)])
    )
    const ended = fc.oneof(
      fc.constant([]),
      json.map((data) => [finished(data)])
    )
    await fc.assert(
      fc.asyncProperty(begun, stretches, ended, async (first, between, last) => {
        const all = [first, ...between, last]
        const text = await writtenAfter(all)
        expect(text).toBe(JSON.stringify(JSON.parse(text)))
        let expected: RunRecord | undefined
        const folded = newDelta()
        for (const [index, entries] of all.entries()) {
          const delta = newDelta()
          addEntries(delta, entries)
          expected = foldRecord(runId, expected, folded.entries, changeOf(delta))
          addEntries(folded, entries, { seq: 7 + index })
        }
        const { record, entries, visits, upTo } = decodeRun('key', runId, text)
        expect(record).toEqual(expected)
        expect({ entries, visits }).toEqual({ entries: folded.entries, visits: folded.visits })
        expect(upTo).toBe(7 + all.length)
      })
    )
  })

  it('holds the first entry of a run once while it is also the last', () => {
    const text = writtenFor([started({ n: 1 })])
    expect(text.split('run.started')).toHaveLength(2)
    const { record } = decodeRun('key', runId, text)
    expect(canonicalize(record?.started)).toBe(started({ n: 1 }))
    expect(record?.last).toBe(record?.started)
    expect(record?.status).toBe('running')
  })

  it.each(['', '{', 'null', '[]', '7', '{"visits":7}'])('is refused as corrupt: %j', (text) => {
    const corrupt = expect.objectContaining({ code: 'ledger.corrupt' })
    expect(() => decodeRun('key', runId, text)).toThrow(corrupt)
    expect(() => decodePlaces('key', runId, Buffer.from(text))).toThrow(corrupt)
  })

  it('is read the same without the texts of its entries, whatever statuses they hold', () => {
    const status = fc.constantFrom('running', 'waiting', 'done', null)
    const number = fc.nat(9)
    const entry = fc.oneof(
      fc.constant(null),
      fc.record({ status, note: fc.constantFrom('"status":"done"', 'upTo', '}') }),
      fc.record({ inner: fc.record({ status, upTo: number, visits: fc.constant([]) }) })
    )
    const order = ['blocks', 'entries', 'last', 'started', 'status', 'upTo', 'updatedAt', 'visits']
    fc.assert(
      fc.property(
        entry,
        entry,
        status,
        number,
        fc.boolean(),
        (last, begun, own, upTo, isSorted) => {
          const visits = [[upTo, 0]]
          const record = { blocks: 1, entries: 3, last, status: own, upTo, updatedAt: 5, visits }
          const value = { ...record, started: begun }
          const text = JSON.stringify(value, isSorted ? order.concat('note', 'inner') : undefined)
          const { record: read, ...places } = decodeRun('key', runId, text)
          const found = decodePlaces('key', runId, Buffer.from(text))
          expect(found).toMatchObject(places)
          if (read !== undefined) expect(found.status).toBe(read.status)
        }
      )
    )
  })

  it('takes from the long first entry of a run what a parse of it would give', () => {
    const entry = {
      at: 1_700_000_000_123,
      base: 'GENESIS',
      definition: { nodes: Array.from({ length: 900 }, (_, id) => ({ id, k: 'run.waiting' })) },
      input: { n: 4, status: 'done' },
      k: 'run.started',
      n: 0,
      name: 'a.b',
      principal: { id: 'local' },
      run: runId,
      status: 'running'
    }
    const newsOf = (value: object) => runChangesIn([canonicalize(value)])[0]
    const expected = { kind: 'run.started', number: 0, status: 'running', at: entry.at }
    expect(canonicalize(entry).length).toBeGreaterThan(16_384)
    expect(newsOf(entry)).toMatchObject(expected)
    expect(newsOf({ ...entry, n: 7 })).toMatchObject({ ...expected, number: 7 })
    expect(newsOf({ ...entry, status: 'done' })).toMatchObject({ ...expected, status: 'done' })
    expect(newsOf({ ...entry, k: 'settled', status: 'running' })).toBeUndefined()
  })

  it('L5: a run that continues is folded onto what is stored of it', async () => {
    const store = openMemoryStore()
    const records = recordsIn(store)
    const first = records.puts(runId, deltaOf([started({ n: 1 })]), 8)
    await store.commit([{ puts: first.puts, deletes: [] }])
    const later = newDelta(1)
    addEntries(later, [finished(2)], { seq: 9 })
    const second = records.puts(runId, later, 10)
    expect(second.replaced).toEqual(first.puts[0]?.[1])
    await store.commit([{ puts: second.puts, deletes: [] }])
    const { record, entries, visits } = records.stored(runId)
    expect(record?.status).toBe('done')
    expect(canonicalize(record?.started)).toBe(started({ n: 1 }))
    expect({ entries, visits }).toEqual({
      entries: 2,
      visits: [
        [7, 0],
        [9, 1]
      ]
    })
  })
})
