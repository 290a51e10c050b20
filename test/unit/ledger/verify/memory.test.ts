import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RunId } from '../../../../src/core/index.js'
import { holdStore } from '../../../../src/ledger/index.js'
import { builtFile } from '../../../support/built.js'
import { cases } from '../../../support/effort.js'
import { createLedger } from '../../../support/ledgers.js'
import { entry, fixedIdentity, ledgerOptions, unit } from '../core/support.js'

const RECEIPTS = cases({ usual: 600, long: 1100 })
const HEAP_MB = 40
/** Twice in each run: what the runs say of themselves is more than this heap. */
const filler = 'x'.repeat((HEAP_MB * cases({ usual: 600_000, long: 600_000 })) / RECEIPTS)

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-memory-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

describe('verify', () => {
  it('P1: needs no more heap for a longer history, whatever runs say of themselves', async () => {
    const path = join(directory, 'ledger')
    const keys = fixedIdentity()
    const held = await holdStore(path, { create: { identities: [keys.identity] } })
    const ledger = await createLedger(ledgerOptions(held.store, keys))
    for (let number = 0; number < RECEIPTS; number += 1) {
      const runId = `run-${number}` as RunId
      const started = { k: 'run.started', status: 'running', name: 'wallet', input: filler }
      const appended = ledger.append({
        runId,
        entries: [
          entry(runId, 0, started),
          entry(runId, 1, { k: 'run.finished', status: 'done', filler })
        ],
        unit: unit({ id: `unit-${number}`, writes: { last: number } })
      })
      if (number % 100 === 0 && appended.ok) await ledger.durable(appended.position)
    }
    await ledger.close()
    await held.close()
    const heap = `--max-old-space-size=${HEAP_MB}`
    const args = [heap, builtFile('cli/main.js'), 'verify', '--dir', path]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(stderr).not.toContain('heap')
    expect(stdout).toContain(`${RECEIPTS} signatures, ${RECEIPTS} runs`)
    expect(status).toBe(0)
  })
})
