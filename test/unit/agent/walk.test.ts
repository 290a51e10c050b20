import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defineFlowKind, type TurnRequest } from '../../../src/agent/index.js'
import type { JsonObject } from '../../../src/core/index.js'
import { agentOf, dataOf, flowOf, nodeOf, runFlow } from '../../support/flows.js'

const finish = nodeOf('finish', 'control.finish')

function loopFlow(config: JsonObject): JsonObject {
  return flowOf({
    agents: [agentOf('main'), agentOf('sub')],
    nodes: [
      nodeOf('loop', 'control.plan-loop', { config }),
      nodeOf('plan', 'agent.main', { agentId: 'main', config: { turnMode: 'plan' } }),
      nodeOf('work', 'agent.sub', { agentId: 'sub' }),
      nodeOf('judge', 'agent.main', { agentId: 'main', config: { turnMode: 'evaluate' } }),
      finish
    ],
    edges: [
      'loop:plan -> plan',
      'plan -> loop',
      'loop:execute -> work',
      'work:result -> judge:data',
      'judge -> loop',
      'loop:done -> finish',
      'work:result -> finish:result'
    ]
  })
}

const judging = (scores: readonly { readonly score: number; readonly canComplete: boolean }[]) => {
  let judged = 0
  return (request: TurnRequest) => {
    if (request.turnMode === 'plan') return { structured: { steps: ['work'] } }
    if (request.turnMode === 'normal') return { text: `work after ${judged}` }
    const given = scores[judged] ?? { score: 0, canComplete: false }
    judged += 1
    return { structured: { ...given, reason: 'because' } }
  }
}

async function nodesOf(config: JsonObject, scores: Parameters<typeof judging>[0]) {
  const run = await runFlow(loopFlow(config), { script: judging(scores) })
  return { nodes: run.requests.map(({ nodeId }) => nodeId).join(' '), data: dataOf(run) }
}

describe('A2: plan loops', () => {
  it('plan, then execute until an evaluation reaches the threshold', async () => {
    const { nodes, data } = await nodesOf({ completionThreshold: 0.8 }, [
      { score: 0.7, canComplete: true },
      { score: 0.9, canComplete: false },
      { score: 0.8, canComplete: true }
    ])
    expect(nodes).toBe('plan work judge work judge work judge')
    expect(data['result']).toBe('work after 2')
  })

  it('end after so many visits, the planning one included', async () => {
    const { nodes } = await nodesOf({ maxIterations: 3 }, [])
    expect(nodes).toBe('plan work judge')
    const { nodes: defaults } = await nodesOf({}, [])
    expect(defaults).toBe('plan work judge work judge work judge')
  })

  it('are bounded by max_steps whatever they say', async () => {
    const document = { ...loopFlow({ maxIterations: 50 }), runtime: { maxSteps: 6 } }
    const { result } = await runFlow(document, { script: judging([]) })
    expect(result.response).toMatchObject({ reason: 'max_steps_exceeded' })
  })
})

describe('what edges carry', () => {
  it('values by ports, the previous result by control edges, defaults where nothing comes', async () => {
    const ports = [
      { portId: 'in', dataType: 'flow', required: false },
      { portId: 'prompt', dataType: 'prompt' },
      { portId: 'data', dataType: 'any', defaultValue: { none: true } }
    ]
    const document = flowOf({
      nodes: [
        nodeOf('start', 'input.prompt', { config: { userPrompt: 'of the node' } }),
        nodeOf('ask', 'agent.main', { agentId: 'main', inputPorts: ports }),
        finish
      ],
      edges: ['start -> ask', 'start:prompt -> ask:prompt', 'ask -> finish']
    })
    const script = ({ prompt }: TurnRequest) => ({ text: prompt })
    const own = await runFlow(document, { script })
    expect(own.requests[0]?.input).toEqual({
      data: { none: true },
      previousResult: 'of the node',
      prompt: 'of the node'
    })
    const given = await runFlow(document, { script, inputs: { userPrompt: 'of the run' } })
    expect(given.requests[0]?.prompt).toBe('of the run\n\n{"none":true}')
    expect(dataOf(given)['result']).toBe('of the run\n\n{"none":true}')
  })

  it('a node that a person skips hands on what came before it', async () => {
    const document = flowOf({
      nodes: [
        nodeOf('one', 'agent.main', { agentId: 'main' }),
        nodeOf('two', 'agent.main', { agentId: 'main', config: { onError: 'ask' } }),
        finish
      ],
      edges: ['one -> two', 'two -> finish']
    })
    const run = await runFlow(document, {
      script: ({ nodeId }) => (nodeId === 'two' ? { fails: 'refused' } : { text: 'first' }),
      follow: async (handle) => {
        for await (const event of handle) {
          if (event.type !== 'waiting') continue
          await handle.resume(event.token, { digest: event.digest, action: 'skip' })
        }
      }
    })
    expect(dataOf(run)).toMatchObject({ result: null, spent: { main: { turns: 1 } } })
  })
})

describe('nodes of other kinds', () => {
  it('a kind of the host gets its config and input, and chooses its way out', async () => {
    const sort = defineFlowKind({
      kind: 'text.sort',
      version: '1.0.0',
      sideEffects: 'none',
      run: (_ctx, { config, input }) => ({
        handle: String(input['previousResult']) === config['word'] ? 'same' : 'other',
        ports: { result: 'sorted' }
      })
    })
    const document = flowOf({
      nodes: [
        nodeOf('ask', 'agent.main', { agentId: 'main' }),
        nodeOf('sort', 'text.sort', { config: { word: 'yes' } }),
        nodeOf('yes', 'control.finish'),
        nodeOf('no', 'agent.main', { agentId: 'main' })
      ],
      edges: ['ask -> sort', 'sort:same -> yes', 'sort:other -> no'],
      extensions: {
        customNodeSpecs: [
          {
            nodeKind: 'text.sort',
            inputPorts: [{ portId: 'in', dataType: 'flow', required: false }],
            outputPorts: ['same', 'other'].map((portId) => ({ portId, dataType: 'flow' }))
          }
        ]
      }
    })
    const answering = async (text: string) =>
      (await runFlow(document, { script: () => ({ text }), host: { kinds: [sort] } })).requests
        .length
    expect([await answering('yes'), await answering('no')]).toEqual([1, 2])
    const without = await runFlow(document, { script: () => ({ text: '' }) })
    expect(JSON.stringify(without.result.response.details)).toContain('unknown_node_kind')
  })

  it('loaders read text below their root, and nothing else', async () => {
    const root = await mkdtemp(join(tmpdir(), 'tally-loader-'))
    await mkdir(join(root, 'docs', 'deep'), { recursive: true })
    await writeFile(join(root, 'secret.txt'), 'no')
    await writeFile(join(root, 'docs', 'b.md'), 'B')
    await writeFile(join(root, 'docs', '.hidden'), 'no')
    await writeFile(join(root, 'docs', 'deep', 'a.md'), 'A')
    const loading = async (nodeKind: string, path: string, loaderRoot: string | null) => {
      const document = flowOf({
        nodes: [nodeOf('load', nodeKind, { config: { path } }), finish],
        edges: ['load -> finish']
      })
      const run = await runFlow(document, { script: () => ({ text: '' }), host: { loaderRoot } })
      const { success, data, details } = run.result.response
      return success ? (data as { readonly result: unknown }).result : details?.['problem']
    }
    const docs = join(root, 'docs')
    expect(await loading('loader.local-dir', '.', docs)).toEqual({
      path: '.',
      documents: [
        { path: 'b.md', content: 'B' },
        { path: 'deep/a.md', content: 'A' }
      ]
    })
    expect(await loading('loader.work-dir', '.', docs)).toEqual({
      path: '.',
      names: ['b.md', 'deep/']
    })
    expect(await loading('loader.local-dir', '..', docs)).toBe('outside_root')
    await symlink(root, join(docs, 'link'))
    expect(await loading('loader.local-dir', 'link', docs)).toBe('outside_root')
    expect(await loading('loader.local-dir', 'none', docs)).toBe('not_found')
    expect(await loading('loader.local-dir', '', docs)).toMatchObject({ path: '.' })
    expect(await loading('loader.local-dir', 'deep/', docs)).toMatchObject({
      documents: [{ path: 'a.md', content: 'A' }]
    })
    expect(await loading('loader.work-dir', '.', join(docs, 'none'))).toBe('no_root')
    expect(await loading('loader.work-dir', '.', null)).toBe('no_root')
  })

  it('loader.http-auth hands on where and with which reference, and reads nothing', async () => {
    const config = { url: 'https://docs.example', credential: 'env:DOCS_KEY' }
    const document = flowOf({
      nodes: [nodeOf('load', 'loader.http-auth', { config }), finish],
      edges: ['load -> finish']
    })
    expect(dataOf(await runFlow(document, { script: () => ({ text: '' }) }))['result']).toEqual(
      config
    )
  })
})
