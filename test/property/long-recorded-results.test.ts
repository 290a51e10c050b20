import { describe, expect, it } from 'vitest'
import { defineBlock, EffectFailure } from '../../src/code/index.js'
import { type Json, limits, type RunId } from '../../src/core/index.js'
import type { Registrations, WiredRuntime } from '../../src/runtime/index.js'
import { essence } from '../support/crash-everywhere.js'
import { Machine, settleDown, type World } from '../support/lives.js'
import { runScenario, type Scenario } from '../support/run-to-end.js'

/** Far more than is kept in memory; each round is one answer and one sleep. */
const ROUNDS = limits.RECORDED_ANSWERS_MAX
/** Too long to be kept with folded recorded results. */
const pad = 'x'.repeat(limits.RECORDED_BODY_LENGTH_MAX)

interface PollInput {
  readonly sleepMs: number
  readonly isShaky?: boolean
}

/** Blocks that poll; `asked` counts what was really asked. */
function pollers(world: World, asked: { count: number }): Registrations {
  const polls = defineBlock({
    name: 'polls',
    version: '1.0.0',
    sideEffects: 'none',
    run: async (ctx, { sleepMs, isShaky = false }: PollInput) => {
      const n = ctx.state.get<number>('n') ?? 0
      const seen: string[] = []
      for (let round = 0; round < ROUNDS; round += 1) {
        const answer = await ctx.effect<{ seen: string }>('look', {
          request: { round, pad },
          perform: async (call) => {
            asked.count += 1
            return (await world.look(call)) as { seen: string }
          }
        })
        seen.push(answer.seen)
        await ctx.sleep(sleepMs)
      }
      const perform = () => {
        if (!isShaky || ctx.attempt > 1) return null
        throw new EffectFailure('shaken', { definite: true })
      }
      await ctx.effect('last', { perform })
      ctx.state.set(`seen/${ctx.path}`, seen.length)
      return { n, seen: seen.map((text) => text.length), random: ctx.random() }
    }
  })
  const count = defineBlock({
    name: 'count',
    version: '1.0.0',
    sideEffects: 'none',
    run: (ctx) => {
      const n = (ctx.state.get<number>('n') ?? 0) + 1
      ctx.state.set('n', n)
      return { n }
    }
  })
  return { blocks: [polls, count] }
}

/** How often answers were read back from the journal, by each process. */
function counted(reads: number[]): NonNullable<Scenario['opened']> {
  return ({ ledger }: WiredRuntime) => {
    const life = reads.push(0) - 1
    const journal = ledger.journal.bind(ledger)
    ledger.journal = (runId, from, isWanted) => {
      if (isWanted !== undefined) reads[life] = (reads[life] ?? 0) + 1
      return journal(runId, from, isWanted)
    }
  }
}

function composite(fields: Readonly<Record<string, Json>>): Json {
  return { schema: 'tally-composite/1', name: 'polling', version: '1.0.0', ...fields }
}

const input = (given: PollInput): Json => ({ lit: { ...given } })

const chain = {
  entry_point: 'a',
  nodes: {
    a: { block: 'count' },
    b: { block: 'polls', input: input({ sleepMs: 10 }) },
    c: { block: 'count' }
  },
  transitions: { a: 'b', b: 'c' }
}

const documents = {
  'near due times, in memory': composite(chain),
  'far due times, parked each time': composite({
    ...chain,
    nodes: { ...chain.nodes, b: { block: 'polls', input: input({ sleepMs: 60_000 }) } }
  }),
  'an atomic composite': composite({
    entry_point: 'o',
    nodes: { o: { composite: { ...chain, atomic: true } } }
  }),
  'several nodes at once': {
    schema: 'tally-plan/1',
    name: 'polling',
    version: '1.0.0',
    nodes: ['a', 'b', 'c'].map((id) => ({
      id,
      block: 'polls',
      input: input({ sleepMs: 10 })
    }))
  },
  'a second attempt that keeps the answers of the first': composite({
    ...chain,
    nodes: {
      ...chain.nodes,
      b: {
        block: 'polls',
        input: input({ sleepMs: 10, isShaky: true }),
        recovery: [{ retry: { max_attempts: 2 } }]
      }
    }
  })
}

describe('code with more answers than are kept in memory', () => {
  it.each(Object.entries(documents))('K9, D6: %s', async (name, document) => {
    const reads: number[] = []
    const asked = { count: 0 }
    const scenario: Scenario = {
      document,
      inputs: {},
      registrations: (world) => pollers(world, asked),
      opened: counted(reads)
    }
    const reference = await runScenario(scenario)
    expect(reference.result.response).toMatchObject({ success: true })
    const times = name.startsWith('several') ? 3 : 1
    expect(asked.count).toBe(ROUNDS * times)
    const isRead = name.startsWith('far') || name.startsWith('a second')
    expect(reads[0] ?? 0).toBeGreaterThanOrEqual(isRead ? 1 : 0)
    if (!isRead) expect(reads).toEqual([0])
    const deaths = [Math.floor(reference.boundaries * 0.6), 20]
    asked.count = 0
    reads.splice(0)
    const again = await runScenario(scenario, deaths)
    expect(again.lives).toBe(deaths.length + 1)
    expect(essence(again, times === 1)).toEqual(essence(reference, times === 1))
    // What was on its way when the process died is asked for again, and nothing else.
    expect(asked.count).toBeLessThanOrEqual((ROUNDS + deaths.length) * times)
    // However many nodes run again, the journal is read once for all of them.
    if (!isRead) expect(reads.slice(1)).toEqual(deaths.map(() => 1))
  })

  it('K9: a run stays in memory when it would be resumed too soon for its answers', async () => {
    let parked = 0
    const asked = { count: 0 }
    const sleepMs = limits.PARK_AFTER_MS + ROUNDS * limits.PARK_AFTER_ANSWER_MS
    const { result } = await runScenario({
      document: composite({
        entry_point: 'a',
        nodes: { a: { block: 'polls', input: input({ sleepMs }) } }
      }),
      inputs: {},
      registrations: (world) => pollers(world, asked),
      opened: ({ ledger }) => {
        const append = ledger.append.bind(ledger)
        ledger.append = (item) => {
          if (item.entries.some((text) => text.includes('"k":"run.waiting"'))) parked += 1
          return append(item)
        }
      }
    })
    expect(result.status).toBe('done')
    // Two answers a round: from the middle on there are too many.
    expect(parked).toBe(ROUNDS / 2)
  })

  it('L10: is given the same answers when it runs again on a state that has changed', async () => {
    const machine = new Machine()
    const asked = { count: 0 }
    const runtime = await machine.open(pollers(machine.world, asked))
    const reads: number[] = []
    counted(reads)(runtime)
    const polling = runtime.begin(composite(chain), { id: 'polling' as RunId })
    let result: Awaited<typeof polling.result> | undefined
    polling.result.then((given) => {
      result = given
    })
    const pass = async () => {
      await settleDown(() => `${machine.world.life.boundaries} ${runtime.ledger.backlog().items}`)
      machine.clock.advance(10)
    }
    while (asked.count < ROUNDS - 1) await pass()
    const other = composite({ entry_point: 'a', nodes: { a: { block: 'count' } }, name: 'other' })
    const changed = runtime.begin(other, { id: 'other' as RunId })
    while (result === undefined) await pass()
    expect((await changed.result).status).toBe('done')
    expect(asked.count).toBe(ROUNDS)
    expect(reads).toEqual([1])
    const report = await runtime.verify()
    expect(report.failure).toBeUndefined()
    const polled: unknown[] = []
    for await (const { receipt, resultText } of runtime.receipts()) {
      if (receipt.intent === 'polls') polled.push(JSON.parse(resultText ?? 'null'))
    }
    // What the other run has written while it polled.
    expect(polled).toMatchObject([{ n: 2 }])
    await runtime.close()
  })
})
