import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { recordingIn, recordingText, recordRun } from '../../src/audit/index.js'
import { replayRecordingWith } from '../../src/runtime/index.js'
import { openRecording } from '../../src/testing/index.js'
import { testKeys, World } from '../support/lives.js'
import { runScenario, SCENARIO_RUN } from '../support/run-to-end.js'
import { scenarioBlocks } from '../support/scenario-blocks.js'
import { scenarioDocuments } from '../support/scenario-documents.js'

/**
 * Recorded runs as earlier versions have written them: tests that were generated from them must
 * pass as long as their code stays. `MAKE_JOURNALS=1` adds the files that are not there yet; old
 * ones are never made again.
 */
const folder = new URL('../vectors/recordings/', import.meta.url)

const recorded: Readonly<Record<string, string>> = {
  'waits-and-listings': 'effects, a listing and waits in one block',
  retried: 'retries now and later',
  failed: 'a failure that ends the run'
}

const atHand = () => scenarioBlocks(new World())

async function make(name: string): Promise<void> {
  const file = new URL(`${name}.json`, folder)
  const document = scenarioDocuments[recorded[name] ?? ''] ?? null
  if (existsSync(file)) return
  const { machine } = await runScenario({ document, inputs: {}, registrations: scenarioBlocks })
  const store = machine.disk.open()
  const recording = await recordRun({ store, identity: testKeys.identity, run: SCENARIO_RUN })
  if (recording === undefined) throw new Error('there is no such run')
  const { narrowed } = await replayRecordingWith(recording, atHand())
  writeFileSync(file, await recordingText(narrowed))
}

describe('recorded runs of earlier versions', () => {
  it.each(Object.keys(recorded))('R2: come out the same: %s', async (name) => {
    if (process.env['MAKE_JOURNALS'] === '1') await make(name)
    const file = new URL(`${name}.json`, folder)
    const text = readFileSync(file, 'utf8')
    const parsed = await recordingIn(text)
    if (!parsed.ok) throw new Error(parsed.problem)
    expect(await recordingText(parsed.recording)).toBe(text)
    const report = await (await openRecording(file)).replay(atHand())
    expect(report.outcome, report.text).toBe('same')
  })

  it('has a file for each', () => {
    const names = Object.keys(recorded).map((name) => `${name}.json`)
    expect(readdirSync(folder).sort()).toEqual(names.sort())
  })
})
