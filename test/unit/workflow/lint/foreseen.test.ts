import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../src/core/index.js'
import type { FailureCode } from '../../../../src/expression/index.js'
import type { NodeFailureCode } from '../../../../src/workflow/diagnostic/codes.js'
import { checkAisDocument } from '../../../../src/workflow/lint/check.js'
import { aisText, protocolOf } from '../../../support/ais.js'
import { balance, flow } from '../../../support/ais-flows.js'
import { pays } from '../../../support/failing-scenes.js'

/** What fails whenever it is run is found before, where the documents alone decide it. */

/** A document that lint finds, by the code with which; or why no document can be found. */
type Foreseen =
  | { readonly document: JsonObject; readonly code?: string; readonly more?: string }
  | string

const check = (more: JsonObject = {}) => balance('check', more)
const unbounded = { retry: { interval_ms: 1, max_attempts: 2 } }
const always = 'recommended_prechecks: [balance]'

const nodeCodes: Readonly<Record<NodeFailureCode, Foreseen>> = {
  missing_reference: {
    document: flow(
      [check({ condition: { ref: 'inputs.go' } }), pays({ ref: 'nodes.check.outputs.balance' })],
      { inputs: { go: { type: 'bool', default: true } } }
    ),
    code: 'skipped_reference'
  },
  invalid_value: {
    document: flow([pays({ lit: '50000' })]),
    more: 'hard_constraints: { max_slippage_bps: { ref: params.amount } }'
  },
  invalid_argument: { document: flow([pays({ cel: '0 - 3' })]) },
  constraint_broken: { document: flow([pays({ lit: '0' })]) },
  not_boolean: {
    document: flow([
      check(),
      pays({ lit: '5' }, { condition: { ref: 'nodes.check.outputs.balance' } })
    ])
  },
  precondition_failed: {
    document: flow([pays({ lit: '5' })]),
    more: 'pre_conditions: [{ cel: "params.amount < 5" }]'
  },
  expression_failed: { document: flow([pays({ cel: '1 / 0' })]) },
  output_failed: { document: flow([check()], { outputs: { rate: { cel: '1 / 0' } } }) },
  until_exhausted: {
    document: flow([check({ until: { cel: '1 > 2' }, ...unbounded })])
  },
  assert_failed: { document: flow([check({ assert: { cel: '1 > 2' } })]) },
  policy_blocked: 'unmeasured_bound finds actions that a bound refuses whatever they do',
  returns_mismatch:
    'the plan refuses returns that the ABI does not give; endpoints decide the rest',
  invalid_input: 'what a run is given is in no document; defaults are checked at load',
  invalid_patch: 'a person gives it',
  still_missing: 'a person gives it; missing_default finds inputs that are asked for',
  cannot_solve: 'nothing that a document says leads to it',
  denied: 'a person decides it',
  reverted: 'the state of a chain decides it',
  timed_out: 'the speed of a chain decides it',
  unknown_outcome: 'the speed of a chain decides it',
  not_ready: 'a configuration decides it; contract_not_deployed finds what deployments lack'
}

const argument = (cel: string) => ({ document: flow([pays({ cel })]) })
const celCodes: Readonly<Record<FailureCode, Foreseen>> = {
  missing_reference: {
    document: flow([pays({ ref: 'nodes.other.outputs.x' })]),
    code: 'unknown_reference'
  },
  type_error: argument('"a" > 1'),
  overflow: argument(`${'9'.repeat(190)} * 9e99 * 9e99 / 1e-99`),
  divide_by_zero: argument('1 / 0'),
  invalid_argument: argument('1 / 3'),
  unrepresentable: 'values of chains and of runs decide it',
  budget_exceeded: 'what loops go through is known in runs; lint computes no loops',
  evaluation_failed: 'no expression is known to lead to it'
}

const cases = [...Object.entries(nodeCodes), ...Object.entries(celCodes)]

describe('W12: lint finds what only fails when it is run', () => {
  it.each(cases)('%s, or has a reason why no document says it', async (_, foreseen) => {
    if (typeof foreseen === 'string') return expect(foreseen.length).toBeGreaterThan(9)
    const { document, code = 'fails_when_run', more } = foreseen
    const erc20 = aisText('erc20')
    const text = more === undefined ? erc20 : erc20.replace(always, `${always}\n    ${more}`)
    const { issues } = await checkAisDocument(JSON.stringify(document), {
      protocols: [protocolOf(text)]
    })
    expect(issues.map((one) => one.code)).toContain(code)
  })

  it('says nothing of what a run may still decide', async () => {
    const inputs = {
      amount: { type: 'uint256', default: '0' },
      go: { type: 'bool', default: false }
    }
    const nodes = [
      check({ condition: { ref: 'inputs.go' } }),
      pays({ ref: 'inputs.amount' }),
      balance('last', {
        deps: ['pay'],
        condition: { cel: 'has(nodes.check.outputs) ? 1 / 0 > 1 : true' },
        assert: { cel: 'nodes.last.outputs.balance / inputs.amount > 1' }
      })
    ]
    const { issues } = await checkAisDocument(JSON.stringify(flow(nodes, { inputs })), {
      protocols: [protocolOf(aisText('erc20'))]
    })
    expect(issues.filter((one) => one.code === 'fails_when_run')).toEqual([])
  })
})
