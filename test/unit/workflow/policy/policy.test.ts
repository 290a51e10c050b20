import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import type { AisPlanNode } from '../../../../src/workflow/plan/plan.js'
import { policyVerdict } from '../../../../src/workflow/policy/gate.js'
import {
  defaultPolicy,
  type Policy,
  policyHash,
  tightened
} from '../../../../src/workflow/policy/policy.js'
import type { ReadyNode } from '../../../../src/workflow/readiness/readiness.js'
import { aisText, goodPlan, packOf } from '../../../support/ais.js'

const pack = (more: JsonObject) =>
  packOf({
    schema: 'ais-pack/0.0.2',
    meta: { name: 'p', version: '1.0.0' },
    includes: [],
    ...more
  } as Json)

const { plan } = await goodPlan(aisText('bridge'))
const token = { chain_id: 'eip155:1', address: `0x${'A'.repeat(40)}`, decimals: 6 }

function nodeOf(id: string): AisPlanNode {
  const node = plan.nodes.find((one) => one.id === id)
  if (node === undefined) throw new Error(id)
  return node
}

function verdict(id: string, policy: Policy, params: JsonObject = {}, calculated: JsonObject = {}) {
  const node = nodeOf(id)
  const ready: ReadyNode = {
    state: 'ready',
    params,
    calculated,
    contracts: {},
    execution: { type: node.execution.type }
  }
  // As runs are judged that were begun before calls were measured: by what the action says.
  const { kind, hits } = policyVerdict(node, ready, policy, { isMeasured: false })
  return [kind, ...hits.map(({ reason }) => reason)]
}

describe('W12: policies', () => {
  it('let low risks go and ask about the rest; reads always go', () => {
    expect(verdict('bridge_approve', defaultPolicy)).toEqual(['ok'])
    expect(verdict('transfer_to_cex', defaultPolicy)).toEqual(['confirm', 'risk_level'])
    expect(verdict('bridge_allowance', { ...defaultPolicy, autoExecuteMaxRisk: 0 })).toEqual(['ok'])
  })

  it('hold actions to hard bounds, and refuse what does not tell its measure', () => {
    const bounds = (hard_constraints_defaults: JsonObject) =>
      tightened(
        { ...defaultPolicy, autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 },
        pack({ policy: { hard_constraints_defaults } })
      )
    const spend = bounds({ max_spend: '1000' })
    expect(verdict('transfer_to_cex', spend, { amount: '1000' })).toEqual(['ok'])
    expect(verdict('transfer_to_cex', spend, { amount: '1001' })).toEqual(['block', 'constraint'])
    expect(verdict('bridge_send', spend, { amount: '1' })).toEqual(['block', 'preview_missing'])
    expect(verdict('bridge_send', spend, {}, { spend: '7' })).toEqual(['ok'])
    const approval = bounds({ max_approval: '5', allow_unlimited_approval: false })
    expect(verdict('bridge_approve', approval, { amount: '3' }, { approval: '6' })).toEqual([
      'block',
      'constraint'
    ])
    expect(verdict('bridge_approve', approval, { amount: 'max' }, { approval: '5' })).toEqual([
      'block',
      'constraint'
    ])
    const health = bounds({ min_health_factor_after: '1.5' })
    const factor = (health_factor_after: string) =>
      verdict('aave_borrow', health, {}, { health_factor_after })
    expect([factor('1.49'), factor('1.50')]).toEqual([['block', 'constraint'], ['ok']])
  })

  it('know tokens by chain and address, whatever their case', () => {
    const list = (resolution: string, address: string) =>
      tightened(
        { ...defaultPolicy, autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 },
        pack({ token_policy: { resolution, allowlist: [{ chain: 'eip155:1', address }] } })
      )
    const params = { token, amount: '1' }
    const known = token.address.toLowerCase()
    expect(verdict('transfer_to_cex', list('allowlist', known), params)).toEqual(['ok'])
    expect(verdict('transfer_to_cex', list('allowlist', '0x1'), params)).toEqual([
      'block',
      'token_not_listed'
    ])
    expect(verdict('transfer_to_cex', list('ask', '0x1'), params)).toEqual([
      'confirm',
      'token_not_listed'
    ])
  })

  it('raise the risk of single actions', () => {
    const policy = tightened(
      { ...defaultPolicy, autoExecuteMaxRisk: 3, requireApprovalMinRisk: 4 },
      pack({ overrides: { actions: { 'erc20.transfer': { risk_level: 5 } } } })
    )
    expect(verdict('transfer_to_cex', policy)).toEqual(['confirm', 'risk_level'])
    expect(verdict('bridge_send', policy)).toEqual(['ok'])
    const asked = tightened(
      { ...policy, actions: {} },
      pack({ overrides: { actions: { 'erc20.transfer': { require_approval: true } } } })
    )
    expect(verdict('transfer_to_cex', asked)).toEqual(['confirm', 'approval_required'])
  })

  it('only ever become tighter', () => {
    const level = fc.integer({ min: 0, max: 6 })
    const bound = fc.option(fc.nat({ max: 10_000 }), { nil: undefined })
    const packs = fc.record({ auto: level, ask: level, slippage: bound, spend: bound })
    fc.assert(
      fc.property(fc.array(packs, { maxLength: 4 }), packs, (earlier, last) => {
        const apply = (policy: Policy, one: typeof last) =>
          tightened(
            policy,
            pack({
              policy: {
                approvals: {
                  auto_execute_max_risk_level: one.auto,
                  require_approval_min_risk_level: one.ask
                },
                hard_constraints_defaults: {
                  ...(one.slippage === undefined ? {} : { max_slippage_bps: one.slippage }),
                  ...(one.spend === undefined ? {} : { max_spend: one.spend })
                }
              }
            })
          )
        const before = earlier.reduce(apply, defaultPolicy)
        const after = apply(before, last)
        expect(after.autoExecuteMaxRisk).toBeLessThanOrEqual(before.autoExecuteMaxRisk)
        expect(after.requireApprovalMinRisk).toBeLessThanOrEqual(before.requireApprovalMinRisk)
        for (const key of ['max_slippage_bps', 'max_spend'] as const) {
          const [old, now] = [before.constraints[key], after.constraints[key]]
          if (old !== undefined) expect(Number(now)).toBeLessThanOrEqual(Number(old))
        }
        expect(apply(after, last)).toEqual({ ...after, packs: [...after.packs, 'p@1.0.0'] })
      }),
      { numRuns: 50 }
    )
  })

  it('have a hash that an approval can be bound to', () => {
    expect(policyHash(defaultPolicy)).toBe(policyHash({ ...defaultPolicy }))
    expect(policyHash({ ...defaultPolicy, autoExecuteMaxRisk: 1 })).not.toBe(
      policyHash(defaultPolicy)
    )
  })
})
