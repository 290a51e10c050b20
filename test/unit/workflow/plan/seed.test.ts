import { describe, expect, it } from 'vitest'
import { sha256Hex } from '../../../../src/core/index.js'
import { planText } from '../../../../src/workflow/plan/planner.js'
import { aisText, flowOf, goodPlan } from '../../../support/ais.js'

describe('the workflow of the seed', () => {
  it('W1: loads unchanged', () => {
    // Word for word what section 4.1 of the proposal has.
    expect(sha256Hex(aisText('bridge'))).toBe(
      'e7d289c5652be64b136044b976894a0f4186dc84f40584efc7df60ce2cadadfb'
    )
    const flow = flowOf(aisText('bridge'))
    expect(flow.schema).toBe('ais-flow/0.0.2')
    expect(flow.nodes.map(({ id }) => id)).toEqual([
      'aave_supply',
      'aave_borrow',
      'transfer_to_cex',
      'bridge_allowance',
      'bridge_approve',
      'bridge_send',
      'wait_arrival',
      'solana_deposit'
    ])
  })

  it('W2: finds what waits for what, on which chain', async () => {
    const { plan } = await goodPlan(aisText('bridge'))
    const deps = Object.fromEntries(plan.nodes.map(({ id, deps }) => [id, deps]))
    expect(deps).toEqual({
      aave_supply__wrap: [],
      aave_supply: ['aave_supply__wrap'],
      aave_borrow: ['aave_supply'],
      transfer_to_cex: ['aave_borrow'],
      bridge_allowance: ['aave_borrow'],
      bridge_approve: ['bridge_allowance'],
      bridge_send: ['bridge_allowance', 'bridge_approve'],
      wait_arrival: ['bridge_send'],
      solana_deposit: ['wait_arrival']
    })
    const onSolana = plan.nodes.filter(({ chain }) => chain.startsWith('solana:'))
    expect(onSolana.map(({ id, pattern }) => [id, pattern])).toEqual([
      ['wait_arrival', 'solana:*'],
      ['solana_deposit', 'solana:*']
    ])
  })

  it('W8: takes a contract of another protocol where the name is unique on the chain', async () => {
    const { plan } = await goodPlan(aisText('bridge'))
    const approve = plan.nodes.find(({ id }) => id === 'bridge_approve')
    expect(approve?.contracts).toEqual([
      {
        name: 'bridge_spender',
        address: '0x5427FEFA711Eff984124bFBB1AB6fbf5E3DA1820',
        from: 'some-bridge@0.0.2',
        isShared: true
      }
    ])
  })

  it('W4: knows that an allowance is an amount and an input for people is none', async () => {
    const { plan } = await goodPlan(aisText('bridge'))
    const approve = plan.nodes.find(({ id }) => id === 'bridge_approve')
    expect(approve?.amounts).toEqual(['nodes.bridge_allowance.outputs.allowance'])
  })

  it('is plain JSON and the same each time', async () => {
    const one = await goodPlan(aisText('bridge'))
    const other = await goodPlan(aisText('bridge'))
    expect(planText(one.plan)).toBe(planText(other.plan))
    expect(one.planHash).toBe(other.planHash)
  })
})
