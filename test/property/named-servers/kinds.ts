import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { manifestSchema } from '../../../src/capability/manifest/schema.js'
import { type Json, type JsonObject, readDocument } from '../../../src/core/index.js'
import { aisText } from '../../support/ais.js'
import { balance, transfer, flow as workflow } from '../../support/ais-flows.js'
import { agentOf, flowOf, nodeOf } from '../../support/flows.js'
import type { Place } from './places.js'

/** One document of each kind that runs as it is, and the schema of its kind. */
export interface Kind {
  readonly name: string
  readonly schema: JsonObject
  readonly base: JsonObject
  /** The document that is run with it, where it is no document by itself. */
  readonly within?: (document: Json) => JsonObject
  /** Places that no schema names. */
  readonly more?: readonly Place[]
  /** Members that name a server: they are asked where the network policy allows it. */
  readonly servers?: readonly string[]
}

const published = (name: string): JsonObject =>
  JSON.parse(readFileSync(new URL(`../../../docs/schema/${name}`, import.meta.url), 'utf8'))

const head = { name: 'named', version: '1.0.0' }
const said = { lit: { text: 'hello' } }
const step = { block: 'say', input: said, context: ['key'], recovery: [{ fallback: ['say'] }] }

const protocol = readDocument(aisText('erc20')) as JsonObject
const pack: JsonObject = {
  schema: 'ais-pack/0.0.2',
  meta: { name: 'own', version: '1.0.0' },
  includes: [{ protocol: 'erc20', version: '0.0.2' }]
}
/** The servers answer no query right, and a query that says nothing is asked again later. */
const once = { retry: { interval_ms: 1, max_attempts: 1 } }
const tokens = workflow([
  balance('one', once),
  transfer('two', { deps: ['one'], on_error: 'continue' })
])
const bundle = (parts: JsonObject): JsonObject => ({
  schema: 'ais-bundle/1',
  flow: tokens,
  protocols: [protocol],
  writes: 'broadcast',
  ...parts
})

const settings = ['baseURL', 'baseUrl', 'url', 'endpoint', 'proxy', 'host', 'fetch']
const agents = ['agents', 'agentDefs', 0] as const
const agentFlow = (adapterKind: string, adapterConfig: JsonObject): JsonObject =>
  flowOf({
    agents: [agentOf('main', { adapterKind, adapterConfig })],
    nodes: [
      nodeOf('load', 'loader.http-auth', { config: { credential: 'env:KEY' } }),
      nodeOf('ask', 'agent.main', { agentId: 'main' }),
      nodeOf('finish', 'control.finish')
    ],
    edges: ['load -> ask', 'ask -> finish']
  })
const flowKind = (adapterKind: string, adapterConfig: JsonObject): Kind => ({
  name: `a flow of agents, ${adapterKind} over ${adapterConfig['transport']}`,
  schema: published('agents-flow-2.0.json'),
  base: agentFlow(adapterKind, adapterConfig),
  more: settings.flatMap((name) => [
    [...agents, 'adapterConfig', 'options', name],
    [...agents, name],
    ['runtime', 'adapterConfig', 'options', name],
    ['runtime', name],
    ['graph', 'nodes', 0, 'config', name],
    ['extensions', name]
  ]),
  servers: ['agents/agentDefs/0/adapterConfig/baseUrl', 'runtime/adapterConfig/baseUrl']
})

export const kinds: readonly Kind[] = [
  {
    name: 'a composite',
    schema: published('tally-composite-1.json'),
    base: { schema: 'tally-composite/1', ...head, entry_point: 'one', nodes: { one: step } }
  },
  {
    name: 'a plan',
    schema: published('tally-plan-1.json'),
    base: { schema: 'tally-plan/1', ...head, nodes: [{ id: 'one', ...step }] }
  },
  {
    name: 'a graph',
    schema: published('tally-graph-1.json'),
    base: {
      schema: 'tally-graph/1',
      name: 'named',
      steps: [{ id: 'one', block: 'say', args: { text: 'hello' } }]
    }
  },
  {
    name: 'a graph of intents',
    schema: published('tally-graph-1.json'),
    base: {
      schema: 'tally-graph/1',
      name: 'named',
      steps: [{ id: 'one', action: 'say', args: { text: 'hello' } }]
    }
  },
  flowKind('deepseek', { transport: 'openai-compatible', apiKey: 'env:KEY', model: 'm' }),
  flowKind('deepseek', { transport: 'deepseek', apiKey: 'env:KEY', model: 'm' }),
  flowKind('pi-mono', { transport: 'openai-compatible', apiKey: 'env:KEY', model: 'm' }),
  flowKind('pi-mono', { transport: 'http', apiKey: 'env:KEY' }),
  { name: 'a workflow', schema: published('ais-flow-0.0.3.json'), base: tokens },
  {
    name: 'a workflow of version 0.0.2',
    schema: published('ais-flow-0.0.2.json'),
    base: { ...workflow([balance('one', once)]), schema: 'ais-flow/0.0.2' }
  },
  {
    name: 'a protocol',
    schema: published('ais-0.0.2.json'),
    base: protocol,
    within: (one) => bundle({ protocols: [one] })
  },
  {
    name: 'a policy pack',
    schema: published('ais-pack-0.0.2.json'),
    base: pack,
    within: (one) => bundle({ packs: [one] })
  }
]

/** Manifests of packages: they are installed, not run as documents. */
export const manifests = {
  schema: z.toJSONSchema(manifestSchema(), { io: 'input', unrepresentable: 'any' }) as JsonObject,
  base: (id: string): JsonObject => ({
    id,
    name: id,
    intents: [`${id}.run`],
    capabilities: [{ name: 'network.request', inputs: { hosts: ['127.0.0.1'] } }],
    capabilitySchemas: [{ id: `${id}.offer`, type: 'data' }]
  })
}
