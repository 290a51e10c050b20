import fc from 'fast-check'
import { z } from 'zod'
import { defineBlock, EffectFailure } from '../../src/code/index.js'
import type { Json } from '../../src/core/index.js'
import type { MachineOptions, MachineTarget } from '../../src/testing/index.js'

/** A block or document with one fault, and the promise that names it. */
export interface PlantedFault {
  readonly name: string
  readonly target: MachineTarget
  readonly options: MachineOptions
  readonly promise: string
}

const anything = { inputs: fc.constant<Json>({}) }
const none = { version: '1.0.0', sideEffects: 'none' } as const

// Taken when the module is loaded, as impure code does: nothing replaces these later.
const CapturedDate = Date
let calls = 0
const never = new Promise<never>(() => undefined)

const impure: readonly PlantedFault[] = [
  {
    name: 'reads a clock that it has captured',
    target: defineBlock({
      ...none,
      name: 'captures',
      run: () => ({ at: new CapturedDate().getTime() })
    }),
    options: anything,
    promise: 'deterministic'
  },
  {
    name: 'reads Date.now',
    target: defineBlock({ ...none, name: 'clock', run: () => ({ at: Date.now() }) }),
    options: anything,
    promise: 'deterministic'
  },
  {
    name: 'draws by Math.random',
    target: defineBlock({ ...none, name: 'chance', run: () => ({ drawn: Math.random() }) }),
    options: anything,
    promise: 'deterministic'
  },
  {
    name: 'counts in a variable of its module',
    target: defineBlock({
      ...none,
      name: 'counter',
      run: () => {
        calls += 1
        return { calls }
      }
    }),
    options: anything,
    promise: 'deterministic'
  },
  {
    name: 'depends on the order of keys',
    target: defineBlock({
      ...none,
      name: 'order',
      run: (_, input) => ({ first: Object.keys(Object(input))[0] ?? null })
    }),
    options: { inputs: fc.constant<Json>({ a: 1, b: 2 }) },
    promise: 'deterministic'
  },
  {
    name: 'depends on the time zone',
    target: defineBlock({ ...none, name: 'zone', run: () => ({ hours: new Date(0).getHours() }) }),
    options: anything,
    promise: 'deterministic'
  }
]

const sent: string[] = []

const outside: readonly PlantedFault[] = [
  {
    name: 'acts past ctx, and looks at what it did',
    target: defineBlock({
      ...none,
      name: 'sneaks',
      run: (ctx) => {
        sent.push(ctx.unitId)
        return { sent: sent.length }
      }
    }),
    options: anything,
    promise: 'deterministic'
  },
  {
    name: 'pays again under another key when it has no answer',
    target: defineBlock({
      name: 'blindly',
      version: '1.0.0',
      sideEffects: 'idempotent',
      run: async (ctx) => {
        try {
          return await ctx.effect('pay', { request: { amount: 1 } })
        } catch {
          return await ctx.effect('pay', { request: { amount: 1 } })
        }
      }
    }),
    options: { ...anything, effects: { pay: { answer: () => ({ paid: true }) } } },
    promise: 'once'
  },
  {
    name: 'calls idempotent what is done each time',
    target: {
      blocks: [
        defineBlock({
          name: 'pays',
          version: '1.0.0',
          sideEffects: 'idempotent',
          run: (ctx) => ctx.effect('pay', { request: { amount: 1 } })
        })
      ],
      document: {
        schema: 'tally-composite/1',
        name: 'retries',
        version: '1.0.0',
        entry_point: 'pay',
        nodes: { pay: { block: 'pays', recovery: [{ retry: { max_attempts: 3 } }] } }
      }
    },
    options: { ...anything, effects: { pay: { answer: () => 'ok', repeats: 'again' } } },
    promise: 'once'
  },
  {
    name: 'calls a read what changes something, which only a crash shows',
    target: defineBlock({
      ...none,
      name: 'next-number',
      run: async (ctx) => ({ number: await ctx.effect('numbers.next', { request: {} }) })
    }),
    options: {
      ...anything,
      effects: { 'numbers.next': { answer: (_, { nth }) => nth, repeats: 'again', troubles: [] } }
    },
    promise: 'once'
  }
]

const endless: readonly PlantedFault[] = [
  {
    name: 'awaits something that is no wait',
    target: defineBlock({ ...none, name: 'forgets', run: () => never }),
    options: anything,
    promise: 'ends'
  },
  {
    name: 'waits by a timer of its own',
    target: defineBlock({
      ...none,
      name: 'timer',
      run: () => new Promise((resolve) => setTimeout(resolve, 600_000).unref())
    }),
    options: anything,
    promise: 'ends'
  },
  {
    name: 'asks for effects for ever',
    target: defineBlock({
      ...none,
      name: 'polls',
      run: async (ctx) => {
        for (;;) if ((await ctx.effect<string>('status', { request: {} })) === 'done') return {}
      }
    }),
    options: {
      ...anything,
      effects: { status: { answer: () => 'pending' } },
      bounds: { effects: 100 }
    },
    promise: 'bounded'
  },
  {
    name: 'doubles its state with every step',
    target: {
      blocks: [
        defineBlock({
          ...none,
          name: 'grows',
          run: (ctx) => {
            const text = ctx.state.get<string>('text') ?? 'text'
            ctx.state.set('text', text + text)
            return {}
          }
        })
      ],
      document: {
        schema: 'tally-composite/1',
        name: 'loop',
        version: '1.0.0',
        max_steps: 16,
        entry_point: 'grow',
        nodes: { grow: { block: 'grows' } },
        transitions: { grow: 'grow' }
      }
    },
    options: { ...anything, bounds: { stateBytes: 100_000 } },
    promise: 'bounded'
  }
]

const approved = (state: Readonly<Record<string, Json>>) =>
  state['paid'] !== true || state['approved'] === true

function asks(name: string, pays: (action: string) => boolean): MachineTarget {
  return defineBlock({
    ...none,
    name,
    run: async (ctx) => {
      const { action } = await ctx.wait({ reason: 'confirmation', timeoutMs: 60_000 })
      ctx.state.set('approved', action === 'approve')
      ctx.state.set('paid', pays(action))
      return { action }
    }
  })
}

const account = [
  defineBlock({
    ...none,
    name: 'check',
    run: async (ctx) => {
      const balance = ctx.state.get<number>('balance') ?? 10
      ctx.state.set('balance', balance)
      return { enough: balance >= 10 }
    }
  }),
  defineBlock({
    ...none,
    name: 'look',
    run: (ctx) => ctx.effect('rate', { request: {} })
  }),
  defineBlock({
    ...none,
    name: 'withdraw',
    run: (ctx) => {
      ctx.state.set('balance', (ctx.state.get<number>('balance') ?? 0) - 10)
      return {}
    }
  }),
  defineBlock({ ...none, name: 'refuse', run: () => ({ refused: true }) })
]

const state: readonly PlantedFault[] = [
  {
    name: 'pays when a person has denied',
    target: asks('denied', () => true),
    options: {
      ...anything,
      always: { 'paid only if approved': ({ state: now }) => approved(now) }
    },
    promise: 'always'
  },
  {
    name: 'takes no answer in time for yes, which only a late answer shows',
    target: asks('timeout', (action) => action !== 'deny'),
    options: {
      ...anything,
      always: { 'paid only if approved': ({ state: now }) => approved(now) }
    },
    promise: 'always'
  },
  {
    name: 'checks in one step and withdraws in another, which only two runs show',
    target: {
      blocks: account,
      document: {
        schema: 'tally-composite/1',
        name: 'withdraw',
        version: '1.0.0',
        entry_point: 'check',
        nodes: {
          check: { block: 'check' },
          look: { block: 'look' },
          withdraw: { block: 'withdraw' },
          refuse: { block: 'refuse' }
        },
        transitions: {
          check: [
            { condition: { cel: 'response.data.enough' }, target: 'look' },
            { condition: 'default', target: 'refuse' }
          ],
          look: 'withdraw'
        }
      }
    },
    options: {
      ...anything,
      concurrent: 2,
      effects: { rate: { answer: () => 1 } },
      always: { 'never overdrawn': ({ state: now }) => Number(now['balance'] ?? 0) >= 0 }
    },
    promise: 'always'
  },
  {
    name: 'refunds what it may have paid',
    target: {
      blocks: [
        defineBlock({
          name: 'pays',
          version: '1.0.0',
          sideEffects: 'idempotent',
          run: async (ctx) => {
            await ctx.effect('pay', { request: {} }).catch(() => undefined)
            return {}
          }
        }),
        defineBlock({
          name: 'refunds',
          version: '1.0.0',
          sideEffects: 'idempotent',
          run: (ctx) => ctx.effect('refund', { request: {} })
        })
      ],
      document: {
        schema: 'tally-composite/1',
        name: 'refund',
        version: '1.0.0',
        entry_point: 'pay',
        nodes: { pay: { block: 'pays' }, refund: { block: 'refunds' } },
        transitions: { pay: 'refund' }
      }
    },
    options: {
      ...anything,
      effects: { pay: { answer: () => 1 }, refund: { answer: () => 1 } },
      neverBoth: [['pay', 'refund']]
    },
    promise: 'never_both'
  },
  {
    name: 'adds amounts wrongly where one is negative',
    target: defineBlock({
      ...none,
      name: 'sum',
      input: z.object({ amounts: z.array(z.number().int().min(-9).max(9)).max(2) }),
      run: (ctx, { amounts }) => {
        const total = amounts.reduce((sum, one) => sum + Math.abs(one), 0)
        ctx.state.set('amounts', amounts)
        ctx.state.set('total', total)
        return { total }
      }
    }),
    options: {
      eventually: {
        'the total is the sum': ({ state: now }) =>
          now['total'] === (now['amounts'] as number[]).reduce((sum, one) => sum + one, 0)
      }
    },
    promise: 'eventually'
  }
]

const greets = (text: string) =>
  defineBlock({
    ...none,
    name: 'greets',
    run: async (ctx) => {
      ctx.state.set('greeting', text)
      await ctx.effect('look', { request: {} })
      await ctx.wait({ reason: 'confirmation' })
      return { text }
    }
  })

const lives: readonly PlantedFault[] = [
  {
    name: 'changes its code and keeps its version, which only a redeploy shows',
    target: greets('hello'),
    options: {
      ...anything,
      effects: { look: { answer: () => 1, troubles: [] } },
      next: { blocks: [greets('good day')] }
    },
    promise: 'replays'
  },
  {
    name: 'leaves out the version that open runs need, which only a redeploy shows',
    target: greets('hello'),
    options: {
      ...anything,
      effects: { look: { answer: () => 1, troubles: [] } },
      next: { blocks: [defineBlock({ ...none, name: 'greets', version: '2.0.0', run: () => 1 })] }
    },
    promise: 'continues'
  },
  {
    name: 'remembers in memory what it has sent, which only a new process shows',
    target: () => {
      const memory = new Set<string>()
      return defineBlock({
        name: 'remembers',
        version: '1.0.0',
        sideEffects: 'idempotent',
        run: async (ctx) => {
          const request = { to: 'a', first: !memory.has('a') }
          memory.add('a')
          await ctx.effect('send', { request })
          await ctx.wait({ reason: 'confirmation' })
          return request
        }
      })
    },
    options: { ...anything, effects: { send: { answer: () => 1, troubles: [] } } },
    promise: 'deterministic'
  },
  {
    name: 'fails for good where the outside only hesitates',
    target: defineBlock({
      ...none,
      name: 'hasty',
      run: async (ctx) => {
        const asked = ctx.now()
        const answer = await ctx.effect('slow', { request: {} })
        await ctx.sleep(1)
        ctx.state.set('took', asked)
        return { answer }
      }
    }),
    options: {
      ...anything,
      effects: {
        slow: {
          answer: () => {
            throw new EffectFailure('not_yet', { definite: true })
          },
          troubles: []
        }
      },
      eventually: {
        'it succeeds': ({ results }) => results.every(({ status }) => status === 'done')
      }
    },
    promise: 'eventually'
  }
]

export const plantedFaults: readonly PlantedFault[] = [
  ...impure,
  ...outside,
  ...endless,
  ...state,
  ...lives
]
