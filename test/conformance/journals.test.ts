import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { JournalEntry, RunStarted } from '../../src/block/index.js'
import type { AttemptKey } from '../../src/block/run/entries.js'
import type { Hash, RunId } from '../../src/core/index.js'
import { Registry } from '../../src/runtime/code/registry.js'
import { journalScenes, type RecordedLine, sceneRegistrations } from '../support/journal-scenes.js'
import { JournalFold } from '../support/journal-state.js'
import { World } from '../support/lives.js'
import type { NeutralState } from '../support/neutral-state.js'

/**
 * Recorded journals of each kind, and what the state of their run must be after every entry. Live
 * runs, recovery and verification share one reducer: a fault in it would contradict these.
 *
 * `MAKE_JOURNALS=1` adds the scenes that have no file yet; old files are never made again.
 */
interface JournalVector {
  readonly title: string
  readonly entries: readonly string[]
  /** Of each entry: the receipt that it completed. */
  readonly receipts: readonly (string | null)[]
  readonly states: readonly NeutralState[]
}

const folder = new URL('../vectors/journals/', import.meta.url)
const names = Object.keys(journalScenes)

async function folded(lines: readonly RecordedLine[]): Promise<readonly NeutralState[]> {
  const started = JSON.parse(lines[0]?.text ?? '{}') as RunStarted
  const registry = await Registry.open(sceneRegistrations(new World()))
  const recorded = await registry.recorded(started)
  if (recorded.kind !== 'ready') throw new Error(`its code is not here: ${recorded.kind}`)
  const fold = new JournalFold(started.run as RunId, recorded)
  return lines.map(({ text, receiptHash }) => fold.take(text, (receiptHash ?? undefined) as Hash))
}

async function make(name: string): Promise<void> {
  const file = new URL(`${name}.json`, folder)
  const scene = journalScenes[name]
  if (existsSync(file) || scene === undefined) return
  const lines = await scene.play()
  const states = await folded(lines)
  const parts = (items: readonly unknown[]) =>
    `[\n${items.map((one) => JSON.stringify(one)).join(',\n')}\n]`
  const entries = parts(lines.map(({ text }) => text))
  const receipts = JSON.stringify(lines.map(({ receiptHash }) => receiptHash))
  writeFileSync(
    file,
    `{"title":${JSON.stringify(scene.title)},\n"entries":${entries},\n"receipts":${receipts},\n` +
      `"states":${parts(states)}}\n`
  )
}

describe('recorded journals', () => {
  it.each(names)('D10: lead to the states that are recorded with them: %s', async (name) => {
    if (process.env['MAKE_JOURNALS'] === '1') await make(name)
    const { entries, receipts, states } = vectorOf(name)
    const lines = entries.map((text, n) => ({ text, receiptHash: receipts[n] ?? null }))
    const again = await folded(lines)
    for (const [n, state] of again.entries()) expect(state, entries[n]).toEqual(states[n])
    expect(again.length).toBe(states.length)
  })

  it.each(names)('D10: have states that follow from their entries alone: %s', (name) => {
    const { entries, states } = vectorOf(name)
    const told = new ToldByEntries()
    for (const [n, text] of entries.entries()) {
      told.take(text)
      expect(told.compared(states[n]), text).toEqual(told.expected())
    }
  })

  it('are all there, and of each kind of entry', () => {
    const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
    expect(files.map((name) => name.slice(0, -5)).sort()).toEqual([...names].sort())
    const all = names.flatMap((name) => vectorOf(name).entries.map((text) => JSON.parse(text)))
    expect([...new Set(all.map(({ k }) => k))].sort()).toEqual(Object.keys(kinds).sort())
    const outcomes = all.filter(({ k }) => k === 'scope').map(({ outcome }) => outcome)
    expect(new Set(outcomes)).toEqual(new Set(scopeOutcomes))
    expect(all.filter(({ overlay }) => overlay?.lists !== undefined).length).toBeGreaterThan(0)
    expect(all.some(({ withoutCode }) => withoutCode === true)).toBe(true)
    expect(all.some(({ asking }) => asking === 2)).toBe(true)
  })
})

function vectorOf(name: string): JournalVector {
  return JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'))
}

const scopeOutcomes = ['committed', 'aborted', 'conflict', 'aborting', 'released']
/** Each kind of entry; a new one has no journal here, and fails. */
const kinds: Readonly<Record<JournalEntry['k'], true>> = {
  'run.started': true,
  'run.waiting': true,
  'run.resumed': true,
  'run.finished': true,
  requested: true,
  sealed: true,
  wait: true,
  waiting: true,
  answered: true,
  approval: true,
  signal: true,
  rewound: true,
  settled: true,
  timer: true,
  decision: true,
  scope: true,
  called: true,
  returned: true,
  cancel: true
}

/**
 * What entries say without any chart, by the rules of `docs/spec/journal.md` and with no code of
 * production: the hash chain, what every open attempt was given, and its writes without an answer.
 */
class ToldByEntries {
  #chain = ''
  #steps = 0
  #cancelled = false
  readonly #results = new Map<string, Map<number, string>>()
  readonly #requested = new Map<string, Set<number>>()

  take(text: string): void {
    this.#chain = createHash('sha256').update(this.#chain).update(text).digest('hex')
    const entry = JSON.parse(text) as JournalEntry
    if (entry.k === 'cancel') this.#cancelled = true
    if (!('attempt' in entry)) return
    const place = placeOf(entry)
    if (entry.k === 'settled') this.#steps += 1
    if (entry.k === 'requested') this.#requestedAt(place).add(entry.seq)
    if (entry.k === 'sealed') this.#resultsAt(place).set(entry.seq, entry.responseHash)
    for (const seq of entry.k === 'rewound' ? entry.dropped : []) {
      this.#resultsAt(place).delete(seq)
      this.#requestedAt(place).delete(seq)
    }
  }

  #resultsAt(place: string): Map<number, string> {
    const results = this.#results.get(place) ?? new Map()
    this.#results.set(place, results)
    return results
  }

  #requestedAt(place: string): Set<number> {
    const requested = this.#requested.get(place) ?? new Set()
    this.#requested.set(place, requested)
    return requested
  }

  expected(): unknown {
    return { journalHash: this.#chain, steps: this.#steps, cancelled: this.#cancelled, wrong: [] }
  }

  /** The same of a recorded state; `wrong`: attempts that do not have what entries gave them. */
  compared(state: NeutralState | undefined): unknown {
    const { attempts = [], journalHash, steps, cancelled } = state ?? {}
    const wrong = attempts.filter((attempt) => {
      const results = this.#resultsAt(placeOf(attempt))
      const open = [...this.#requestedAt(placeOf(attempt))].filter((seq) => !results.has(seq))
      const given = [attempt.tape, attempt.unanswered]
      return JSON.stringify(given) !== JSON.stringify([[...results], open])
    })
    return { journalHash, steps, cancelled, wrong }
  }
}

function placeOf({ path, step, attempt }: AttemptKey): string {
  return `${path} ${step} ${attempt}`
}
