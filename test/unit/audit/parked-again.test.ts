import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../../src/code/index.js'
import { type ManualClock, nextTurn } from '../../../src/core/index.js'
import type { RunHandle } from '../../../src/runtime/index.js'
import { recorded } from '../../support/rewrite.js'

const blocks = [
  defineBlock({
    name: 'fail',
    version: '1.0.0',
    sideEffects: 'none',
    run: (ctx) => ctx.fail('boom')
  }),
  defineBlock({
    name: 'wait',
    version: '1.0.0',
    sideEffects: 'none',
    run: (ctx) => ctx.wait({ reason: 'external' })
  })
]

const plan = {
  schema: 'tally-plan/1',
  name: 'both',
  version: '1.0.0',
  nodes: [
    {
      id: 'first',
      on_error: 'continue',
      composite: {
        entry_point: 'ask',
        nodes: { ask: { block: 'fail', on_error: 'ask', timeout_ms: 600_000 } },
        transitions: {}
      }
    },
    { id: 'second', block: 'wait' }
  ]
}

/** Lets every timer come due until the run has ended. */
async function passTime(run: RunHandle, clock: ManualClock): Promise<void> {
  let isOver = false
  run.result.finally(() => {
    isOver = true
  })
  while (!isOver) {
    await nextTurn()
    if (clock.nextDue !== undefined) clock.advance(clock.nextDue - clock.now())
  }
}

describe('a run that is parked again after the time of a decision was over', () => {
  it('D10: verifies: the decision waits no more, live and in verification', async () => {
    const parked: string[][] = []
    const { report } = await recorded({ blocks }, async (tally, clock) => {
      const run = tally.begin(plan, { id: 'both' })
      const passing = passTime(run, clock)
      for await (const event of run) {
        if (event.type !== 'run.parked') continue
        parked.push(event.waits.map(({ reason }) => reason).sort())
        const [wait, ...others] = event.waits
        if (wait === undefined || others.length > 0) continue
        await run.resume(wait.token, { digest: wait.digest })
      }
      await passing
    })
    expect(parked).toEqual([['external']])
    expect(report).toMatchObject({ ok: true })
    expect(report.failure).toBeUndefined()
  })
})
