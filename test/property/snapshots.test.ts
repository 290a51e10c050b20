import { readFile, writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { importSnapshot } from '../../src/ledger/index.js'
import { createRuntime, verifyLocation } from '../../src/runtime/index.js'
import { documentOf, snapshotBlocks, temporaryDirectory } from '../support/snapshots.js'

const isSoak = process.env['SOAK'] === '1'

let place: Awaited<ReturnType<typeof temporaryDirectory>>
beforeEach(async () => {
  place = await temporaryDirectory('snapshot-property')
})
afterEach(() => place.remove())

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ block: fc.constant('note'), text: fc.string() }) },
  fc.record({ block: fc.constantFrom('ask', 'lose'), text: fc.constant('') }),
  fc.record({ block: fc.constant('rotate'), text: fc.constant('') })
)

it('P3: any history comes out of its snapshot as it went in, and no shorter file does', async () => {
  let n = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 6 }),
      fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { maxLength: 3 }),
      async (steps, cuts) => {
        n += 1
        const tally = await createRuntime({ location: 'memory:', blocks: snapshotBlocks })
        for (const { block, text } of steps) {
          if (block === 'rotate') await tally.intent({ action: 'system.key.rotate' })
          else {
            const run = tally.begin(documentOf(block), { inputs: { text } })
            await (block === 'ask' ? run.waits() : run.result)
          }
        }
        const path = place.path(`${n}.snapshot`)
        const { headRoot, receipts } = await tally.export({ path })
        await tally.close()
        const location = place.path(`ledger-${n}`)
        expect(await importSnapshot(location, { file: path })).toMatchObject({ headRoot, receipts })
        const code = { blocks: snapshotBlocks }
        const report = await verifyLocation(location, { notes: [], code })
        expect(report.failure).toBeUndefined()
        expect(report).toMatchObject({ ok: true, receipts, reexecuted: receipts })
        const bytes = await readFile(path)
        for (const [at, cut] of cuts.entries()) {
          const isPacked = at % 2 === 1
          const whole = isPacked ? gzipSync(bytes) : bytes
          const file = place.path(isPacked ? `${n}.cut.gz` : `${n}.cut`)
          await writeFile(file, whole.subarray(0, Math.floor(cut * whole.length)))
          await expect(importSnapshot(place.path('none'), { file })).rejects.toMatchObject({
            code: 'snapshot.malformed'
          })
        }
      }
    ),
    { numRuns: isSoak ? 60 : 5 }
  )
})
