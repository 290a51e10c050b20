import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunRecording, recordingIn, recordingText, recordRun } from '../../src/audit/index.js'
import type { Block } from '../../src/code/index.js'
import { canonicalize, isJsonObject, type Json } from '../../src/core/index.js'
import { type Registrations, replayRecordingWith } from '../../src/runtime/index.js'
import { fromLedger, RecordedRun } from '../../src/testing/index.js'
import { arbitraryDocument } from '../support/arbitrary-document.js'
import { cases } from '../support/effort.js'
import { exported, program, programCode } from '../support/generated-ledgers.js'
import { testKeys, World } from '../support/lives.js'
import { runScenario, SCENARIO_RUN } from '../support/run-to-end.js'
import { scenarioBlocks } from '../support/scenario-blocks.js'
import { scenarioDocuments } from '../support/scenario-documents.js'
import '../support/seed.js'

/** Performs nothing: a replay has no use for a world. */
const atHand = () => scenarioBlocks(new World())

async function recorded(document: Json, deaths: readonly number[] = []): Promise<RunRecording> {
  const scenario = { document, inputs: {}, registrations: scenarioBlocks }
  const { machine } = await runScenario(scenario, deaths)
  const store = machine.disk.open()
  const recording = await recordRun({ store, identity: testKeys.identity, run: SCENARIO_RUN })
  if (recording === undefined) throw new Error('there is no such run')
  return recording
}

/** What a process would have left that had died after so many entries. */
function upTo(recording: RunRecording, count: number): RunRecording {
  return { ...recording, entries: recording.entries.slice(0, count) }
}

async function textOf(recording: RunRecording, code: Registrations): Promise<string> {
  const { text } = await new RecordedRun(recording).replay(code)
  return text
}

/** The unit that a receipt or a settled entry with a failure is about. */
function settledIn({ entries }: RunRecording): readonly { path: string; step: number }[] {
  return entries.flatMap(({ entry }) => {
    if (!isJsonObject(entry) || entry['k'] !== 'settled') return []
    const { path, step } = entry
    return String(path).includes('~') ? [] : [{ path: String(path), step: Number(step) }]
  })
}

/** The same blocks, of which the one at a place gives something else in the end. */
function changed({ blocks = [], ...rest }: Registrations, path: string): Registrations {
  const other = (block: Block): Block => ({
    ...block,
    run: async (ctx, input) => {
      if (ctx.path !== path) return block.run(ctx, input)
      // Code that fails ends well instead.
      const given = await (async () => block.run(ctx, input))().catch(() => null)
      return { changed: given ?? null }
    }
  })
  return { ...rest, blocks: blocks.map(other) }
}

const program4 = { usual: 3, long: 22, soak: 400 }

/** How many beginnings of a run are done again. */
const BEGINNINGS = 8

describe('a recorded run', () => {
  it('R2: comes out the same under the code that made it, and so does each beginning', async () => {
    const deaths = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 2 })
    await fc.assert(
      fc.asyncProperty(arbitraryDocument, deaths, async (document, times) => {
        const recording = await recorded(document, times)
        const last = recording.entries.length
        const stride = Math.max(1, Math.ceil(last / BEGINNINGS))
        for (let count = last; count > 0; count -= stride) {
          const text = await textOf(upTo(recording, count), atHand())
          expect(text, `${count} of ${last}`).toContain('comes out the same')
        }
      }),
      { numRuns: cases(program4) }
    )
  })

  it('R2: comes out the same, whatever a run can do', async () => {
    for (const [name, document] of Object.entries(scenarioDocuments)) {
      const text = await textOf(await recorded(document), atHand())
      expect.soft(text, name).toContain('comes out the same')
    }
  })

  it('comes out otherwise, where one output is another, and says where', async () => {
    let found = 0
    for (const [name, document] of Object.entries(scenarioDocuments)) {
      const recording = await recorded(document)
      const units = settledIn(recording)
      const one = units[units.length >> 1]
      if (one === undefined) continue
      const replay = await new RecordedRun(recording).replay(changed(atHand(), one.path))
      expect.soft(replay.outcome, `${name}: ${one.path}`).toBe('otherwise')
      found += 1
    }
    expect(found).toBeGreaterThan(10)
  })

  it('is the same after it was narrowed to what it has read, and written to a file', async () => {
    for (const [name, document] of Object.entries(scenarioDocuments)) {
      const recording = await recorded(document)
      const { narrowed, replay } = await replayRecordingWith(recording, atHand())
      const read = await recordingIn(await recordingText(narrowed))
      if (!read.ok) throw new Error(read.problem)
      const again = await replayRecordingWith(read.recording, atHand())
      expect.soft(again.replay, name).toEqual(replay)
      expect.soft(canonicalize(again.narrowed), name).toBe(canonicalize(narrowed))
    }
  })
})

describe('every run of a generated ledger', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'recorded-'))
  })

  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('R2: is read from a snapshot, and comes out the same', async () => {
    let [count, runs] = [0, 0]
    await fc.assert(
      fc.asyncProperty(program, async (acts) => {
        count += 1
        const path = join(folder, `${count}.snapshot`)
        await exported(acts, path)
        for (const run of await runsIn(path)) {
          const { outcome, text } = await (await fromLedger(path, run)).replay(programCode)
          expect(outcome, text).toBe('same')
          runs += 1
        }
      }),
      { numRuns: cases({ usual: 6, long: 28, soak: 2_000 }) }
    )
    expect(runs).toBeGreaterThan(5)
  })
})

async function runsIn(path: string): Promise<readonly string[]> {
  const lines = (await readFile(path, 'utf8')).split('\n')
  const names = lines.flatMap((line) => [...line.matchAll(/\\"run\\":\\"([^"\\]+)\\"/g)])
  return [...new Set(names.map(([, name = '']) => name))]
}
