import { expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import { ledgerError, nextTurn } from '../../../../src/core/index.js'
import { Machine } from '../../../support/lives.js'

it('L3: a flush behind a read that cannot be written any more rejects for nothing that hears it', async () => {
  const machine = new Machine()
  const unheard: unknown[] = []
  const hear = (error: unknown) => unheard.push(error)
  // A process that hears of none of these ends.
  process.on('unhandledRejection', hear)
  try {
    let isPoisoned = false
    const reading = defineBlock({
      name: 'read',
      version: '1.0.0',
      sideEffects: 'none',
      run: (ctx) => {
        const append = () => {
          throw ledgerError('ledger.poisoned', { problem: 'the disk is full' })
        }
        Object.defineProperty(tally.ledger, 'append', { value: append, configurable: true })
        isPoisoned = true
        return ctx.effect('look', () => new Promise<never>(() => undefined))
      }
    })
    const count = defineBlock({
      name: 'count',
      version: '1.0.0',
      sideEffects: 'none',
      run: () => 1
    })
    const tally = await machine.open({ blocks: [count, reading] })
    const document = {
      schema: 'tally-composite/1',
      name: 'one',
      version: '1.0.0',
      atomic: true,
      entry_point: 'a',
      // What the first step has recorded waits for the second to be handed in.
      nodes: { a: { block: 'count' }, b: { block: 'read' } },
      transitions: { a: 'b' }
    }
    const run = tally.begin(document, { id: 'r' })
    run.result.catch(() => undefined)
    while (!isPoisoned) await nextTurn()
    for (let turn = 0; turn < 5; turn += 1) await nextTurn()
    expect(unheard).toEqual([])
    Reflect.deleteProperty(tally.ledger, 'append')
    await tally.ledger.close()
  } finally {
    process.off('unhandledRejection', hear)
  }
})
