import { expect, test } from 'vitest'
import type { WiredRuntime } from '../../../../src/runtime/index.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../../../support/ledger-on-disk.js'
import {
  counterPackage,
  type PackageFolder,
  packagesForAllTests
} from '../../../support/packages.js'

let folder: PackageFolder
let disk: LedgerOnDisk

packagesForAllTests((made) => {
  folder = made
})
ledgerForEachTest((made) => {
  disk = made
})

const steps = ['a', 'b', 'c'].map((id) => ({ id, action: 'count.up' }))
const document = { schema: 'tally-graph/1', name: 'counts', version: '1.0.0', steps }

async function open(): Promise<WiredRuntime> {
  const packages = [await folder.write(counterPackage)]
  const obligations = { packages: { counter: { confirm: true } } } as const
  return disk.open({ packages, obligations, resume: true })
}

/** The first wait of the run, once it has one that is not answered. */
async function openWait(tally: WiredRuntime) {
  const run = await tally.attach('counts')
  for (;;) {
    const [wait] = await run.waits()
    if (wait !== undefined) return wait
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test('K14: an answer is taken while the code of a package begins again', async () => {
  let tally = await open()
  const capabilities = ['storage.read', 'storage.write']
  await tally.intent({ action: 'system.grant', payload: { package: 'counter', capabilities } })
  const { result } = tally.begin(document, { id: 'counts' })
  result.catch(() => undefined)
  // The code is loaded beside the loop: each answer is sent before it has asked.
  for (const _ of steps) {
    const { token, digest } = await openWait(tally)
    await disk.close()
    tally = await open()
    const run = await tally.attach('counts')
    expect(await run.approve(token, { digest })).toMatchObject({ accepted: true })
  }
  const run = await tally.attach('counts')
  expect(await run.result).toMatchObject({ status: 'done' })
})
