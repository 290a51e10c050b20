import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type AgentHost,
  type AgentTool,
  compileFlow,
  type DocumentBounds,
  fakeAdapter
} from '../../../src/agent/index.js'
import { defineBlock } from '../../../src/code/index.js'
import { isTallyError, type Json, type JsonObject } from '../../../src/core/index.js'
import type { WiredRuntime } from '../../../src/runtime/index.js'
import { answer } from '../../support/answers.js'
import { agentOf, flowOf, nodeOf, scripted } from '../../support/flows.js'
import { LedgerOnDisk } from '../../support/ledger-on-disk.js'

/** K15: the host bounds what documents choose, in every form that they have. */

let disk: LedgerOnDisk
let done: number
beforeEach(async () => {
  disk = await LedgerOnDisk.create()
  done = 0
})
afterEach(() => disk.remove())

const tool = (name: string, sideEffects: AgentTool['sideEffects']): AgentTool => ({
  name,
  description: 'Acts.',
  parameters: { type: 'object' },
  sideEffects,
  perform: () => {
    done += 1
    return 'done'
  }
})

const adapters = scripted(
  ({ messages }) =>
    messages.length > 0
      ? { text: 'done' }
      : { text: '', toolCalls: [{ id: 'c', name: 'write', arguments: {} }] },
  ['fake', 'other']
).registerAdapter('remote', () => {
  const adapter = fakeAdapter({ script: () => ({ text: 'done' }) })
  return { ...adapter, kind: 'remote', runsTools: () => true }
})
const host: AgentHost = {
  adapters,
  tools: [tool('write', 'non_idempotent'), tool('look', 'none')],
  environment: {}
}
const first = defineBlock({ name: 'first', version: '1', run: (ctx) => ctx.fail('refused') })
const bounded = (bounds: DocumentBounds) => ({ agents: { ...host, bounds }, blocks: [first] })

interface Choice {
  readonly bounds: DocumentBounds
  readonly code: string
  /** Of the agent in the flow. */
  readonly agent?: JsonObject
  /** Kind of another node before the agent's. */
  readonly loader?: string
}

const tools = (names: readonly string[], approvalRequirement: string): JsonObject => ({
  toolPolicy: { allowedCapabilities: [...names], approvalRequirement }
})

const choices: Readonly<Record<string, Choice>> = {
  'an approval of never': {
    bounds: { approvalRequirement: 'destructive_only' },
    code: 'approval_below_floor',
    agent: tools(['write'], 'never')
  },
  'an approval before writes only': {
    bounds: { approvalRequirement: 'always' },
    code: 'approval_below_floor',
    agent: tools(['look'], 'destructive_only')
  },
  'another adapter': {
    bounds: { adapters: ['fake'] },
    code: 'adapter_not_allowed',
    agent: { adapterKind: 'other' }
  },
  'an adapter that does tools itself': {
    bounds: { tools: [] },
    code: 'tool_not_allowed',
    agent: { adapterKind: 'remote' }
  },
  'an adapter that asks no person': {
    bounds: { approvalRequirement: 'destructive_only' },
    code: 'approval_below_floor',
    agent: { adapterKind: 'remote' }
  },
  'another server': {
    bounds: { servers: ['https://models.example/v1'] },
    code: 'server_not_allowed',
    agent: { adapterConfig: { baseUrl: 'https://models.example.org/v1' } }
  },
  'a server beside the allowed path': {
    bounds: { servers: ['https://models.example/v1'] },
    code: 'server_not_allowed',
    agent: { adapterConfig: { baseUrl: 'https://models.example/v1/../v2' } }
  },
  'a tool that is not listed': {
    bounds: { tools: ['look'] },
    code: 'tool_not_allowed',
    agent: tools(['look', 'write'], 'always')
  },
  'a kind of loader': {
    bounds: { loaders: ['loader.work-dir'] },
    code: 'loader_not_allowed',
    loader: 'loader.local-dir'
  }
}

function flowFor({ agent = {}, loader }: Choice): JsonObject {
  const asking = [nodeOf('ask', 'agent.main', { agentId: 'main' }), nodeOf('end', 'control.finish')]
  const loading = loader === undefined ? [] : [nodeOf('load', loader)]
  return flowOf({
    agents: [agentOf('main', agent)],
    nodes: [...loading, ...asking],
    edges: [...(loader === undefined ? [] : ['load -> ask']), 'ask -> end']
  })
}

/** The first node of a flow, as a document of another kind would have it. */
function compiledNode(flow: JsonObject): JsonObject {
  const compiled = compileFlow(flow, {
    adapters,
    tool: (name) => host.tools?.find((one) => one.name === name),
    kind: () => undefined
  })
  if (!compiled.ok) throw new Error('the flow does not compile')
  const node = compiled.definition.nodes[compiled.definition.entryPoint]
  if (node?.work.kind !== 'block') throw new Error('the node is no block')
  return { block: node.work.block, input: node.input ?? null }
}

const head = { name: 'road', version: '1' }
const graph = (node: JsonObject) => ({ entry_point: 'a', nodes: { a: node } })
const composite = (node: JsonObject): JsonObject => ({
  schema: 'tally-composite/1',
  ...head,
  ...graph(node)
})

const forms: Readonly<Record<string, (flow: JsonObject) => JsonObject>> = {
  'a flow': (flow) => flow,
  'a composite that names the block': (flow) => composite(compiledNode(flow)),
  'a composite inside one': (flow) => composite({ composite: graph(compiledNode(flow)) }),
  'a fallback': (flow) => {
    const { block = '', input = null } = compiledNode(flow)
    return composite({ block: 'first', input, recovery: [{ fallback: [block] }] })
  },
  'a plan': (flow) => {
    return { schema: 'tally-plan/1', ...head, nodes: [{ id: 'a', ...compiledNode(flow) }] }
  }
}

const cells = Object.keys(choices).flatMap((choice) =>
  Object.keys(forms).map((form) => ({ choice, form }))
)

async function refusal(tally: WiredRuntime, document: Json): Promise<string> {
  const { status, response } = await tally.begin(document, { id: 'one' }).result
  expect(status).toBe('failed')
  expect(tally.run('one')).toBeUndefined()
  return JSON.stringify(response.details)
}

describe('K15: a host that bounds what documents choose', () => {
  it.each(cells)('refuses $choice, chosen by $form', async ({ choice, form }) => {
    const chosen = choices[choice]
    const made = forms[form]
    if (chosen === undefined || made === undefined) throw new Error('there is no such cell')
    const document = made(flowFor(chosen))
    const tally = await disk.open(bounded(chosen.bounds))
    const [problem] = await tally.lint(document)
    expect(problem).toMatchObject({
      message: expect.stringMatching(new RegExp(`^${chosen.code}: `))
    })
    expect(problem?.path.length).toBeGreaterThan(1)
    expect(await refusal(tally, document)).toContain(chosen.code)
    const owner = { kind: 'owner', id: 'local' }
    const published = { action: 'system.publish', payload: { document, name: 'road' } }
    expect(await tally.intents.submit(published, owner)).toMatchObject({ type: 'error' })
    // Registered documents are bound by the same.
    await disk.close()
    if (form === 'a flow') return
    const opening = disk.open({ ...bounded(chosen.bounds), composites: [document] })
    const error = await opening.catch((thrown: unknown) => thrown)
    expect(isTallyError(error) && error.code).toBe('runtime.invalid_composite')
    expect(done).toBe(0)
  })

  it.each([
    [{ approvalRequirement: 'destructive_only' }, tools(['write', 'look'], 'destructive_only')],
    [{ approvalRequirement: 'destructive_only' }, tools(['look'], 'never')],
    [{ approvalRequirement: 'always' }, tools(['write'], 'always')],
    [{ adapters: ['fake'] }, {}],
    [{ servers: [] }, {}],
    [{ servers: ['https://models.example/v1'] }, served('https://models.example/v1/')],
    [{ servers: ['https://models.example'] }, served('https://models.example/v1')],
    [{ tools: ['write'] }, tools(['write'], 'always')],
    [{ loaders: [] }, {}]
  ] as const)('lets through what fits %j', async (bounds, agent) => {
    const tally = await disk.open(bounded(bounds))
    const found = await tally.lint(flowFor({ bounds, code: '', agent }))
    expect(found.filter(({ reason }) => reason !== 'lint')).toEqual([])
  })

  it.each([
    ['its input', { ref: 'request.payload' }],
    ['its agent', { object: { agent: { ref: 'request.payload.agent' } } }],
    ['a part of its agent', { object: { agent: { object: { tools: { lit: [] } } } } }],
    ['its delegates', { object: { agent: { lit: {} }, delegates: { ref: 'request.payload' } } }]
  ])('refuses a turn that computes %s', async (_, input) => {
    const tally = await disk.open(bounded({ tools: ['look', 'write'] }))
    const document = composite({ block: 'agent.turn', input: input as Json })
    expect(await refusal(tally, document)).toContain('turn_not_written_out')
  })

  it('bounds delegates, too', async () => {
    const delegating = flowOf({
      agents: [
        agentOf('main', {
          subagentPolicy: { switchModes: ['agent-suggested'], maxDelegations: 1 }
        }),
        agentOf('helper', tools(['write'], 'never'))
      ],
      nodes: [nodeOf('ask', 'agent.main', { agentId: 'main' }), nodeOf('end', 'control.finish')],
      edges: ['ask -> end']
    })
    const tally = await disk.open(bounded({ approvalRequirement: 'destructive_only' }))
    expect(await refusal(tally, delegating)).toContain('approval_below_floor')
  })

  it('lets an open run continue as it began, attaches to it, and replays what ended', async () => {
    const flow = flowFor({ bounds: {}, code: '', agent: tools(['write'], 'always') })
    const before = await disk.open({ agents: host })
    const run = before.begin(flow, { id: 'open' })
    for await (const { type } of run) if (type === 'run.parked') break
    await disk.close()

    const after = await disk.open({ ...bounded({ tools: [] }), resume: true })
    expect(await refusal(after, flow)).toContain('tool_not_allowed')
    const again = after.begin(flow, { id: 'open' })
    again.result.catch(() => undefined)
    await answer(after, 'open', 'approve')
    expect((await again.result).status).toBe('done')
    expect(done).toBe(1)
    expect(await after.replay()).toMatchObject({ ok: true, complete: true })
  })
})

function served(baseUrl: string): JsonObject {
  return { adapterConfig: { baseUrl } }
}
