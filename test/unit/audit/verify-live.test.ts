import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../../src/code/index.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../../support/ledger-on-disk.js'

const count = defineBlock({
  name: 'count',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['count.up'],
  run: (ctx) => {
    const n = (ctx.state.get<number>('n') ?? 0) + 1
    ctx.state.set('n', n)
    return { n }
  }
})

let disk: LedgerOnDisk
ledgerForEachTest((made) => {
  disk = made
})

describe('the verification of a ledger that is in use', () => {
  it('P1: finds nothing wrong while its indexes and its chain are being written', async () => {
    const tally = await disk.open({ blocks: [count] })
    for (let n = 0; n < 12; n += 1) {
      await tally.intent({ action: 'count.up' })
      const [beside] = await Promise.all([tally.verify(), tally.ledger.logHashes()])
      expect(beside.failure).toBeUndefined()
      const verifying = tally.verify()
      await tally.intent({ action: 'count.up' })
      await tally.ledger.logHashes()
      expect((await verifying).failure).toBeUndefined()
    }
  })
})
