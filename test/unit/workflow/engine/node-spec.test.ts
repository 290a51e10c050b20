import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalize, isJsonObject, type Json } from '../../../../src/core/index.js'
import {
  currentRules,
  type NodeSpec,
  nodeHash,
  readSpec,
  specJson
} from '../../../../src/workflow/engine/node-spec.js'
import { policyHash } from '../../../../src/workflow/policy/policy.js'

/** What definitions and payloads say of a node (docs/spec/ais-documents.md, Plan). */

const nothing = [null, false, [], {}] as const
/** Something, or any of what might be taken for nothing. */
const any = fc.constantFrom<Json>(...nothing, 0, '', 'ask', ['ask'], { ref: 'params.of' })

const members = <Name extends string>(...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, any])) as Record<Name, fc.Arbitrary<Json>>

const param = fc.record(members('name', 'type', 'value', 'constraints', 'assetRef'))

const node = fc.record(
  {
    ...members('id', 'chain', 'kind', 'deps', 'conditions', 'preconditions', 'calculated'),
    ...members('contracts', 'queries', 'execution', 'pattern', 'returns', 'assert', 'until'),
    ...members('assertMessage', 'retry', 'timeoutMs', 'onError', 'simulate', 'risk', 'amounts'),
    ...members('block', 'places'),
    source: fc.record(members('node', 'protocol', 'name', 'step')),
    params: fc.array(param, { maxLength: 2 })
  },
  { noNullPrototype: true }
)

const policy = fc.record(
  members(
    ...([
      'autoExecuteMaxRisk',
      'requireApprovalMinRisk',
      'constraints',
      'tokens',
      'plugins'
    ] as const),
    ...(['detectProviders', 'quoteProviders', 'pathProviders', 'approvalTags', 'packs'] as const),
    ...(['actions', 'approvers'] as const)
  )
)

const specs = fc.record({
  mode: fc.record(members('writes', 'yes')),
  node,
  plan: fc.record(members('inputs', 'policy')),
  policy,
  rules: fc.constant(currentRules)
}) as unknown as fc.Arbitrary<NodeSpec>

const writtenOf = (spec: NodeSpec) => JSON.parse(canonicalize(specJson(spec))) as Json

const read = (written: Json): NodeSpec => {
  if (!isJsonObject(written)) throw new Error('a spec is an object')
  return readSpec(written)
}

describe('the spec of a node', () => {
  it('is read as it was written, whatever its members hold', () => {
    fc.assert(
      fc.property(specs, (spec) => {
        const found = read(writtenOf(spec))
        expect(canonicalize(found)).toBe(canonicalize(spec))
        expect(nodeHash(found.node)).toBe(nodeHash(spec.node))
        expect(policyHash(found.policy)).toBe(policyHash(spec.policy))
      })
    )
  })

  it('is read with all its members, as earlier versions wrote them', () => {
    fc.assert(
      fc.property(specs, (spec) => {
        const whole = JSON.parse(canonicalize(spec)) as Json
        expect(JSON.stringify(read(whole))).toBe(JSON.stringify(read(writtenOf(spec))))
      })
    )
  })

  it('leaves out what says nothing, and keeps an empty list where null is another thing', () => {
    const spec = {
      mode: { writes: 'ask', yes: false },
      node: {
        id: 'price',
        params: [{ name: 'of', value: null, constraints: {}, assetRef: null }],
        risk: null,
        simulate: false,
        source: { node: 'price', step: null }
      },
      plan: { inputs: {}, policy: {} },
      policy: { detectProviders: [], quoteProviders: null, plugins: [], packs: [] },
      rules: currentRules
    } as unknown as NodeSpec
    expect(specJson(spec)).toStrictEqual({
      mode: { writes: 'ask' },
      node: {
        id: 'price',
        params: [{ name: 'of', constraints: {} }],
        source: { node: 'price' }
      },
      plan: {},
      policy: { detectProviders: [], plugins: [] },
      rules: currentRules
    })
  })
})
