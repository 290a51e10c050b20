import { describe, expect, it } from 'vitest'
import { assign, fromPromise, setup } from 'xstate'
import { verifyCase, verifyMachine } from '../../../../src/testing/index.js'
import { cases, testMs } from '../../../support/effort.js'
import { tallyErrorOf } from '../../../support/tally-error-of.js'

const never = fromPromise<{ reference: string }, { cents: number }>(() => {
  throw new Error('it is not performed here')
})

const parts = setup({
  types: {
    context: {} as { cents: number; reference: string; at: number },
    events: {} as { type: 'APPROVE' } | { type: 'REFUSE' }
  },
  actors: { pay: never, look: never },
  actions: { notify: () => undefined },
  delays: { day: 86_400_000 }
})

/** Looks, asks a person, pays, and tells of it; gives up after a day. */
const payment = parts.createMachine({
  id: 'payment',
  context: { cents: 5, reference: '', at: 0 },
  initial: 'looking',
  states: {
    looking: {
      invoke: {
        src: 'look',
        input: ({ context: { cents } }) => ({ cents }),
        onDone: 'asking',
        onError: 'failed'
      }
    },
    asking: { on: { APPROVE: 'paying', REFUSE: 'failed' }, after: { day: 'failed' } },
    paying: {
      invoke: {
        src: 'pay',
        input: ({ context: { cents } }) => ({ cents }),
        onDone: {
          target: 'paid',
          actions: assign({ reference: ({ event }) => event.output.reference })
        },
        onError: 'failed'
      },
      after: { day: 'failed' }
    },
    paid: { entry: { type: 'notify', params: { about: 'payment' } }, type: 'final' },
    failed: { type: 'final' }
  }
})

const clocked = parts.createMachine({
  id: 'clocked',
  context: { cents: 5, reference: '', at: 0 },
  initial: 'marking',
  states: {
    marking: { always: { target: 'marked', actions: assign({ at: () => Date.now() }) } },
    marked: { type: 'final' }
  }
})

const input = { cents: 5 }

/** Pays again where it cannot tell whether it has paid. */
const stubborn = parts.createMachine({
  id: 'stubborn',
  context: { cents: 5, reference: '', at: 0 },
  initial: 'paying',
  states: {
    paying: { invoke: { src: 'pay', input, onDone: 'paid', onError: 'again' } },
    again: { invoke: { src: 'pay', input, onDone: 'paid', onError: 'paid' } },
    paid: { type: 'final' }
  }
})

const deaf = parts.createMachine({
  id: 'deaf',
  context: { cents: 5, reference: '', at: 0 },
  initial: 'waiting',
  states: { waiting: {} }
})

const sideEffects = { look: 'none', pay: 'idempotent', notify: 'idempotent' } as const
const effects = {
  look: { answer: () => ({ there: true }) },
  pay: { answer: () => ({ reference: 'T-1' }) },
  notify: { answer: () => null }
}

describe('a machine of XState', () => {
  it(
    'keeps every promise: actors, actions, delays and events from outside',
    async () => {
      const count = cases({ usual: 5, long: 33, soak: 66 })
      const target = { machine: payment, sideEffects }
      const report = await verifyMachine(target, {
        effects,
        eventually: {
          'what is paid is told of': ({ deeds }) =>
            deeds.some(({ effect }) => effect === 'pay') || deeds.length === 0
        },
        cases: count
      })
      expect(report.cases).toBe(count)
      expect(report.crashes).toBeGreaterThan(0)
      expect(report.notChecked.join()).toContain('actions without a name')
    },
    testMs(900_000)
  )

  it('is taken as it is, and every effect of it may be done once only', async () => {
    const given = { inputs: [{}], people: [{ value: { type: 'APPROVE' } }] }
    const report = await verifyCase(payment, given, { effects })
    expect(report.steps).toBeGreaterThan(0)
    expect(report.coverage.states.taken).toBe(1)
  })

  it('that reads the clock is found', async () => {
    const error = await tallyErrorOf(verifyMachine(clocked, { cases: 30 }))
    expect(error.context).toMatchObject({ promise: 'deterministic' })
    expect(error.message).toContain('clock')
    expect(error.message).toContain('verifyCase')
  })

  it('that pays again where the first outcome is open is found', async () => {
    const target = { machine: stubborn, sideEffects }
    const error = await tallyErrorOf(verifyMachine(target, { effects, cases: 60 }))
    expect(error.context).toMatchObject({ promise: 'once' })
  })

  it('that waits for nothing is found', async () => {
    const error = await tallyErrorOf(verifyCase(deaf, { inputs: [{}] }))
    expect(error.context).toMatchObject({ promise: 'ends' })
  })
})
