import { describe, expect, it } from 'vitest'
import { type BlockContext, defineBlock } from '../../../../src/code/index.js'
import { type Json, ManualClock } from '../../../../src/core/index.js'
import { createRuntime, type DeliveredEvent } from '../../../../src/runtime/index.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../../../support/ledger-on-disk.js'
import { until } from '../../../support/lives.js'

/** What goes on by itself when a service opens its ledger. */

const document = (block: string): Json => ({
  schema: 'tally-composite/1',
  name: 'order',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block } }
})

/** A block that hangs in its first life, and one that sleeps for a day. */
function blocks(isFirst: boolean) {
  const paid = () => (isFirst ? new Promise<Json>(() => undefined) : { paid: true })
  const pay = (ctx: BlockContext) =>
    ctx.effect('pay', {
      request: 1,
      perform: paid,
      locate: () => ({ found: false, definite: true })
    })
  const sleep = async (ctx: BlockContext) => {
    await ctx.sleep(86_400_000)
    return { slept: true }
  }
  return [
    defineBlock({ name: 'pay', version: '1.0.0', sideEffects: 'idempotent', run: pay }),
    defineBlock({ name: 'sleep', version: '1.0.0', sideEffects: 'none', run: sleep })
  ]
}

async function interrupted(disk: LedgerOnDisk, clock: ManualClock): Promise<void> {
  const tally = await disk.open({ clock, blocks: blocks(true) })
  for (const name of ['pay', 'sleep']) await tally.start(document(name), { id: name })
  await until(() => tally.run('sleep')?.status === 'waiting' && tally.run('pay') !== undefined)
  await disk.closeHanging(clock)
}

describe('opening a ledger', () => {
  let disk: LedgerOnDisk
  ledgerForEachTest((given) => {
    disk = given
  })

  it('goes on with interrupted runs and due timers, which a listener of the options hears', async () => {
    const clock = new ManualClock()
    await interrupted(disk, clock)
    const heard: DeliveredEvent[] = []
    const onEvent = (event: DeliveredEvent) => heard.push(event)
    const location = disk.path
    const tally = await createRuntime({
      location,
      serve: false,
      clock,
      blocks: blocks(false),
      onEvent
    })
    await until(() => tally.run('pay')?.status === 'done')
    // The run is resumed when its time has come, and arms its timer again.
    await until(() => {
      clock.advance(86_400_000)
      return tally.run('sleep')?.status === 'done'
    })
    await until(() => heard.filter(({ type }) => type === 'run.finished').length === 2)
    await tally.close()
  })

  it('leaves them alone with resume: false', async () => {
    const clock = new ManualClock()
    await interrupted(disk, clock)
    const tally = await disk.open({ clock, blocks: blocks(false), resume: false })
    clock.advance(86_400_000)
    for (let turn = 0; turn < 50; turn += 1) await new Promise((done) => setImmediate(done))
    expect(tally.run('pay')?.status).toBe('running')
    expect(tally.run('sleep')?.status).toBe('waiting')
  })

  it('opens although a run cannot continue, and says why it rests', async () => {
    const clock = new ManualClock()
    await interrupted(disk, clock)
    const tally = await disk.open({ clock, resume: true })
    expect(tally.status().warnings.join(' ')).toContain('run pay rests')
    expect(tally.run('pay')?.status).toBe('running')
  })
})
