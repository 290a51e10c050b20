import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Xorshift128 } from '../../src/core/index.js'
import { holdStore } from '../../src/ledger/owner/index.js'
import { realLedger } from '../simulate/real-ledger.js'
import { cases } from '../support/effort.js'
import { startWriter } from './crash-store/process.js'

const KILLS = cases({ usual: 2, long: 6 })
let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-crash-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

describe('a killed owner', () => {
  it('L1, L4, L6: every acknowledged receipt is there, in one verified chain', async () => {
    const random = new Xorshift128('crash-ledger')
    const path = join(directory, 'ledger')
    const first = await holdStore(path, { create: { identities: [] } })
    await (await realLedger()(first.store)).close()
    await first.close()
    const acknowledged = new Map<string, string>()
    for (let life = 1; life <= KILLS; life += 1) {
      const target = acknowledged.size + 1 + (random.uint32() % 200)
      await startWriter('ledger-writer.ts', [path, String(life)], (line, kill) => {
        const [unit = '', hash = ''] = line.split(' ')
        expect(hash, line).toMatch(/^[0-9a-f]{64}$/)
        acknowledged.set(unit, hash)
        if (acknowledged.size >= target) kill()
      })
      const held = await holdStore(path)
      const ledger = await realLedger()(held.store)
      const history = await ledger.history()
      const found = new Map(history.map(({ unit, hash }) => [unit, hash]))
      expect(found.size, 'a unit is there twice').toBe(history.length)
      for (const [unit, hash] of acknowledged) expect(found.get(unit), unit).toBe(hash)
      expect(ledger.head()).toBe(history.at(-1)?.hash)
      expect(acknowledged.size).toBeGreaterThanOrEqual(target)
      await ledger.close()
      await held.close()
    }
  })
})
