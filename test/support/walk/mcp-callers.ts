import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { builtFile } from '../built.js'
import type { Project } from '../project.js'
import { all, type Caller, documentParams, nextId } from './callers.js'
import { AGENT, type World } from './world.js'

/** Clients of `tally mcp`. */

const TOKEN = 'token-of-the-walk'

export async function mcpCaller(
  world: World,
  project: Project,
  options: { readonly over: 'stdio' | 'http'; readonly switches: boolean; readonly token?: string }
): Promise<Caller> {
  const switches = options.switches ? ['--allow-answers', '--allow-documents'] : []
  const words = ['mcp', '--as', AGENT, '--dir', world.location, ...switches]
  const { token = TOKEN } = options
  const client = new Client({ name: 'walk', version: '1' })
  if (options.over === 'stdio') {
    const args = [builtFile('cli/main.js'), ...words]
    const command = { command: process.execPath, args, cwd: project.folder }
    await client.connect(new StdioClientTransport({ ...command, stderr: 'ignore' }) as never)
  } else {
    const environment = { TALLY_MCP_TOKEN: TOKEN }
    const server = project.start([...words, '--http', '0'], { environment })
    await server.says(`/mcp as ${AGENT}`)
    const url = new URL(/http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(server.said())?.[0] ?? 'none:')
    if (token !== TOKEN) return strangerCaller(world, url, token)
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }) as never)
  }
  const call = (name: string, given: object) => client.callTool({ name, arguments: { ...given } })
  const read = (uri: string) => client.readResource({ uri })
  return { ...toolCaller(call, world, read), close: () => client.close() }
}

const toolCaller = (
  call: (name: string, given: object) => Promise<unknown>,
  { tally }: World,
  read: (uri: string) => Promise<unknown>
): Caller => ({
  intent: (asked) => call('submit_intent', { ...asked, id: nextId() }),
  run: (document) => call('run', documentParams(document)),
  workflow: (name) =>
    all([{ workflow: name }, { published: name }], (what) =>
      call('run', { ...what, id: nextId() })
    ),
  signal: (run) =>
    all(['signal', 'answer_wait', 'submit_intent'], (tool) =>
      call(tool, { run, id: run, name: 'word', value: 1, action: 'signal', token: 'word' })
    ),
  show: async (id) => [
    await call('show_run', { id }),
    await call('get_receipt', { index: 0 }),
    await call('verify', { replay: true }),
    ...(await all([`runs/${id}`, 'runs', 'receipts', 'receipts/0'], (path) =>
      read(`ledger://${tally.identity}/${path}`)
    ))
  ],
  answer: (run, wait) => call('answer_wait', { run, ...wait, action: 'approve' })
})

/** A process of the machine that can reach the port and has no token, or a wrong one. */
function strangerCaller(world: World, url: URL, token: string): Caller {
  let id = 0
  const asked = async (method: string, params: object) => {
    id += 1
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream'
      },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params })
    })
    return `${response.status} ${await response.text()}`
  }
  const call = (name: string, given: object) => asked('tools/call', { name, arguments: given })
  return toolCaller(call, world, (uri) => asked('resources/read', { uri }))
}
