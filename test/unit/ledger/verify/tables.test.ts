import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalize, type JsonObject, type RunId, sha256Hex } from '../../../../src/core/index.js'
import { foldRecord } from '../../../../src/ledger/derived/run-records.js'
import type { RunRecord } from '../../../../src/ledger/ledger-api.js'
import { IdTable } from '../../../../src/ledger/verify/id-table.js'
import { RunTable, recordDigest } from '../../../../src/ledger/verify/run-table.js'
import { cases } from '../../../support/effort.js'

const hash = sha256Hex('one')
const id = fc.oneof(
  fc.nat(200).map((number) => sha256Hex(String(number))),
  fc.string(),
  // Ids made to begin or end alike, and ids that look like a hash and are none.
  fc.nat(50).map((number) => hash.slice(0, 60) + number.toString(16).padStart(4, '0')),
  fc.nat(50).map((number) => number.toString(16).padStart(4, '0') + hash.slice(4)),
  fc.constantFrom(hash, hash.toUpperCase(), hash.slice(1), `${hash}0`)
)

describe('a table of ids', () => {
  it('has exactly the ids that were added, in the order in which they came', () => {
    fc.assert(
      fc.property(fc.array(id, { maxLength: 3_000, size: 'max' }), id, (ids, other) => {
        const table = new IdTable()
        const model = new Map<string, number>()
        for (const one of ids) {
          if (!model.has(one)) model.set(one, model.size)
          expect(table.add(one)).toBe(model.get(one))
        }
        expect(table.size).toBe(model.size)
        for (const [one, row] of model) expect(table.find(one)).toBe(row)
        expect(table.has(other)).toBe(model.has(other))
      }),
      { numRuns: cases({ usual: 4, long: 40 }) }
    )
  })

  it('takes an id for none that is the hash of it', () => {
    const table = new IdTable()
    const ids = ['0', sha256Hex('0'), '', sha256Hex(''), sha256Hex(sha256Hex('0'))]
    expect(ids.map((one) => table.add(one))).toEqual([0, 1, 2, 3, 4])
    expect(ids.map((one) => table.find(one))).toEqual([0, 1, 2, 3, 4])
  })

  it('keeps its numbers when it grows', () => {
    const table = new IdTable()
    const ids = Array.from({ length: 20_000 }, (_, number) => sha256Hex(`grown ${number}`))
    for (const one of ids) table.add(one)
    expect(ids.every((one, row) => table.find(one) === row)).toBe(true)
  })
})

describe('a table of runs', () => {
  it('gives the digest of the record that folding the entries gives', () => {
    const entry = fc.record(
      {
        k: fc.constantFrom('run.started', 'run.waiting', 'run.finished', 'sealed', 'settled'),
        status: fc.constantFrom('running', 'waiting', 'done', 'failed', 'cancelled', 'no', 7),
        at: fc.oneof(fc.nat(), fc.string()),
        1: fc.string(),
        __proto__x: fc.jsonValue()
      },
      { requiredKeys: ['k'] }
    )
    const entries = fc.array(fc.tuple(fc.nat(600), entry), { maxLength: 900, size: 'max' })
    fc.assert(
      fc.property(entries, fc.nat(900), (given, covered) => {
        const table = new RunTable()
        const model = new Map<RunId, { entries: number; record: RunRecord | undefined }>()
        const counts = new Map<RunId, number>()
        for (const [at, [run, fields]] of given.entries()) {
          const runId = `run ${run}` as RunId
          const row = table.row(runId)
          const n = counts.get(runId) ?? 0
          expect(table.next(row)).toBe(n)
          counts.set(runId, n + 1)
          const isDerived = at < covered
          const text = canonicalize({ n, run: runId, ...fields })
          const last = JSON.parse(text) as JsonObject
          const { k: kind, status, at: time } = last
          table.count(row, isDerived ? 0 : undefined)
          if (!isDerived) continue
          const base = model.get(runId)?.record
          const started = kind === 'run.started' ? last : undefined
          const isNews = String(kind).startsWith('run.')
          if (isNews) table.fold(row, { text, kind: String(kind), status, at: time })
          const record = isNews ? foldRecord(runId, base, n, { entries: 1, started, last }) : base
          model.set(runId, { entries: n + 1, record })
        }
        expect(table.size).toBe(counts.size)
        expect(table.derivedRuns).toBe(model.size)
        for (const [runId, { entries: count, record }] of model) {
          const digest = recordDigest(record)
          expect(table.derived(runId)).toMatchObject({ entries: count, digest })
        }
      }),
      { numRuns: cases({ usual: 6, long: 60 }) }
    )
  })
})
