import { describe, expect, it } from 'vitest'
import { createRegistry, makePackage, parseManifest } from '../../../../src/capability/index.js'
import type { Json } from '../../../../src/core/index.js'
import { graphDocument, parseGraph, planIntent } from '../../../../src/intent/index.js'

function packageOf(id: string, offers: Readonly<Record<string, Json>>) {
  const parsed = parseManifest({
    name: id,
    id,
    intents: Object.keys(offers),
    capabilities: [],
    capabilitySchemas: Object.entries(offers).map(([name, input]) => ({
      id: name,
      type: 'query',
      input
    }))
  })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.refusals))
  return makePackage({ manifest: parsed.manifest, bundle: `// ${id}` })
}

const balance = packageOf('balance', { 'finance.balance': {} })
const contacts = packageOf('contacts', { 'contacts.validate': { recipient: 'text' } })
const wallet = packageOf('wallet', {
  'finance.transactions': {
    target: 'text',
    amount: 'text',
    balance: { from: 'finance.balance' },
    recipient: { from: 'contacts.validate', with: { recipient: 'target' } }
  }
})
const send = { action: 'wallet.send', payload: { target: 'Alice', amount: '10' } }

describe('the planner', () => {
  it('K11: puts what the manifest asks for before the intent', () => {
    const registry = createRegistry([wallet, balance, contacts])
    const planned = planIntent(send, { registry })
    expect(planned).toEqual({
      ok: true,
      plan: {
        intent: send,
        steps: [
          { id: 'balance', canonical: 'finance.balance', args: {}, dependsOn: [] },
          {
            id: 'validate',
            canonical: 'contacts.validate',
            args: { recipient: 'Alice' },
            dependsOn: []
          },
          {
            id: 'transactions',
            canonical: 'finance.transactions',
            args: { target: 'Alice', amount: '10' },
            dependsOn: ['balance', 'validate']
          }
        ]
      }
    })
  })

  it('asks for nothing that the payload has', () => {
    const registry = createRegistry([wallet, balance, contacts])
    const payload = { ...send.payload, balance: '100', recipient: 'alice' }
    const planned = planIntent({ ...send, payload }, { registry })
    expect(planned).toMatchObject({ ok: true, plan: { steps: [{ dependsOn: [] }] } })
  })

  it('gives one step when nothing is asked for, or the action has no provider', () => {
    for (const action of ['finance.balance', 'nobody.knows', 'system.verify']) {
      const registry = createRegistry([balance])
      const planned = planIntent({ action, payload: {} }, { registry })
      expect(planned).toMatchObject({ ok: true, plan: { steps: [{ canonical: action }] } })
    }
  })

  it('shares a step that two want in the same way, and not otherwise', () => {
    const both = packageOf('both', {
      'a.both': { one: { from: 'a.left' }, two: { from: 'a.right' } },
      'a.left': { x: { from: 'finance.balance' } },
      'a.right': { x: { from: 'finance.balance' }, y: { from: 'b.balance' } },
      'b.balance': {}
    })
    const registry = createRegistry([both, balance])
    const planned = planIntent({ action: 'a.both', payload: {} }, { registry })
    expect(planned).toMatchObject({
      ok: true,
      plan: {
        steps: [
          { id: 'balance' },
          { id: 'left', dependsOn: ['balance'] },
          { id: 'balance_2', canonical: 'b.balance' },
          { id: 'right', dependsOn: ['balance', 'balance_2'] },
          { id: 'both', dependsOn: ['left', 'right'] }
        ]
      }
    })
  })

  it('says that what is asked for goes in a circle', () => {
    const circle = packageOf('circle', {
      'a.one': { x: { from: 'a.two' } },
      'a.two': { x: { from: 'a.one' } }
    })
    const planned = planIntent(
      { action: 'a.one', payload: {} },
      { registry: createRegistry([circle]) }
    )
    expect(planned).toEqual({
      ok: false,
      reason: 'cycle',
      message: 'a.one needs a.two needs a.one'
    })
  })

  it('bounds the steps that a manifest can ask for', () => {
    const inputs = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [`x${at}`, { from: `b.step${at}` }])
    )
    const many = packageOf('many', { 'a.many': inputs })
    const planned = planIntent(
      { action: 'a.many', payload: {} },
      { registry: createRegistry([many]) }
    )
    expect(planned).toMatchObject({ ok: false, reason: 'too_many_steps' })
  })

  it('K13: a manifest cannot put a system intent before an action', () => {
    const greedy = packageOf('greedy', { 'a.go': { x: { from: 'system.grant' } } })
    const planned = planIntent(
      { action: 'a.go', payload: {} },
      { registry: createRegistry([greedy]) }
    )
    expect(planned).toMatchObject({ ok: true, plan: { steps: [{ canonical: 'a.go' }] } })
  })

  it('asks the provider that will be chosen', () => {
    const cheap = packageOf('a-cheap', { 'finance.transactions': {} })
    const registry = createRegistry([cheap, wallet, balance, contacts])
    const stepsOf = (planned: ReturnType<typeof planIntent>) =>
      planned.ok ? planned.plan.steps.length : 0
    expect(stepsOf(planIntent(send, { registry }))).toBe(1)
    const isGranted = ({ packageId }: { readonly packageId: string }) => packageId !== 'a-cheap'
    expect(stepsOf(planIntent(send, { registry, isGranted }))).toBe(3)
    const preferred = () => 'wallet'
    expect(stepsOf(planIntent(send, { registry, preferred }))).toBe(3)
  })

  it('C1: gives a plan as a document that runs', () => {
    const planned = planIntent(send, { registry: createRegistry([wallet, balance]) })
    if (!planned.ok) throw new Error(planned.message)
    const document = graphDocument(planned.plan)
    expect(document).toMatchObject({
      schema: 'tally-graph/1',
      name: 'wallet.send',
      steps: [
        { id: 'balance', action: 'finance.balance', args: {}, depends_on: [] },
        { id: 'validate', depends_on: [] },
        {
          id: 'transactions',
          action: 'finance.transactions',
          args: { target: 'Alice', amount: '10' },
          depends_on: ['balance', 'validate']
        }
      ]
    })
    expect(parseGraph(document)).toMatchObject({ ok: true })
  })
})
