import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { type DocumentTarget, verifyCase, verifyMachine } from '../../../../src/testing/index.js'
import { verifyBroken } from '../../../../src/testing/machine/verify-machine.js'
import type { World } from '../../../../src/testing/machine/world.js'
import { aisText, seedProtocols } from '../../../support/ais.js'
import { asset, balance, flow, owner, transfer } from '../../../support/ais-flows.js'
import { cases } from '../../../support/effort.js'
import { tallyErrorOf } from '../../../support/tally-error-of.js'

const protocols = seedProtocols.map(aisText)
const bold = { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }

function workflow(document: Json, writes: 'ask' | 'broadcast' = 'ask'): DocumentTarget {
  return { document, workflow: { protocols, writes, policy: bold } }
}

const amount = { type: 'uint256', required: true }
const args = { token: asset, to: owner, amount: { ref: 'inputs.amount' } }

/** Pays what is there: looks first, and looks again. */
const careful = flow(
  [
    balance('before'),
    transfer('pay', {
      args,
      deps: ['before'],
      condition: { cel: 'nodes.before.outputs.balance > inputs.amount' }
    }),
    balance('after', { deps: ['pay'] })
  ],
  { inputs: { amount } }
)

/** Sends until a balance that it never looks at again would be what it wants. */
const greedy = flow([
  transfer('pay', {
    until: { lit: false },
    retry: { interval_ms: 1_000, max_attempts: 3 }
  })
])

/** A chain that takes every transaction for two. */
function sendingTwice(outside: World['outside']): World['outside'] {
  return (asked) => {
    const performer = outside(asked)
    if (asked.call.effect !== 'chain.broadcast') return performer
    return {
      ...performer,
      perform: async (call) => {
        const { transaction } = call.request as { readonly transaction: JsonObject }
        const other = { ...transaction, hash: `${String(transaction['hash'])}0` }
        await performer.perform({ ...call, request: { transaction: other } })
        return performer.perform(call)
      }
    }
  }
}

describe('a workflow of AIS', () => {
  it.each(['ask', 'broadcast'] as const)(
    'keeps every promise with answers made of what its protocols declare: writes %s',
    async (writes) => {
      const count = cases({ usual: 6, long: 22, soak: 44 })
      const report = await verifyMachine(workflow(careful, writes), {
        eventually: {
          'nothing is paid twice': ({ deeds }) => deeds.length <= 1
        },
        cases: count
      })
      expect(report.cases).toBe(count)
      expect(report.crashes).toBeGreaterThan(count / 6)
      expect(report.coverage.states.taken).toBeGreaterThan(3)
      expect(report.notChecked.join()).toContain('chains: nonces')
    },
    900_000
  )

  it('that sends until a condition holds is found to act twice', async () => {
    const error = await tallyErrorOf(verifyMachine(workflow(greedy, 'broadcast'), { cases: 20 }))
    expect(error.code).toBe('testing.promise_broken')
    expect(error.context).toMatchObject({ promise: 'once' })
    expect(error.message).toContain('chain.write transfer')
    expect(error.message).toContain('verifyCase')
  })

  it('breaks an invariant of its user, and the smallest case shows how', async () => {
    const error = await tallyErrorOf(
      verifyMachine(workflow(careful, 'broadcast'), {
        eventually: { 'nothing is paid': ({ deeds }) => deeds.length === 0 },
        cases: 20
      })
    )
    expect(error.context).toMatchObject({ promise: 'eventually' })
    expect(error.message).toContain('chain.read balanceOf')
  })

  it('on a chain that carries out what was sent under other bytes once more is found', async () => {
    const error = await tallyErrorOf(
      verifyBroken(
        workflow(flow([transfer('pay')]), 'broadcast'),
        { cases: 5 },
        { wrapOutside: sendingTwice }
      )
    )
    expect(error.context).toMatchObject({ promise: 'once' })
  })

  it('is left as it is by people whose answers are refused', async () => {
    const balance = (2n ** 256n - 1n).toString()
    const report = await verifyCase(workflow(careful), {
      inputs: [{ amount: '0' }],
      effects: {
        'chain.read balanceOf': { answers: [{ balance }], troubles: [] },
        'chain.write transfer': { answers: [{ success: true }], troubles: [] }
      },
      // The third action that is offered: a patch, with a value that is none.
      people: Array.from({ length: 4 }, () => ({ chooses: 2, value: false }))
    })
    expect(report.cases).toBe(1)
  })

  it('asks for what no protocol declares', async () => {
    const names = flow([balance('before')])
    const effects = { 'chain.read balanceOf': { answer: 'own' } } as const
    const error = await tallyErrorOf(verifyMachine(workflow(names), { effects, cases: 2 }))
    expect(error.code).toBe('testing.answer_missing')
    expect(error.message).toContain('chain.read balanceOf')
  })
})
