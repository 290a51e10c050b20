import { mkdir } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ChatServer, startChatServer } from '../../src/testing/index.js'
import { agentOf, flowOf, nodeOf } from '../support/flows.js'
import { documentOf, Project } from '../support/project.js'

let project: Project
let server: ChatServer
beforeAll(async () => {
  project = await Project.create()
  server = await startChatServer({ script: () => ({ text: 'a short answer', chunkLength: 3 }) })
  const agent = { ...agentOf('main'), adapterKind: 'deepseek', modelProfile: { model: 'fake' } }
  const flow = (node: object) =>
    JSON.stringify(
      flowOf({
        agents: [agent],
        nodes: [{ ...nodeOf('ask', 'agent.main'), ...node }, nodeOf('finish', 'control.finish')],
        edges: ['ask -> finish']
      })
    )
  await project.write('flow.json', flow({ agentRef: 'writer' }))
  await project.write('broken.json', flow({ agentRef: 'nobody' }))
  await mkdir(project.path('.agents-flow/agents'), { recursive: true })
  const file =
    '---\nname: Writer\nagentId: writer\nadapterKind: deepseek\nmodel: fake\n---\nWrite.\n'
  await project.write('.agents-flow/agents/writer.agent.md', file)
  expect((await project.tally(['init', '--insecure-plaintext-key'])).code).toBe(0)
})
afterAll(async () => {
  await project.remove()
  await server.close()
})

const settings = () => ({ TALLY_LLM_BASE_URL: server.url, TALLY_LLM_API_KEY: 'the-key' })

describe('flow documents on the command line', () => {
  it('bindings shows the way of each node and the source of each setting, without secrets', async () => {
    const words = ['bindings', 'flow.json']
    const shown = await project.tally([...words, '--json'], { environment: settings() })
    expect(shown.code).toBe(0)
    expect(documentOf(shown, 'bindings')).toMatchObject({
      nodes: [
        {
          nodeId: 'ask',
          via: 'agentRef',
          agentId: 'writer',
          sourcePath: 'agents/writer.agent.md',
          adapterKind: 'deepseek',
          settings: [
            { name: 'baseUrl', value: server.url, source: 'env:TALLY_LLM_BASE_URL' },
            { name: 'apiKey', value: 'env:TALLY_LLM_API_KEY', source: 'env:TALLY_LLM_API_KEY' },
            { name: 'model', value: 'fake', source: 'agent' }
          ]
        }
      ]
    })
    expect(shown.stdout).not.toContain('the-key')
    expect((await project.tally(['bindings', 'broken.json'])).code).toBe(2)
  })

  it('run streams a flow with the prompts beside it, and verify needs no model', async () => {
    const words = ['run', 'flow.json', '--id', 'flow', '--inputs', '{"userPrompt":"go"}', '--json']
    const ran = await project.tally(words, { environment: settings() })
    expect(ran.code).toBe(0)
    const deltas = ran.documents.filter(({ type }) => type === 'agent.delta')
    expect(deltas.map(({ text }) => text).join('')).toBe('a short answer')
    expect(documentOf(ran, 'result')).toMatchObject({
      response: { data: { result: 'a short answer' } }
    })
    const asked = JSON.stringify(server.requests[0]?.body)
    expect(asked).toContain('Write.')
    await server.close()
    const verified = await project.tally(['verify', '--replay'])
    expect(verified.stdout).toContain('re-executed 3')
    expect(verified.code).toBe(0)
  })

  it('lint tells what is wrong with a flow, at its place', async () => {
    const linted = await project.tally(['lint', 'broken.json'])
    expect(linted.code).toBe(2)
    expect(linted.stdout).toContain('agent_not_found: no prompt asset is the agent nobody')
    expect((await project.tally(['lint', 'flow.json'])).code).toBe(0)
  })
})
