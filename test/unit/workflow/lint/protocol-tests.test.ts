import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { checkAisDocument } from '../../../../src/workflow/index.js'

const chain = 'eip155:1'
const to = `0x${'b'.repeat(40)}`
const token = { chain_id: chain, address: `0x${'a'.repeat(40)}`, decimals: 6 }
const abi = {
  name: 'transfer',
  inputs: [
    { name: 'to', type: 'address' },
    { name: 'amount', type: 'uint256' }
  ]
}
const protocol = {
  schema: 'ais/0.0.2',
  meta: { protocol: 'erc20', version: '1.0.0' },
  actions: {
    transfer: {
      params: [
        { name: 'token', type: 'asset' },
        { name: 'to', type: 'address' },
        { name: 'amount', type: 'token_amount', asset_ref: 'token' }
      ],
      calculated_fields: { spend: { expr: { cel: 'to_atomic(params.amount, params.token)' } } },
      pre_conditions: [{ cel: 'ctx.is_open == true' }],
      execution: {
        'eip155:*': {
          type: 'evm_call',
          to: { ref: 'params.token.address' },
          abi,
          args: { to: { ref: 'params.to' }, amount: { ref: 'calculated.spend' } }
        }
      }
    }
  }
}

const params = { token, to, amount: '1.5' }
const ctx = { is_open: true }
const asset = `${chain}/erc20:${token.address}`

async function lint(...tests: readonly Json[]) {
  const { issues } = await checkAisDocument(JSON.stringify({ ...protocol, tests }))
  return issues.filter(({ path }) => path[0] === 'tests')
}
const test = (expected: JsonObject, more: JsonObject = {}) =>
  ({
    name: 'a transfer',
    action: 'transfer',
    chain,
    params,
    ctx,
    expect: expected,
    ...more
  }) as Json

describe('tests of a protocol', () => {
  it('hold what an action comes to: its values, its call, and what a policy measures', async () => {
    const effects = [{ kind: 'transfer', asset, amount: '1500000', to }]
    expect(
      await lint(
        test({ calculated: { spend: 1_500_000 }, execution: { args: { amount: '1500000' } } }),
        test({ params: { amount: '1.5' }, effects }),
        test({ error: 'precondition_failed' }, { ctx: { is_open: false } }),
        test({ error: 'extra_argument' }, { params: { ...params, many: '1' } })
      )
    ).toEqual([])
  })

  it.each([
    [test({ calculated: { spend: '1' } }), 'calculated.spend is 1500000, expected 1'],
    [test({ execution: { args: { to: '0x' } } }), `execution.args.to is ${to}, expected 0x`],
    [test({ effects: [] }), 'effects is [{'],
    [test({ execution: { gas: '1' } }), 'execution.gas is null'],
    [
      test({ error: 'precondition_failed' }),
      'expected the error precondition_failed, and it is ready'
    ],
    [test({ calculated: {} }, { ctx: {} }), 'it is blocked: ctx.is_open'],
    [test({ calculated: {} }, { ctx: { is_open: false } }), 'it is failed'],
    [test({ calculated: {} }, { params: { token, to } }), 'missing_argument'],
    [test({ calculated: {} }, { action: 'mint' }), 'unknown_action'],
    [test({ calculated: {} }, { chain: 'solana:x' }), 'no_execution']
  ])('name what comes out otherwise: %#', async (given, message) => {
    const [issue, ...others] = await lint(test({ calculated: { spend: '1500000' } }), given)
    expect(issue).toMatchObject({ code: 'test_failed', severity: 'error', path: ['tests', 1] })
    expect(issue?.message).toContain(`the test of a transfer fails: ${message}`)
    expect(others).toEqual([])
  })

  it.each([
    'text',
    { action: 'transfer', chain, params },
    { chain, params, expect: { error: 'x' } },
    test({}),
    test({ calculated: {} }, { steps: [] })
  ] as readonly Json[])('say of another form that it is not carried out: %#', async (given) => {
    expect(await lint(given)).toMatchObject([{ code: 'not_checked', severity: 'info' }])
  })
})
