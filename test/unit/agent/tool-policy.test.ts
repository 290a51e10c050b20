import { describe, expect, it } from 'vitest'
import { emptyDefinition } from '../../../src/agent/binding/asset-definition.js'
import { boundTools } from '../../../src/agent/binding/tools.js'
import type { AgentDef } from '../../../src/agent/flow/schema.js'

const empty = emptyDefinition('main', 'pi-mono')
const agent: AgentDef = {
  ...empty,
  toolPolicy: {
    ...empty.toolPolicy,
    allowedCapabilities: ['pay'],
    approvalRequirement: 'never'
  }
}

type Policy = Partial<AgentDef['toolPolicy']>
type Delegation = Partial<AgentDef['subagentPolicy']>

function boundTo(toolPolicy: Policy, delegation: Delegation = {}) {
  const definition: AgentDef = {
    ...agent,
    toolPolicy: { ...agent.toolPolicy, ...toolPolicy },
    subagentPolicy: { ...agent.subagentPolicy, ...delegation }
  }
  return boundTools(definition, { host: { tool: () => undefined }, path: [], runsTools: true })
}

describe('tools that an adapter does itself', () => {
  it.each<[string, Policy, Delegation]>([
    ['an approval of all', { approvalRequirement: 'always' }, {}],
    ['an approval of writes', { approvalRequirement: 'destructive_only' }, {}],
    ['a blocked tool', { blockedTools: ['rm'] }, {}],
    ['a suggested agent', {}, { switchModes: ['agent-suggested'], maxDelegations: 1 }]
  ])('A8: are refused where the policy wants %s', (_, policy, delegation) => {
    expect(boundTo(policy, delegation)).toMatchObject({
      ok: false,
      findings: [{ code: 'tool_policy_not_enforceable' }]
    })
  })

  it('A8: are taken with a warning where the policy wants nothing of that', () => {
    expect(boundTo({})).toMatchObject({
      ok: true,
      tools: [{ name: 'pay', sideEffects: 'non_idempotent' }],
      warnings: [{ code: 'tools_not_bounded' }]
    })
  })
})
