import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
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

const noNetwork = `
import dns from 'node:dns'
import net from 'node:net'
const trap = () => {
  process.stderr.write('no network here\\n')
  process.exit(97)
}
const connect = net.Socket.prototype.connect
net.Socket.prototype.connect = function (...given) {
  const [options] = Array.isArray(given[0]) ? given[0] : given
  if (typeof options === 'object' && options.path !== undefined) return connect.apply(this, given)
  return trap()
}
dns.lookup = trap
`

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
    // Whatever would look a name up or reach another machine ends the process.
    await project.write('no-network.mjs', noNetwork)
    const trapped = { NODE_OPTIONS: `--import ${pathToFileURL(project.path('no-network.mjs'))}` }
    const verified = await project.tally(['verify', '--replay'], { environment: trapped })
    expect(verified.stdout).toContain('re-executed 3')
    expect(verified.code).toBe(0)
    const again = [...words.slice(0, 3), 'again', ...words.slice(4)]
    const ended = await project.tally(again, { environment: { ...settings(), ...trapped } })
    expect([ended.code, ended.stderr]).toEqual([97, expect.stringContaining('no network here')])
  })

  it('A5: tells and keeps no key, whatever the server says', async () => {
    const key = 'sk-planted-0123456789'
    const answers = [{ text: `your key is ${key}` }, { status: 401, code: key }]
    const rude = await startChatServer({ script: ({ index }) => answers[index] ?? { text: '' } })
    const environment = { TALLY_LLM_BASE_URL: rude.url, TALLY_LLM_API_KEY: key }
    const run = (id: string) => {
      const words = [
        'run',
        'flow.json',
        '--id',
        id,
        '--inputs',
        '{"userPrompt":"a planted prompt"}'
      ]
      return project.tally([...words, '--json'], { environment })
    }
    const told = await run('rude')
    const refused = await run('refused')
    await rude.close()
    expect([told.code, rude.requests.length]).toEqual([0, 2])
    expect(documentOf(refused, 'result')).toMatchObject({ response: { reason: 'unauthorized' } })
    expect(JSON.stringify(documentOf(refused, 'result'))).not.toContain('a planted prompt')
    expect(refused.stderr).not.toContain('a planted prompt')
    const outputs = [told, refused]
    for (const words of ['show rude', 'show refused', 'log --all', 'verify --replay', 'doctor']) {
      outputs.push(await project.tally([...words.split(' '), '--json']))
    }
    for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain(key)
    expect(JSON.stringify(outputs)).toContain('your key is [env:TALLY_LLM_API_KEY]')
    const files = await readdir(project.path('.tally'), { recursive: true, withFileTypes: true })
    for (const file of files.filter((one) => one.isFile())) {
      const bytes = await readFile(join(file.parentPath, file.name))
      expect(bytes.includes(key)).toBe(false)
    }
  })

  it('lint tells what is wrong with a flow, at its place', async () => {
    const linted = await project.tally(['lint', 'broken.json'])
    expect(linted.code).toBe(2)
    expect(linted.stdout).toContain('agent_not_found: no prompt asset is the agent nobody')
    expect((await project.tally(['lint', 'flow.json'])).code).toBe(0)
  })
})
