import {
  AdapterRegistry,
  type AgentTool,
  defineFlowKind,
  fakeAdapter
} from '../../src/agent/index.js'
import { type Block, defineBlock, type SideEffectClass } from '../../src/code/index.js'
import type { Json, JsonObject } from '../../src/core/index.js'
import { chainEffects } from '../../src/executor/index.js'
import type { Registrations } from '../../src/runtime/index.js'
import { aisText } from './ais.js'
import { TestChain } from './ais-chain.js'
import { balance, skeleton, transfer, flow as workflow } from './ais-flows.js'
import { agentOf, flowOf, nodeOf } from './flows.js'

/** Every road by which a caller may come to an effect, with what it takes to be let through. */

export const classes = ['none', 'idempotent', 'non_idempotent'] as const

/** What a caller asks: a document, one that is published under its name, or an intent. */
export type Asked =
  | { readonly document: JsonObject; readonly isPublished?: true }
  | { readonly intent: JsonObject & { action: string } }

export interface Road {
  readonly name: string
  asked(sideEffects: SideEffectClass): Asked
  /** What the owner grants for it, beside the block itself: subjects and capabilities. */
  readonly grants?: (sideEffects: SideEffectClass) => readonly (readonly [string, ...string[]])[]
  /** Effects that are done, `act` where it is not said. */
  readonly done?: readonly string[]
}

const nameOf = (sideEffects: SideEffectClass) => `act.${sideEffects.replace('_', '-')}`

function composite(nodes: JsonObject, more: JsonObject = {}): JsonObject {
  const [entry_point = ''] = Object.keys(nodes)
  return { schema: 'tally-composite/1', name: 'road', version: '1', entry_point, nodes, ...more }
}

const graph = (step: JsonObject): JsonObject => ({
  schema: 'tally-graph/1',
  name: 'road',
  steps: [{ id: 'one', ...step }]
})

const intentLeaf = {
  none: 'intent.none',
  idempotent: 'intent.idempotent',
  non_idempotent: 'intent'
}

const flow = (node: JsonObject): JsonObject =>
  flowOf({
    agents: [agentOf('main', { toolPolicy: { allowedCapabilities: ['act'] } })],
    nodes: [node, nodeOf('finish', 'control.finish')],
    edges: ['ask -> finish']
  })

/** Documents of AIS that send a transaction, by how they come. */
const sending: readonly (readonly [name: string, asked: Asked])[] = [
  ['an action of a workflow', { document: workflow([transfer('one')]) }],
  [
    'an action of a published workflow',
    { document: workflow([transfer('one')]), isPublished: true }
  ],
  [
    'an action of a workflow in a bundle',
    { document: { schema: 'ais-bundle/1', flow: workflow([transfer('one')]), writes: 'broadcast' } }
  ],
  ['an action of a skeleton of a plan', { document: skeleton([transfer('one')]) }],
  ['an action of a registered workflow', { document: composite({ one: { use: 'sends' } }) }]
]

export const roads: readonly Road[] = [
  { name: 'an intent', asked: (one) => ({ intent: { action: nameOf(one) } }) },
  {
    name: 'an intent that names its provider',
    asked: (one) => ({ intent: { action: nameOf(one), provider: nameOf(one) } })
  },
  {
    name: 'a composite of its own',
    asked: (one) => ({ document: composite({ one: { block: nameOf(one) } }) })
  },
  {
    name: 'a published document',
    asked: (one) => ({ document: composite({ one: { block: nameOf(one) } }), isPublished: true })
  },
  {
    name: 'a version by its number',
    asked: (one) => ({ document: composite({ one: { block: `${nameOf(one)}@1` } }) })
  },
  {
    name: 'a composite inside its own',
    asked: (one) => {
      const inner = { entry_point: 'deep', nodes: { deep: { block: nameOf(one) } } }
      return { document: composite({ one: { composite: inner } }) }
    }
  },
  {
    name: 'a registered composite',
    asked: (one) => ({ document: composite({ one: { use: `uses.${nameOf(one)}` } }) })
  },
  { name: 'a step of a graph', asked: (one) => ({ document: graph({ block: nameOf(one) }) }) },
  {
    name: 'an intent in a graph',
    asked: (one) => ({ document: graph({ action: nameOf(one), side_effects: one }) })
  },
  {
    name: 'an intent that a step computes',
    asked: (one) => {
      const input = { object: { action: { cel: `'act.' + '${nameOf(one).slice(4)}'` } } }
      return { document: composite({ one: { block: intentLeaf[one], input } }) }
    }
  },
  {
    name: 'a plan',
    asked: (one) => {
      const nodes = [{ id: 'one', block: nameOf(one) }]
      return { document: { schema: 'tally-plan/1', name: 'road', version: '1', nodes } }
    }
  },
  {
    name: 'a fallback',
    asked: (one) => {
      const recovery = [{ fallback: [nameOf(one)] }]
      return { document: composite({ one: { block: 'refuse.write', recovery } }) }
    },
    grants: (one) => [['refuse.write'], [nameOf(one)]]
  },
  {
    name: 'a kind of node of a flow',
    asked: (one) => ({ document: flow(nodeOf('ask', nameOf(one).replace('-', '_'))) }),
    grants: (one) => [[`flow.kind.${nameOf(one).replace('-', '_')}`]]
  },
  {
    name: 'a tool of an agent in a flow',
    asked: () => ({ document: flow(nodeOf('ask', 'agent.main', { agentId: 'main' })) }),
    grants: () => [['agent.turn', 'agent.turn', 'agent.adapter.fake', 'agent.tool.act']]
  },
  {
    name: 'a query of a workflow',
    asked: () => ({ document: workflow([balance('one')]) }),
    grants: () => [['ais.query']]
  },
  ...sending.map(
    ([name, asked]): Road => ({
      name,
      asked: () => asked,
      grants: () => [['ais.preflight'], ['ais.action']],
      done: ['send']
    })
  ),
  {
    name: 'an atomic composite that is rolled back',
    asked: (one) => {
      const nodes = { one: { block: nameOf(one) }, two: { block: 'refuse' } }
      return { document: composite(nodes, { atomic: true, transitions: { one: 'two' } }) }
    },
    grants: (one) => [['refuse'], [nameOf(one)]],
    done: ['act', 'undo']
  }
]

/** What the roads need, with a note of everything that is done outside. */
export function roadsOf(told: (effect: string) => void): Registrations {
  const act = (effect: string) => (): Json => {
    told(effect)
    return 'done'
  }
  const acting = (sideEffects: SideEffectClass): Block =>
    defineBlock({
      name: nameOf(sideEffects),
      version: '1',
      sideEffects,
      intents: [nameOf(sideEffects)],
      ...(sideEffects === 'none' ? {} : { compensate: 'undo' }),
      run: (ctx) => ctx.effect('act', { perform: act('act') })
    })
  const refuse = (name: string, sideEffects: SideEffectClass) =>
    defineBlock({ name, version: '1', sideEffects, run: (ctx) => ctx.fail('refused') })
  const kind = (sideEffects: SideEffectClass) =>
    defineFlowKind({
      kind: nameOf(sideEffects).replace('-', '_'),
      version: '1',
      sideEffects,
      run: async (ctx) => ({ ports: { result: await ctx.effect('act', act('act')) } })
    })
  const tool: AgentTool = {
    name: 'act',
    description: 'Acts.',
    parameters: { type: 'object' },
    sideEffects: 'non_idempotent',
    isDestructive: false,
    perform: act('act')
  }
  const adapters = new AdapterRegistry().registerAdapter('fake', () =>
    fakeAdapter({
      script: ({ messages }) =>
        messages.length > 0
          ? { text: 'done' }
          : { text: '', toolCalls: [{ id: 'c', name: 'act', arguments: {} }] }
    })
  )
  const chain = new TestChain({
    read: () => {
      told('act')
      return { balance: '5' }
    }
  })
  const providers = chain.providers.map((provider) => ({
    ...provider,
    perform: (call: Parameters<typeof provider.perform>[0]) => {
      if (provider.name === chainEffects.broadcast) told('send')
      return provider.perform(call)
    }
  }))
  const sends = workflow([transfer('one')], { meta: { name: 'sends', version: '1.0.0' } })
  return {
    blocks: [
      ...classes.map(acting),
      refuse('refuse', 'none'),
      refuse('refuse.write', 'non_idempotent')
    ],
    composites: [
      ...classes.map((one) =>
        composite({ one: { block: nameOf(one) } }, { name: `uses.${nameOf(one)}` })
      ),
      sends
    ],
    providers: [{ name: 'undo', perform: act('undo') }, ...providers],
    workflow: {
      protocols: [aisText('erc20')],
      writes: 'broadcast',
      policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
    },
    agents: { adapters, tools: [tool], kinds: classes.map(kind), environment: {} }
  }
}

/** Subjects and capabilities that let an agent go a road. */
export function grantsFor(road: Road, sideEffects: SideEffectClass) {
  return road.grants?.(sideEffects) ?? [[nameOf(sideEffects)] as const]
}
