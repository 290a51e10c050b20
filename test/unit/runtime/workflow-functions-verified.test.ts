import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import {
  type Block,
  createRuntime,
  defineBlock,
  defineWorkflow,
  type Workflow,
  type WorkflowContext
} from '../../../src/index.js'
import { expectVerifyFailure } from '../../support/verified-close.js'

type Code = (ctx: WorkflowContext) => Promise<unknown>

const flowOf = (run: Code, blocks: readonly Block[] = []) =>
  defineWorkflow({ name: 'order', version: '1.0.0', blocks, run })

const ask = defineBlock({
  name: 'ask',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => (await ctx.wait({ reason: 'external' })).value
})

const open = (location: string, workflows: readonly Workflow[]) =>
  createRuntime({ location, create: 'if-absent', insecurePlaintextKey: true, workflows })

const newLocation = () => join(mkdtempSync(join(tmpdir(), 'tally-function-')), 'ledger')

/** A ledger with one run of this code that has ended. */
async function ledgerOf(code: Code): Promise<string> {
  const location = newLocation()
  const flow = flowOf(code)
  await using tally = await open(location, [flow])
  await tally.begin(flow, null, { id: 'r' }).result
  expect(await tally.verify()).toMatchObject({ ok: true, complete: true })
  return location
}

const honest: Code = async (ctx) => {
  const paid = await ctx.step('pay', (input) => input, 1)
  const [sent] = await ctx.all([ctx.step('send', () => 2), ctx.step('mail', () => 3)])
  return { paid, sent }
}

interface Changed {
  readonly where: string
  readonly field: string
  readonly code: Code
}

const changed: readonly Changed[] = [
  {
    where: 'a step has another name',
    field: 'called.1',
    code: async (ctx) => {
      const paid = await ctx.step('charge', (input) => input, 1)
      const [sent] = await ctx.all([ctx.step('send', () => 2), ctx.step('mail', () => 3)])
      return { paid, sent }
    }
  },
  {
    where: 'a step gets another input',
    field: 'called.1',
    code: async (ctx) => {
      const paid = await ctx.step('pay', (input) => input, 2)
      const [sent] = await ctx.all([ctx.step('send', () => 2), ctx.step('mail', () => 3)])
      return { paid, sent }
    }
  },
  {
    where: 'a step is not asked for',
    field: 'called.2',
    code: async (ctx) => {
      const paid = await ctx.step('pay', (input) => input, 1)
      const sent = await ctx.step('send', () => 2)
      return { paid, sent }
    }
  },
  {
    where: 'a step more is asked for',
    field: 'called.4',
    code: async (ctx) => {
      const result = await honest(ctx)
      await ctx.step('more', () => 4)
      return result
    }
  },
  {
    where: 'steps change places',
    field: 'called.2',
    code: async (ctx) => {
      const paid = await ctx.step('pay', (input) => input, 1)
      const [, sent] = await ctx.all([ctx.step('mail', () => 3), ctx.step('send', () => 2)])
      return { paid, sent }
    }
  },
  {
    where: 'its result is another one',
    field: 'journal.response',
    code: async (ctx) => ({ ...((await honest(ctx)) as object), more: 1 })
  },
  {
    where: 'it fails',
    field: 'journal.response',
    code: async (ctx) => {
      await honest(ctx)
      ctx.fail('no')
    }
  },
  {
    where: 'it ends before its first step',
    field: 'called.1',
    code: async () => ({ paid: 1, sent: 2 })
  }
]

describe('B12, K8: verification executes the code of workflow functions', () => {
  it.each(changed)('and finds where $where', async ({ field, code }) => {
    const location = await ledgerOf(honest)
    const tally = await open(location, [flowOf(code)])
    const { ok, failure } = await tally.verify()
    expect(ok).toBe(false)
    expect(failure?.field).toBe(field)
    expectVerifyFailure(field)
    await tally.close()
  })

  it('B12: and finds that a failure has another reason', async () => {
    const location = await ledgerOf(async (ctx) => ctx.fail('sold_out'))
    const tally = await open(location, [flowOf(async (ctx) => ctx.fail('no_stock'))])
    expect((await tally.verify()).failure?.field).toBe('journal.response')
    expectVerifyFailure('journal.response')
    await tally.close()
  })

  it('at the times at which it was given its answers', async () => {
    const flow = flowOf(async (ctx) => {
      const times = [ctx.now()]
      for (const step of ['a', 'b']) {
        await ctx.step(step, () => after(3))
        times.push(ctx.now())
      }
      return { times, id: ctx.uuid(), chance: ctx.random() }
    })
    await using tally = await open('memory:', [flow])
    const { response } = await tally.begin(flow, null).result
    const { times } = response.data as { times: readonly number[] }
    expect(new Set(times).size).toBe(3)
    expect(await tally.verify()).toMatchObject({ ok: true, complete: true })
  })

  it('and says that code which is not here was not executed', async () => {
    const location = await ledgerOf(honest)
    await using tally = await open(location, [])
    expect(await tally.verify()).toMatchObject({ ok: true, complete: false })
  })
})

describe('B12, B10: before it is resumed, an open run tells', () => {
  /** What is left to do when the run waits. */
  const waiting = (code: Code) =>
    flowOf(async (ctx) => {
      const result = await code(ctx)
      await ctx.wait({ reason: 'external' })
      return result
    })

  async function parked(): Promise<string> {
    const location = newLocation()
    const flow = waiting(honest)
    await using tally = await open(location, [flow])
    for await (const event of tally.begin(flow, null, { id: 'r' })) {
      if (event.type === 'run.parked') break
    }
    return location
  }

  const others = changed.filter(({ where }) => where !== 'its result is another one')

  it.each(others)('where $where', async ({ code }) => {
    await using tally = await open(await parked(), [waiting(code)])
    const [found] = await tally.checkUpgrade()
    expect(found).toMatchObject({ id: 'r', ready: false, missing: [] })
    expect(found?.problem).toContain('its code asks for something else')
  })

  const lost = () => {
    throw new Error('connection reset')
  }
  const parkedIn: Readonly<Record<string, Code>> = {
    'a wait': (ctx) => ctx.wait({ reason: 'external' }),
    'a signal': (ctx) => ctx.signal('go'),
    'a sleep': (ctx) => ctx.sleep('1d'),
    'a step about which a person decides': (ctx) => ctx.step('lost', lost),
    'one of several': (ctx) => ctx.all([ctx.step('a', () => 1), ctx.step('lost', lost)]),
    'a race': (ctx) => ctx.race([ctx.step('lost', lost), ctx.sleep('1d')]),
    'an atomic part': (ctx) => ctx.atomic((scope) => scope.step('ask', ask, null))
  }

  it.each(Object.entries(parkedIn))(
    'that the same code can take it up from %s',
    async (_, code) => {
      const location = newLocation()
      const whole: Code = async (ctx) => [await honest(ctx), await code(ctx)]
      const flow = flowOf(whole, [ask])
      const first = await open(location, [flow])
      for await (const event of first.begin(flow, null, { id: 'r' })) {
        if (event.type === 'run.parked') break
      }
      await first.close()
      await using tally = await open(location, [flowOf(whole, [ask])])
      expect(await tally.checkUpgrade()).toMatchObject([{ id: 'r', ready: true, problem: null }])
    }
  )
})

describe('B12: a workflow function asks only in a turn in which it was given something', () => {
  const outcomeOf = async (code: Code) => {
    const flow = flowOf(code)
    await using tally = await open('memory:', [flow])
    return (await tally.begin(flow, null).result).response
  }

  it('so one that has waited for a timer fails at once, and not when it is resumed', async () => {
    const response = await outcomeOf(async (ctx) => {
      await ctx.step('pay', () => 1)
      await after(1)
      return ctx.step('send', () => 2)
    })
    const details = { call: 'step' }
    expect(response).toMatchObject({ reason: 'called_out_of_turn', details })
  })

  it('so a step does not ask for another one', async () => {
    const response = await outcomeOf((ctx) => {
      const inner = () => ctx.step('inner', () => 1)
      return ctx.step('outer', inner, null, { sideEffects: 'none' })
    })
    expect(response).toMatchObject({ success: false, details: { step: 'outer' } })
  })

  it('however it combines what it was given', async () => {
    const response = await outcomeOf(async (ctx) => {
      const later = async (n: number) => {
        await null
        const one = await ctx.step(`one-${n}`, () => n)
        await Promise.resolve()
        return (await ctx.step(`two-${n}`, () => n)) + one
      }
      const all = await Promise.all([1, 2, 3].map(later))
      const first = await Promise.race([ctx.step('a', () => 'a').finally(() => 0)])
      return [...all, first, await later(4)]
    })
    expect(response.data).toEqual([2, 4, 6, 'a', 8])
  })
})
