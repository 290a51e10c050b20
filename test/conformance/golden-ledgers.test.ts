import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { ManualClock } from '../../src/core/index.js'
import { importSnapshot } from '../../src/ledger/index.js'
import { createRuntime, verifyLocation, type WiredRuntime } from '../../src/runtime/index.js'
import { isTaken } from '../support/effort.js'
import {
  drivenToEnd,
  type GoldenLedger,
  goldenCode,
  goldenLedgers,
  snapshotPath,
  UnpackedLedger
} from '../support/golden.js'

/**
 * Ledgers that earlier versions made, of each kind of record, closed and open, open, resume,
 * verify and replay with the code of today.
 */

/** Later than anything that the ledgers wait for. */
const LATER = Date.parse('2027-01-01T00:00:00Z')

/** How runs that were left open end; the others are done. */
const ends: Readonly<Record<string, string>> = {
  'open-dropped drop-and-ask': 'failed',
  'open-undoing undone': 'failed',
  'open-given-up givenUpLater': 'failed'
}

let unpacked: UnpackedLedger | undefined
const opened: WiredRuntime[] = []

afterEach(async () => {
  for (const tally of opened.splice(0)) await tally.close()
  await unpacked?.remove()
})

async function open(name: string, clock: ManualClock): Promise<WiredRuntime> {
  unpacked = await UnpackedLedger.of(name)
  const { location } = unpacked
  const tally = await createRuntime({ location, serve: false, clock, ...goldenCode(name) })
  opened.push(tally)
  return tally
}

async function expectWhole(tally: WiredRuntime, { receipts, evidence, closed = 0 }: GoldenLedger) {
  const report = await tally.replay()
  expect(report.failure).toBeUndefined()
  expect(report.receipts).toBeGreaterThanOrEqual(receipts)
  expect(report.evidence).toBeGreaterThanOrEqual(evidence)
  expect(report.reexecuted).toBe(report.receipts - closed)
}

const ledgers = Object.entries(await goldenLedgers())

describe('a golden ledger', () => {
  it.each(ledgers)('%s opens, its runs end, and it verifies and replays', async (name, golden) => {
    const clock = new ManualClock(LATER)
    const tally = await open(name, clock)
    expect(tally.status()).toMatchObject({ mode: 'ready', warnings: [] })
    const runs: Record<string, string> = {}
    for await (const { runId, status } of tally.runs()) runs[runId] = status
    expect(runs).toEqual(golden.runs)
    await expectWhole(tally, golden)
    const tick = () => clock.advance(Math.max(0, (clock.nextDue ?? 0) - clock.now()))
    const isOpen = (status: string) => status === 'running' || status === 'waiting'
    for (const [id, status] of Object.entries(golden.runs)) {
      if (!isOpen(status)) continue
      const { status: end } = await drivenToEnd(await tally.resume(id), tick)
      expect([id, end]).toEqual([id, ends[`${name} ${id}`] ?? 'done'])
    }
    // Where no run was open, nothing is new.
    if (Object.values(golden.runs).some(isOpen)) await expectWhole(tally, golden)
  })

  // The usual form imports one in six; python-verifier.test.ts reads all of them.
  const imported = ledgers.filter((_, place) => isTaken(place, 6))
  it.each(imported)('%s is imported from its snapshot, and replays there', async (name, golden) => {
    unpacked = await UnpackedLedger.of(name)
    const location = unpacked.path('imported')
    await importSnapshot(location, { file: fileURLToPath(snapshotPath(name)) })
    await unpacked.copyBeside(location)
    const report = await verifyLocation(location, { notes: [], code: goldenCode(name) })
    expect(report.failure).toBeUndefined()
    expect(report.receipts).toBe(golden.receipts)
    expect(report.evidence).toBeGreaterThanOrEqual(golden.evidence)
    expect(report.reexecuted).toBe(golden.receipts - (golden.closed ?? 0))
  })

  // A correction under other rules would make other requests of what is sealed.
  it.each(['open-agent', 'open-agent-corrected', 'open-agent-pinned'])(
    'B10: %s takes its turns as agent.turn 1.0.0 took them',
    async (name) => {
      const clock = new ManualClock(LATER)
      const tally = await open(name, clock)
      for await (const { runId } of tally.runs()) {
        const { status } = await drivenToEnd(await tally.resume(runId), () => undefined)
        expect(status).toBe('done')
      }
      const { receipt } = (await tally.receipt(0)) ?? {}
      expect(receipt?.dappId).toBe('block:agent.turn@1.0.0')
      const { failure, reexecuted } = await tally.replay()
      expect([failure, reexecuted]).toEqual([undefined, tally.status().receipts])
    }
  )
})
