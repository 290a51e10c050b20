import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { alterRecords } from '../src/cli/demo/alter.js'
import { defineBlock } from '../src/code/index.js'
import type { Json } from '../src/core/index.js'
import { holdStore, openMemoryStore } from '../src/ledger/index.js'
import { createRuntime, MEMORY_LOCATION, type WiredRuntime } from '../src/runtime/index.js'
import { lasting } from './support/lasting-store.js'
import { openLedger } from './support/ledgers.js'
import { openOn, testKeys } from './support/lives.js'
import { filesBelow, readSource } from './support/source.js'
import { expectVerifyFailure, verificationProblems } from './support/verified-close.js'

/** The harness itself: whichever way a test closes a ledger, a wrong one does not pass. */

/** A block that gives another result when it is executed again. */
function impure() {
  let executions = 0
  return defineBlock({
    name: 'impure',
    version: '1.0.0',
    sideEffects: 'none',
    run: () => {
      executions += 1
      return { executions }
    }
  })
}

const document: Json = {
  schema: 'tally-composite/1',
  name: 'impure',
  version: '1.0.0',
  entry_point: 'n',
  nodes: { n: { block: 'impure' } }
}

async function runOnce(tally: WiredRuntime): Promise<void> {
  expect((await tally.begin(document, { id: 'one' }).result).status).toBe('done')
}

const alter = (text: string) => text.replaceAll('"executions":1', '"executions":7')

describe('a ledger that does not verify is found', () => {
  it('when a runtime in memory is closed', async () => {
    expectVerifyFailure('journal.response')
    const tally = await createRuntime({ location: MEMORY_LOCATION, blocks: [impure()] })
    await runOnce(tally)
    await tally.close()
  })

  it('when a runtime on a store of the test is disposed of', async () => {
    expectVerifyFailure('journal.response')
    await using tally = await openOn(openMemoryStore(), { blocks: [impure()] })
    await runOnce(tally)
  })

  it('when a ledger without a runtime is closed', async () => {
    expectVerifyFailure('resultHash')
    const store = openMemoryStore()
    const { identity, blobKey } = testKeys
    const tally = await openOn(lasting(store), { blocks: [pure] })
    await tally.begin({ ...(document as object), nodes: { n: { block: 'pure' } } }).result
    await tally.close()
    await alterRecords(store, identity, alter)
    const signer = testKeys.signer()
    await (await openLedger({ store, identity, signer, blobKey })).close()
  })

  it('when the directory that another process has written is removed', async () => {
    expectVerifyFailure('resultHash')
    const directory = await mkdtemp(join(tmpdir(), 'tally-verified-'))
    const location = join(directory, 'ledger')
    const options = { location, create: 'if-absent', insecurePlaintextKey: true } as const
    const tally = await createRuntime({ ...options, serve: false, blocks: [pure] })
    const { identity } = tally
    await tally.begin({ ...(document as object), nodes: { n: { block: 'pure' } } }).result
    await tally.close()
    const held = await holdStore(location)
    expect(await alterRecords(held.store, identity, alter)).toBeGreaterThan(0)
    await held.close()
    await rm(directory, { recursive: true })
  })
})

const pure = defineBlock({
  name: 'pure',
  version: '1.0.0',
  sideEffects: 'none',
  run: () => ({ executions: 1 })
})

describe('a test', () => {
  it('fails for a ledger that it has not named, and for a failure that does not occur', async () => {
    const tally = await createRuntime({ location: MEMORY_LOCATION, blocks: [impure()] })
    await runOnce(tally)
    await tally.close()
    expect(verificationProblems()).toEqual([expect.stringContaining('"journal.response"')])
    expectVerifyFailure('receiptHash')
    expect(verificationProblems()).toEqual([expect.stringContaining('receiptHash')])
    expect(verificationProblems()).toEqual([])
  })

  it('opens no ledger past the harness', () => {
    expect(readFileSync('vitest.config.ts', 'utf8')).toContain('test/support/setup.ts')
    // The harness; ledgers below a runtime, verified with it; what is forged, and a disk that rots.
    const allowed = [
      'test/support/ledgers.ts',
      'test/support/lives.ts',
      'test/support/forge.ts',
      'test/support/rewrite.ts',
      'test/simulate/real-ledger.ts'
    ]
    const opens = /\b(openLedger|createLedger|OpenLedger)\b[^;']*from '[./]*src\/ledger\//
    const offenders = filesBelow('test', ['.ts'])
      .map(readSource)
      .filter(({ path, text }) => !allowed.includes(path) && opens.test(text))
    expect(
      offenders.map(({ path }) => `${path} opens a ledger: use test/support/ledgers.ts`)
    ).toEqual([])
  })
})
