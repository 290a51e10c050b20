import { describe, expect, it } from 'vitest'
import { type Block, defineBlock, EffectFailure } from '../../../src/code/index.js'
import { type Json, type ManualClock, nextTurn } from '../../../src/core/index.js'
import type { Registrations, RunHandle } from '../../../src/runtime/index.js'
import type { WiredRuntime } from '../../../src/runtime/runtime.js'
import { sequenceDocument, sequenceOf } from '../../support/node-sequence.js'
import { type LooseEntry, recorded, rewritten } from '../../support/rewrite.js'

const leaf = (name: string, run: Block['run'], more: Partial<Block> = {}) =>
  defineBlock({ name, version: '1.0.0', sideEffects: 'none', ...more, run } as Parameters<
    typeof defineBlock
  >[0])

const ask = (price: number) => ({ sideEffects: 'none', perform: () => price }) as const

const registrations: Registrations = {
  blocks: [
    leaf('fill', (ctx) => ctx.state.set('left', 3)),
    leaf('buy', async (ctx) => {
      const left = ctx.state.get<number>('left') ?? 0
      const price = await ctx.effect<number>('ask', ask(7))
      return left < price ? ctx.fail('too_little', { left, price }) : { price }
    }),
    leaf('boom', (ctx) => ctx.fail('boom')),
    leaf('slow', async (ctx) => {
      await ctx.sleep(60_000)
    })
  ]
}

const composite = (nodes: Readonly<Record<string, Json>>): Json => sequenceDocument(nodes, 'shop')

const atomic = (nodes: Readonly<Record<string, Json>>): Json =>
  composite({ all: { composite: { atomic: true, ...sequenceOf(nodes) } } })

const failing = (document: Json) =>
  recorded(registrations, async (tally) => {
    const { status } = await tally.begin(document, { id: 'shop' }).result
    expect(status).toBe('failed')
  })

const isSettled = (entry: LooseEntry, path: string) =>
  entry['k'] === 'settled' && entry['path'] === path

const setIn = (entry: LooseEntry, member: string, value: Json) => {
  Object.assign(entry['response'] as object, { [member]: value })
}

/** The same lie wherever the failure is recorded. */
const told = (path: string, member: string, value: Json) => (entry: LooseEntry) => {
  if (isSettled(entry, path) || entry['k'] === 'run.finished') setIn(entry, member, value)
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

const answered = async (tally: WiredRuntime, action: 'approve' | 'deny') => {
  const run = tally.begin(composite({ pay: { block: 'fill', confirm: true } }), { id: 'shop' })
  for await (const event of run) {
    if (event.type === 'waiting') await run[action](event.token, { digest: event.digest })
  }
}

describe('P1: failures of leaves', () => {
  const alone = failing(composite({ fill: { block: 'fill' }, buy: { block: 'buy' } }))

  it('are executed again, to the same reason and details', async () => {
    const { report } = await alone
    expect(report.failure).toBeUndefined()
    expect(report).toMatchObject({ reexecuted: 1, reexecutedFailures: 1, evidence: 1 })
    expect(report.notChecked.join()).not.toContain('not checked')
    expect((await rewritten(await alone)).failure).toBeUndefined()
  })

  it.each([
    ['reason', 'all_well'],
    ['details', { left: 0, price: 7 }],
    ['errorType', 'Other']
  ] as const)(
    'are found when their %s is another, signed with the own key',
    async (member, value) => {
      const { failure } = await rewritten(await alone, told('root/buy', member, value))
      expect(failure).toMatchObject({ field: 'journal.response', key: 'shop' })
    }
  )

  it.each([
    ['a deadline that it did not have', 'journal.at', { reason: 'timed_out', details: {} }],
    [
      'too many steps',
      'journal.response',
      { reason: 'max_steps_exceeded', details: { max_steps: 10_000, node: 'root/buy' } }
    ],
    [
      'something that it had sent',
      'journal.response',
      {
        reason: 'intent_conflict',
        details: { effect: 'ask', seq: 1 },
        errorType: 'IntentConflict'
      }
    ],
    [
      'an input that is too large',
      'journal.response',
      { reason: 'input_too_large', details: { bytes: 20_000_000 }, errorType: 'InvalidInput' }
    ],
    [
      'a write that it does not ask for',
      'journal.response',
      { reason: 'not_reversible', details: { effect: 'x' }, errorType: 'NotReversible' }
    ]
  ] as const)('are found when they are put down to %s', async (_what, field, lie) => {
    const { failure } = await rewritten(await alone, (entry) => {
      if (!isSettled(entry, 'root/buy')) return
      Object.assign(entry['response'] as object, { errorType: lie.reason, ...lie })
    })
    expect(failure).toMatchObject({ field })
  })

  it('are reported as not checked when only a clock can have ended them', async () => {
    const { report } = await recorded(registrations, async (tally, clock) => {
      const document = composite({ nap: { block: 'slow', timeout_ms: 1_000 } })
      const run = tally.begin(document, { id: 'shop' })
      await passTime(run, clock)
      expect((await run.result).response.reason).toBe('timed_out')
    })
    expect(report).toMatchObject({ ok: true, reexecutedFailures: 0 })
    expect(report.notChecked).toContain('1 failure not checked: timed_out: a clock ended them')
  })

  it('W9, B5: are of a run that was cancelled, after it was parked with a write in doubt', async () => {
    const lossy = leaf(
      'lossy',
      (ctx) =>
        ctx.effect('act', () => {
          throw new EffectFailure('gone')
        }),
      { sideEffects: 'non_idempotent' }
    )
    const plan: Json = {
      schema: 'tally-plan/1',
      name: 'shop',
      version: '1.0.0',
      nodes: [{ id: 'lossy', block: 'lossy' }]
    }
    const { report } = await recorded({ blocks: [lossy] }, async (tally) => {
      const run = tally.begin(plan, { id: 'shop' })
      for await (const event of run) {
        if (event.type !== 'waiting') continue
        await run.cancel()
        // Long enough to leave memory.
        for (let turn = 0; turn < 30; turn += 1) await nextTurn()
        await run.resume(event.token, { digest: event.digest, action: 'abort' })
      }
      expect((await run.result).status).toBe('cancelled')
    })
    expect(report.failure).toBeUndefined()
  })

  it('K13: are denials as far as the journal shows the question', async () => {
    const denied = await recorded(registrations, (tally) => answered(tally, 'deny'))
    expect(denied.report).toMatchObject({ ok: true, reexecutedFailures: 1 })
    const { failure } = await rewritten(denied, told('root/pay', 'reason', 'too_late'))
    expect(failure).toMatchObject({ field: 'journal.response', key: 'shop' })
    const early = await rewritten(denied, told('root/pay', 'details', { at: 1, by: null }))
    expect(early.failure).toMatchObject({ field: 'journal.response.details.at' })
  })
})

describe('C4: failures inside atomic composites', () => {
  const inside = failing(atomic({ fill: { block: 'fill' }, buy: { block: 'buy' } }))

  it('are executed again on the overlay that they had found', async () => {
    const { report } = await inside
    expect(report.failure).toBeUndefined()
    // The attempt, and what was rolled back.
    expect(report).toMatchObject({ reexecuted: 0, reexecutedFailures: 2, evidence: 2 })
    expect((await rewritten(await inside)).failure).toBeUndefined()
  })

  it('are found when their details are others', async () => {
    const { failure } = await rewritten(
      await inside,
      told('root/all/buy', 'details', { left: 0, price: 7 })
    )
    expect(failure).toMatchObject({ field: 'journal.response', key: 'shop' })
  })

  it.each([
    ['result', (entry: LooseEntry) => setIn(entry, 'data', 1), 'journal.response'],
    [
      'change',
      (entry: LooseEntry) =>
        Object.assign(entry['overlay'] as object, { writes: [['left', '5']] as Json }),
      'journal.overlay.writes'
    ]
  ] as const)('show the %s of a step that was rolled back', async (_what, lie, field) => {
    const { failure } = await rewritten(await inside, (entry) => {
      if (isSettled(entry, 'root/all/fill')) lie(entry)
    })
    expect(failure).toMatchObject({ field, key: 'root/all/fill' })
  })

  it('D3, L10: stand only while what they have read does', async () => {
    const plan: Json = {
      schema: 'tally-plan/1',
      name: 'shop',
      version: '1.0.0',
      order: 'declared',
      atomic: true,
      nodes: [
        { id: 'fill', block: 'fill' },
        { id: 'buy', block: 'buy' }
      ]
    }
    const { report, items } = await failing(plan)
    expect(report).toMatchObject({ ok: true, reexecutedFailures: 2 })
    expect(items.at(-1)?.entries[0]).toContain('"left":3')
  })

  it('D3, D5: are not led on by answers that come after the end of the code', async () => {
    const answersIn = async (turns: number): Promise<number> => {
      for (let turn = 0; turn < turns; turn += 1) await nextTurn()
      return turns
    }
    const blocks = [
      leaf('slow', (ctx) => ctx.effect('slow', () => answersIn(40))),
      leaf('race', async (ctx) => {
        ctx.effect('late', () => answersIn(10)).catch(() => undefined)
        return ctx.effect('quick', () => answersIn(2))
      }),
      leaf('nap', async (ctx) => {
        ctx.sleep(5_000).catch(() => undefined)
        return ctx.effect('quick', () => answersIn(2))
      })
    ]
    const nodes = ['slow', 'nap', 'race'].map((name) => ({ id: name, block: name }))
    const plan: Json = {
      schema: 'tally-plan/1',
      name: 'shop',
      version: '1.0.0',
      order: 'declared',
      nodes
    }
    const { report } = await recorded({ blocks }, async (tally, clock) => {
      const run = tally.begin(plan, { id: 'shop' })
      await passTime(run, clock)
      expect((await run.result).response.reason).toBe('effect_not_awaited')
    })
    expect(report).toMatchObject({ ok: true, reexecuted: 2, reexecutedFailures: 1 })
  })

  it('are reported as not checked when other work has changed what they read', async () => {
    let answer = (_price: number): void => undefined
    const price = new Promise<number>((resolve) => {
      answer = resolve
    })
    const late = leaf('late', async (ctx) => {
      const left = ctx.state.get<number>('left') ?? 0
      return ctx.fail('too_little', {
        left,
        price: await ctx.effect('ask', { perform: () => price })
      })
    })
    const both = { blocks: [...(registrations.blocks ?? []), late] }
    const { report } = await recorded(both, async (tally) => {
      const run = tally.begin(atomic({ late: { block: 'late' }, fill: { block: 'fill' } }), {
        id: 'late'
      })
      await tally.begin(composite({ fill: { block: 'fill' } }), { id: 'fill' }).result
      answer(7)
      expect((await run.result).response.details).toEqual({ left: 0, price: 7 })
    })
    expect(report).toMatchObject({ ok: true, reexecutedFailures: 0 })
    expect(report.notChecked.join()).toContain('state that they read has changed meanwhile')
  })
})

const acting: Block['run'] = async (ctx) => {
  await ctx.effect('act', () => 'done')
  return ctx.fail('after')
}

describe('evidence', () => {
  const recordedRun = recorded(
    {
      blocks: [leaf('act', acting, { sideEffects: 'non_idempotent' })]
    },
    async (tally) => {
      await tally.begin(composite({ act: { block: 'act' } }), { id: 'shop' }).result
    }
  )

  it.each([
    ['landed', []],
    ['type', 'denial'],
    ['action', 'another'],
    ['payloadText', '1'],
    ['details', { in_doubt: [{ path: 'root/act', effect: 'act', key: '' }] }]
  ] as const)('is found when its %s is not what the journal gives', async (member, value) => {
    const { failure } = await rewritten(await recordedRun, (_entry, evidence) => {
      if (evidence !== undefined) Object.assign(evidence, { [member]: value })
    })
    expect(failure?.field).toContain('evidence.')
  })

  it('tells what landed, after the run was parked too', async () => {
    const { report, items } = await recorded(
      {
        blocks: [leaf('act', acting, { sideEffects: 'non_idempotent' })]
      },
      async (tally) => {
        const document = composite({ act: { block: 'act', on_error: 'ask' } })
        const run = tally.begin(document, { id: 'shop' })
        for await (const event of run) {
          if (event.type !== 'waiting') continue
          for (let turn = 0; turn < 30; turn += 1) await nextTurn()
          await run.resume(event.token, { digest: event.digest, action: 'abort' })
        }
      }
    )
    expect(items.at(-1)?.evidence?.landed).toHaveLength(1)
    expect(report.failure).toBeUndefined()
  })
})
