import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalize, type JsonObject, type RunId, sha256Hex } from '../../../../src/core/index.js'
import { foldRecord } from '../../../../src/ledger/derived/run-records.js'
import type { RunCommit } from '../../../../src/ledger/derived/run-value.js'
import type { RunRecord } from '../../../../src/ledger/ledger-api.js'
import { IdTable } from '../../../../src/ledger/verify/id-table.js'
import { addRunCommit, RunTable, recordDigest } from '../../../../src/ledger/verify/run-table.js'
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
      { numRuns: cases({ usual: 4, long: 22 }) }
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
        const commits = new Map<RunId, RunCommit[]>()
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
          const commit = Math.floor(at / 3)
          table.count(row, isDerived ? commit : undefined)
          if (!isDerived) continue
          const visited = commits.get(runId) ?? []
          if (visited.at(-1)?.[0] !== commit) commits.set(runId, [...visited, [commit, n]])
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
          const visits = commits.get(runId)?.reduce(addRunCommit, 0)
          expect(table.derived(runId)).toEqual({ entries: count, digest, visits })
        }
      }),
      { numRuns: cases({ usual: 6, long: 33 }) }
    )
  })

  it('says of a run that no derived record covers that it has visited no commit', () => {
    const table = new RunTable()
    table.count(table.row('one' as RunId), undefined)
    const nothing = { entries: 0, digest: undefined, visits: 0 }
    expect(table.derived('one' as RunId)).toEqual(nothing)
    expect(table.derived('another' as RunId)).toBeUndefined()
  })

  it('adds up commits so that another commit, first entry or order shows', () => {
    const sumOf = (all: readonly RunCommit[]) => all.reduce(addRunCommit, 0)
    const sums = new Set<number>()
    for (let commit = 0; commit < 40; commit += 1) {
      for (let entry = 0; entry < 40; entry += 1) sums.add(sumOf([[commit, entry]]))
    }
    expect(sums.size).toBe(1_600)
    const many: readonly RunCommit[] = Array.from({ length: 50 }, (_, at) => [2 * at, 3 * at])
    expect(sumOf(many)).not.toBe(sumOf(many.toReversed()))
    expect(sumOf(many.slice(1))).not.toBe(sumOf(many))
    for (const [at] of many.entries()) {
      const sum = sumOf(many.slice(0, at + 1))
      expect(Number.isSafeInteger(sum) && sum > 0 && sum < 2 ** 40).toBe(true)
    }
  })
})
