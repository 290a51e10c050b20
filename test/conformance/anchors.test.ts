import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRuntime, defineWorkflow } from '../../src/index.js'
import { type AnchorDriver, anchorConformance } from '../../src/testing/index.js'
import { fileAnchor, type NoteService, startNoteService } from '../support/anchors.js'

const folder = mkdtempSync(join(tmpdir(), 'tally-anchors-'))
let service: NoteService
beforeAll(async () => {
  service = await startNoteService()
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true, force: true })
})

let files = 0
const newFile = () => {
  files += 1
  return fileAnchor(join(folder, `${files}.notes`))
}
const drivers: readonly (readonly [name: string, driver: () => AnchorDriver])[] = [
  ['a file to which is only appended', newFile],
  ['a service behind HTTP', () => service]
]

for (const [name, driver] of drivers) {
  describe(`anchor conformance: ${name}`, () => {
    for (const check of anchorConformance) it(check.name, () => check.run(driver()))
  })

  it(`P5: a note that ${name} kept says how far a whole ledger is anchored`, async () => {
    const flow = defineWorkflow({ name: 'flow', version: '1.0.0', run: async () => null })
    await using tally = await createRuntime({ location: 'memory:', workflows: [flow] })
    await tally.begin(flow, null).result
    const anchor = await driver().open()
    const evidence = await anchor.publish(await tally.note())
    const kept = await anchor.check(evidence)
    await anchor.close?.()
    if (!kept.kept) throw new Error(kept.problem)
    const { anchored } = await tally.verify({ notes: [{ text: kept.note, source: name }] })
    expect(anchored).toMatchObject({ upTo: anchored.logSize, source: name })
  })
}
