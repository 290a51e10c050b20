import type { Json, JsonObject } from '../../src/core/index.js'
import type { NodeFailureCode } from '../../src/workflow/diagnostic/codes.js'
import { asset, balance, flow, transfer } from './ais-flows.js'

/** A workflow in which one node fails of a code of the engine, and nothing that mends it. */
export interface FailingScene {
  /** Default `pay`. */
  readonly node?: string
  readonly document: JsonObject
  readonly protocol?: (text: string) => string
  readonly policy?: JsonObject
  readonly read?: JsonObject
  readonly ready?: JsonObject
  /** What mends it: what is wrong with values is only patched by what mends it (W14). */
  readonly value?: Json
  /** Of what is offered; default: all. */
  readonly offered?: readonly ('retry' | 'patch' | 'skip' | 'abort')[]
}

export const amount = { amount: { type: 'uint256', default: '5' } }
export const pays = (given: Json, more: JsonObject = {}) =>
  transfer('pay', {
    args: { token: asset, to: { lit: `0x${'b'.repeat(40)}` }, amount: given },
    ...more
  })
const owned = { args: { token: asset, owner: { lit: `0x${'b'.repeat(40)}` } } }
const check = (more: JsonObject = {}) => balance('check', { ...owned, ...more })
const of = { cel: 'nodes.check.outputs.balance - inputs.amount' }
export const withOffer = ['retry', 'patch', 'skip', 'abort'] as const
const withoutPatch = ['retry', 'skip', 'abort'] as const

/** Every code of the engine has a scene, or the reason for which it needs none. */
export const failingScenes: Readonly<Record<NodeFailureCode, FailingScene | string>> = {
  missing_reference: {
    document: flow(
      [
        check({ condition: { cel: 'inputs.amount > 9' } }),
        pays({ ref: 'nodes.check.outputs.balance' })
      ],
      { inputs: amount }
    ),
    offered: withoutPatch
  },
  invalid_value: {
    protocol: (text) =>
      text.replace(
        'recommended_prechecks: [balance]',
        `recommended_prechecks: [balance]
    hard_constraints: { max_slippage_bps: { ref: params.amount } }`
      ),
    document: flow([pays({ ref: 'inputs.amount' })], {
      inputs: { amount: { type: 'uint256', default: '50000' } }
    }),
    value: '40'
  },
  invalid_argument: { document: flow([check(), pays(of)], { inputs: amount }), value: '0' },
  constraint_broken: {
    document: flow([check(), pays({ cel: 'nodes.check.outputs.balance - inputs.amount' })], {
      inputs: { amount: { type: 'uint256', default: '1' } }
    }),
    value: '0'
  },
  not_boolean: {
    document: flow([
      check(),
      pays({ lit: '5' }, { condition: { ref: 'nodes.check.outputs.balance' } })
    ]),
    offered: withoutPatch
  },
  precondition_failed: {
    protocol: (text) =>
      text.replace(
        'recommended_prechecks: [balance]',
        'recommended_prechecks: [balance]\n    pre_conditions: [{ cel: "params.amount < 5" }]'
      ),
    document: flow([pays({ ref: 'inputs.amount' })], { inputs: amount }),
    value: '4'
  },
  expression_failed: {
    document: flow([pays({ cel: '10 / (inputs.amount - 5)' })], { inputs: amount }),
    value: '6'
  },
  invalid_input: 'inputs are checked before a run begins, or before the document around it does',
  invalid_patch: 'a patch that does not fit is refused, and the failure stays as it is',
  still_missing: 'answers that do not give what is missing are refused',
  cannot_solve: 'a node is only asked about where something that could be given is missing',
  policy_blocked: {
    policy: { constraints: { max_spend: '3' } },
    document: flow([pays({ ref: 'inputs.amount' })], { inputs: amount }),
    value: '2'
  },
  denied: 'a refusal ends its run, as its person has said',
  reverted: 'a simulation that fails is in the table of chains',
  returns_mismatch: {
    node: 'check',
    read: { balance: 'much' },
    document: flow([check()]),
    offered: withoutPatch
  },
  until_exhausted: {
    node: 'check',
    document: flow(
      [
        check({
          until: { cel: 'nodes.check.outputs.balance > inputs.amount' },
          retry: { interval_ms: 1, max_attempts: 2 }
        })
      ],
      { inputs: amount }
    ),
    value: '0'
  },
  assert_failed: {
    document: flow([pays({ lit: '5' }, { assert: { cel: 'inputs.amount > 7' } })], {
      inputs: amount
    }),
    value: '8'
  },
  timed_out: 'parking.test.ts: its time is over',
  unknown_outcome: 'parking.test.ts: its time is over after something was sent',
  not_ready: {
    node: 'run__preflight',
    ready: { about: 'fees', code: 'insufficient_funds', message: 'none', isPassing: false },
    document: flow([pays({ lit: '5' })]),
    offered: withoutPatch
  },
  output_failed: {
    node: 'run__outputs',
    document: flow([check()], {
      outputs: { rate: { cel: '1 / (nodes.check.outputs.balance - 1)' } }
    }),
    offered: withoutPatch
  }
}
