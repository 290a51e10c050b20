import { describe, expect, it, vi } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import type { Json, RunId } from '../../../../src/core/index.js'
import { runChangesIn, runChangesOf } from '../../../../src/ledger/derived/run-records.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import { openOn, until } from '../../../support/lives.js'

const blocks = [
  defineBlock({
    name: 'echo',
    version: '1.0.0',
    sideEffects: 'none',
    intents: ['echo.do'],
    run: (_ctx, input: Json) => input
  }),
  defineBlock({
    name: 'ask',
    version: '1.0.0',
    sideEffects: 'none',
    // An entry of another kind may hold these words.
    run: (ctx) => ctx.wait({ reason: 'confirmation', request: { text: '"k":"run.finished"' } })
  }),
  defineBlock({
    name: 'fail',
    version: '1.0.0',
    sideEffects: 'none',
    run: (ctx) => ctx.fail('no_luck', { '"k":"run.started"': 1 })
  })
]

function composite(names: readonly string[], more: object = {}): Json {
  return {
    schema: 'tally-composite/1',
    name: 'news',
    version: '1.0.0',
    entry_point: names[0] ?? '',
    nodes: Object.fromEntries(names.map((block) => [block, { block }])),
    transitions: names[1] === undefined ? {} : { [names[0] ?? '']: names[1] },
    ...more
  } as Json
}

describe('what a journal item says of its run', () => {
  it('L5: is what its entries say', async () => {
    const runtime = await openOn(openMemoryStore(), { blocks })
    const append = vi.spyOn(runtime.ledger, 'append')
    await runtime.begin(composite(['echo']), { id: 'run-0' }).result
    await runtime.begin(composite(['echo', 'fail']), { id: 'run-1' }).result
    await runtime.begin(composite(['echo', 'fail'], { atomic: true }), { id: 'run-2' }).result
    await runtime.intent({ action: 'echo.do', payload: { run: 'run.finished' } })
    for (const [id, names] of [
      ['run-3', ['echo', 'ask']],
      ['run-4', ['ask']]
    ] as const) {
      const run = runtime.begin(composite(names), { id })
      await until(() => runtime.ledger.run(id as RunId)?.status === 'waiting')
      if (id === 'run-4') await run.cancel('enough')
      for await (const event of run) {
        if (event.type !== 'waiting') continue
        await run.approve(event.token, { digest: event.digest, by: 'me' })
      }
      await run.result
    }
    const items = append.mock.calls.map(([item]) => item)
    for (const item of items) {
      expect(item.runChanges).toBeDefined()
      expect(runChangesOf(item)).toEqual(runChangesIn(item.entries))
    }
    const kinds = new Set(items.flatMap((item) => runChangesOf(item).map(({ kind }) => kind)))
    expect([...kinds].sort()).toEqual(['run.finished', 'run.resumed', 'run.started', 'run.waiting'])
    await runtime.close()
  })
})
