import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { canonicalize, type Json, type JsonObject } from '../../../../src/core/index.js'
import { loadExpressions } from '../../../../src/expression/index.js'
import { createRuntime, MEMORY_LOCATION } from '../../../../src/runtime/index.js'
import type { ProtocolDocument } from '../../../../src/workflow/document/protocol.js'
import { parseFlow, WorkflowParts } from '../../../../src/workflow/index.js'
import { checkAisDocument } from '../../../../src/workflow/lint/check.js'
import { exportPlan } from '../../../../src/workflow/plan/export-plan.js'
import { aisText, protocolOf, seedCatalogue } from '../../../support/ais.js'
import { TestChain } from '../../../support/ais-chain.js'
import { asset, balance, flow, owner, transfer } from '../../../support/ais-flows.js'

/** AIS's plans as documents: out of a workflow, and in again. */

const schemaText = readFileSync(
  new URL('../../../vectors/ais/ais-plan-0.0.3.schema.json', import.meta.url),
  'utf8'
)
const schema = z.fromJSONSchema(JSON.parse(schemaText))

const protocols = seedCatalogue()

async function planOf(document: Json | string, catalogue = protocols) {
  const text = typeof document === 'string' ? document : JSON.stringify(document)
  const { plan, issues } = await checkAisDocument(text, { protocols: catalogue })
  const errors = issues.filter(({ severity }) => severity === 'error')
  return { plan, errors }
}

async function exported(document: Json | string, catalogue = protocols): Promise<JsonObject> {
  const { plan, errors } = await planOf(document, catalogue)
  expect(errors).toEqual([])
  if (plan === undefined) throw new Error('it can be planned')
  return exportPlan(plan)
}

const everything = flow(
  [
    balance('q', {
      retry: { interval_ms: 5, max_attempts: 3, backoff: 'exp', max_interval_ms: 9 },
      until: { cel: 'nodes.q.outputs.balance > 0' },
      timeout_ms: 100,
      on_error: 'continue'
    }),
    transfer('pay', {
      args: { token: asset, to: { ref: 'inputs.to' }, amount: { ref: 'inputs.amount' } },
      condition: { cel: 'has(nodes.q.outputs)' },
      assert: { lit: true },
      assert_message: 'well'
    }),
    {
      id: 'supply',
      type: 'action_ref',
      protocol: 'aave@0.0.2',
      action: 'supply_eth',
      args: { amount: { lit: '1' } },
      condition: { cel: 'inputs.go' },
      deps: ['pay'],
      calculated_overrides: { wei: { lit: '5' } }
    }
  ],
  {
    inputs: {
      to: { type: 'address', required: true },
      amount: { type: 'uint256', default: '5' },
      go: { type: 'bool', default: true }
    },
    outputs: { paid: { ref: 'nodes.pay.outputs.tx_hash' } },
    policy: { limit: 3 },
    preflight: { simulate: { pay: true } }
  }
)

const documents: Readonly<Record<string, Json | string>> = {
  'the workflow of the seed': aisText('bridge'),
  'a workflow with everything': everything
}

describe('W2: the plan of a workflow as a document', () => {
  for (const [name, document] of Object.entries(documents)) {
    it(`is valid under the schema of AIS (${name})`, async () => {
      const plan = await exported(document)
      expect(schema.safeParse(plan).error?.issues ?? []).toEqual([])
      expect(schema.safeParse({ ...plan, more: 1 }).success).toBe(false)
    })

    it(`has the same bytes for the same documents but for its time (${name})`, async () => {
      expect(canonicalize(await exported(document))).toBe(canonicalize(await exported(document)))
      const { plan } = await planOf(document)
      if (plan === undefined) throw new Error('it can be planned')
      const createdAt = '2026-01-01T00:00:00.000Z'
      expect(exportPlan(plan, { createdAt })['meta']).toMatchObject({ created_at: createdAt })
    })

    it(`leads back to the same plan (${name})`, async () => {
      const plan = await exported(document)
      const [there, back] = [await planOf(document), await planOf(plan)]
      expect(back.errors).toEqual([])
      expect(back.plan?.planHash).toBe(there.plan?.planHash)
      expect(canonicalize(await exported(plan))).toBe(canonicalize(plan))
    })
  }

  it('is read from ais-plan/0.0.2, too', async () => {
    const plan = { ...(await exported(aisText('bridge'))), schema: 'ais-plan/0.0.2' }
    expect((await planOf(plan)).errors).toEqual([])
  })
})

type Change = (node: { [name: string]: Json }) => void

describe('W15: a plan is what its protocols give', () => {
  const changes: Readonly<Record<string, Change>> = {
    execution: (node) => {
      node['execution'] = { ...(node['execution'] as JsonObject), to: owner }
    },
    'another action under the same execution': (node) => {
      node['source'] = { ...(node['source'] as JsonObject), action: 'approve' }
    },
    kind: (node) => {
      node['kind'] = 'query_ref'
    },
    condition: (node) => {
      node['extensions'] = { tallystick: { condition: { lit: true } } }
    },
    source: (node) => {
      delete node['source']
    },
    'a step of no node': (node) => {
      node['id'] = 'other'
    },
    writes: (node) => {
      node['writes'] = [{ path: 'inputs.amount', mode: 'set' }]
    }
  }

  it.each(Object.entries(changes))('refuses a plan with another %s', async (_, change) => {
    const plan = structuredClone(await exported(flow([transfer('pay')]))) as {
      nodes: { [name: string]: Json }[]
    }
    const [node] = plan.nodes
    if (node === undefined) throw new Error('it has a node')
    change(node)
    const { errors } = await planOf(plan as unknown as Json)
    expect(errors).not.toEqual([])
  })

  it('refuses a plan without one of the steps of a node', async () => {
    const plan = structuredClone(await exported(everything)) as { nodes: JsonObject[] }
    plan.nodes = plan.nodes.filter(({ id }) => id !== 'supply__wrap')
    const { errors } = await planOf(plan as unknown as Json)
    expect(errors.map(({ code }) => code)).toContain('plan_mismatch')
  })

  it('tells the place in the plan', async () => {
    const plan = structuredClone(await exported(flow([transfer('pay')]))) as {
      nodes: { [name: string]: Json }[]
    }
    const [node] = plan.nodes
    if (node === undefined) throw new Error('it has a node')
    node['bindings'] = { params: { token: asset, to: owner, amount: { lit: '5' }, more: owner } }
    const { errors } = await planOf(plan as unknown as Json)
    expect(errors.map(({ path }) => path.join('.'))).toEqual(['nodes.0.bindings.params.more'])
  })
})

describe('plans and skeletons that others write', () => {
  const node = { id: 'pay', type: 'action_ref', protocol: 'erc20@0.0.2', action: 'transfer' }
  const skeleton = {
    schema: 'ais-plan-skeleton/0.0.1',
    default_chain: 'eip155:1',
    policy_hints: { anything: 1 },
    nodes: [{ ...node, args: { token: asset, to: owner, amount: { ref: 'inputs.amount' } } }]
  }

  it('reads a skeleton: an input has the type of what it is given to', async () => {
    const { plan, errors } = await planOf(skeleton)
    expect(errors).toEqual([])
    expect(plan?.plan.inputs).toEqual({ amount: { type: 'uint256', required: true } })
  })

  it('refuses an input of which nothing says the type', async () => {
    const condition = { cel: 'inputs.go' }
    const [first] = skeleton.nodes
    const { errors } = await planOf({ ...skeleton, nodes: [{ ...first, condition }] as never })
    expect(errors.map(({ code }) => code)).toEqual(['unknown_reference'])
  })

  it('reads a plan without anything of ours', async () => {
    const plan = structuredClone(await exported(everything)) as JsonObject & {
      nodes: { [name: string]: Json }[]
    }
    const { extensions: _, ...bare } = plan
    const nodes = plan.nodes.filter(({ id }) => id === 'pay')
    for (const one of nodes) {
      delete one['deps']
      delete one['condition']
      delete one['extensions']
    }
    const { plan: found, errors } = await planOf({ ...bare, nodes } as unknown as Json)
    expect(errors).toEqual([])
    expect(found?.plan.inputs).toMatchObject({
      to: { type: 'address' },
      amount: { type: 'uint256' }
    })
  })
})

describe('K14: a plan that is run', () => {
  const simple = flow([transfer('pay'), balance('after', { deps: ['pay'] })])
  const erc20 = [aisText('erc20')]

  async function ran(document: Json, host: JsonObject = {}) {
    const chain = new TestChain({ read: () => ({ balance: '1' }) })
    const tally = await createRuntime({
      location: MEMORY_LOCATION,
      providers: chain.providers,
      workflow: { protocols: erc20, ...host } as never
    })
    try {
      const run = tally.begin(document, { id: 'one', inputs: {} })
      for await (const event of run) {
        if (event.type === 'run.finished') return { response: event.response, sent: chain.sent }
        if (event.type === 'run.parked') return { waits: await run.waits(), sent: chain.sent }
      }
      throw new Error('it ends or waits')
    } finally {
      await tally.close()
    }
  }

  it('has the definition of its workflow', async () => {
    const compile = async (document: Json) => {
      const parts = new WorkflowParts({ protocols: erc20 })
      parts.use(await loadExpressions())
      const compiled = parts.compile(document)
      if (!compiled.ok) expect(compiled.issues).toEqual([])
      return compiled.ok ? canonicalize(compiled.definition) : ''
    }
    const plan = await exported(simple)
    expect(await compile(plan)).toBe(await compile(simple))
    const bundle = { schema: 'ais-bundle/1', flow: plan }
    expect(await compile(bundle)).toBe(await compile(simple))
  })

  const everyRoad: readonly (readonly [string, JsonObject])[] = [
    ['writes ask', {}],
    [
      'writes are broadcast',
      { writes: 'broadcast', policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 } }
    ],
    [
      'a pack that does not include the protocol',
      { packs: [{ schema: 'ais-pack/0.0.2', name: 'p', version: '1.0.0', includes: [] }] }
    ]
  ]
  it.each(everyRoad)('passes the gates of its workflow: %s', async (_, host) => {
    const plan = await exported(simple)
    const outcome = async (document: Json) =>
      ran(document, host).then(
        ({ waits, ...found }) => {
          const asked = waits?.map(({ path, reason, actions, request, blockHash }) => {
            return { path, reason, actions, request, blockHash }
          })
          return JSON.parse(JSON.stringify({ ...found, asked }))
        },
        (error: Error) => error.message
      )
    expect(await outcome(plan)).toEqual(await outcome(simple))
  })
})

describe('parseFlow', () => {
  it('gives the workflow of a plan with the plan it came from', async () => {
    const plan = await exported(flow([transfer('pay')]))
    const parsed = parseFlow(plan)
    expect(parsed).toMatchObject({ ok: true, origin: { places: [0] } })
    expect(catalogueKeys(protocols)).toContain('erc20@0.0.2')
    expect(protocolOf(aisText('erc20')).meta.protocol).toBe('erc20')
  })
})

function catalogueKeys(all: readonly ProtocolDocument[]): readonly string[] {
  return all.map(({ meta }) => `${meta.protocol}@${meta.version}`)
}
