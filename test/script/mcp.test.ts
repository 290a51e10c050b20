import { readFile } from 'node:fs/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtFile } from '../support/built.js'
import { Project, type Started } from '../support/project.js'

/** `tally mcp`, asked by the client of the MCP SDK, on a ledger that a service holds. */

const token = 'token-of-the-test'

let project: Project
let owner: Started
let url: string
beforeAll(async () => {
  project = await Project.create()
  expect((await project.tally(['init', '--insecure-plaintext-key'])).code).toBe(0)
  for (const agent of ['mcp', 'reviewer']) {
    for (const block of ['greet', 'ask']) {
      expect((await project.tally(['grant', '--agent', agent, block])).code).toBe(0)
    }
  }
  for (const name of ['greet.yaml', 'ask.yaml']) {
    expect((await project.tally(['publish', name])).code).toBe(0)
  }
  owner = project.start(['run', 'ask.yaml', '--id', 'owners', '--wait', '--json'])
  await owner.says('run.parked')
  const words = ['mcp', '--http', '0', '--allow-answers', '--as', 'reviewer']
  const server = project.start(words, { environment: { TALLY_MCP_TOKEN: token } })
  await server.says('/mcp as reviewer')
  url = server.said().match(/http:\/\/127\.0\.0\.1:\d+\/mcp/)?.[0] ?? 'none'
  expect(server.said()).not.toContain(token)
})
afterAll(() => project.remove())

async function overStdio<Result>(
  words: readonly string[],
  use: (client: Client) => Promise<Result>
): Promise<Result> {
  const args = [builtFile('cli/main.js'), 'mcp', ...words, '--dir', project.path('.tally')]
  const cwd = project.folder
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    cwd,
    stderr: 'ignore'
  })
  return using(transport as never, use)
}

function overHttp<Result>(use: (client: Client) => Promise<Result>): Promise<Result> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  return using(new StreamableHTTPClientTransport(new URL(url), { requestInit }) as never, use)
}

async function using<Result>(
  transport: Parameters<Client['connect']>[0],
  use: (client: Client) => Promise<Result>
): Promise<Result> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  try {
    return await use(client)
  } finally {
    await client.close()
  }
}

interface Called {
  readonly isError: boolean
  readonly value: Readonly<Record<string, unknown>>
}

async function call(client: Client, name: string, args: object = {}): Promise<Called> {
  const result = await client.callTool({ name, arguments: { ...args } })
  const [first] = result.content as readonly { readonly text: string }[]
  const text = first?.text ?? 'null'
  const value = text.startsWith('{') ? JSON.parse(text) : { text }
  if (result.isError !== true) expect(result.structuredContent).toEqual(value)
  return { isError: result.isError === true, value }
}

const document = (name: string) => readFile(project.path(name), 'utf8')

interface Waiting {
  readonly token: string
  readonly digest: string
}

async function waitOf(client: Client, run: string): Promise<Waiting> {
  const { value } = await call(client, 'show_run', { id: run })
  const [wait] = value['waits'] as readonly Waiting[]
  if (wait === undefined) throw new Error(`run ${run} waits for nothing`)
  return { token: wait.token, digest: wait.digest }
}

describe('tally mcp over the standard streams', () => {
  it('runs, shows receipts, verifies, and shows the ledger as resources', async () => {
    await overStdio([], async (client) => {
      const { tools } = await client.listTools()
      const names = tools.map(({ name }) => name).sort()
      expect(names).toEqual(expect.arrayContaining(['get_receipt', 'run', 'show_run', 'verify']))
      // K13: answers are off unless the owner allows them.
      expect(names).not.toContain('answer_wait')

      const listed = await call(client, 'list_published')
      const published = listed.value['published'] as readonly { readonly name: string }[]
      expect(published.map(({ name }) => name)).toEqual(['ask', 'greet'])

      const greet = { published: 'greet', id: 'g1', inputs: { name: 'Ada' } }
      const ran = await call(client, 'run', greet)
      expect(ran.value).toMatchObject({ id: 'g1', status: 'done' })
      expect(ran.value['response']).toMatchObject({ data: { greeting: 'hello Ada' } })
      // The same id is the same run.
      expect((await call(client, 'run', greet)).value['receiptHash']).toBe(ran.value['receiptHash'])

      const hash = ran.value['receiptHash']
      const receipt = await call(client, 'get_receipt', { hash })
      expect(JSON.stringify(receipt.value)).toContain('"principal":{"id":"mcp","kind":"agent"}')
      const verified = await call(client, 'verify', { replay: true })
      expect(verified.value['ok']).toBe(true)

      const { resources } = await client.listResources()
      const status = resources.find(({ name }) => name === 'status')?.uri ?? ''
      expect(status).toMatch(/^ledger:\/\/[0-9a-f]{64}\/status$/)
      for (const [path, expected] of [
        ['status', '"mode":"ready"'],
        ['runs', '"id":"g1"'],
        ['receipts', String(hash)],
        ['published', '"name":"greet"'],
        ['runs/g1', '"status":"done"'],
        [`receipts/${String(hash)}`, String(hash)]
      ] as const) {
        const read = await client.readResource({ uri: status.replace('status', path) })
        expect(JSON.stringify(read.contents)).toContain(expected.replaceAll('"', '\\"'))
      }
    })
  })

  it('K13: submits intents in its own name, which grants nothing', async () => {
    await overStdio(['--as', 'planner'], async (client) => {
      const grant = { action: 'system.grant', payload: { codeHash: '0'.repeat(64) } }
      const refused = await call(client, 'submit_intent', { ...grant, id: 'grant-1' })
      expect(refused.value).toMatchObject({ type: 'error', id: 'grant-1' })
      expect(JSON.stringify(refused.value)).toContain('not_permitted')
      const unknown = await call(client, 'submit_intent', { action: 'nobody.does.this' })
      expect(unknown.value['type']).toBe('error')
    })
  })

  it('tells errors by code, and refuses arguments that are none', async () => {
    await overStdio(['--allow-documents'], async (client) => {
      const none = await call(client, 'show_run', { id: 'nothing' })
      expect(none).toMatchObject({ isError: true, value: { code: 'run.not_found' } })
      const invalid = await call(client, 'run', { document: await document('invalid.yaml') })
      expect(invalid.value).toMatchObject({ status: 'failed' })
      expect((await call(client, 'run', { id: 17 })).isError).toBe(true)
      const uri = `ledger://${'0'.repeat(64)}/status`
      await expect(client.readResource({ uri })).rejects.toThrow()
    })
  })
})

describe('what a client of tally mcp may do', () => {
  it('K14: its own document does what its intent may do, and no more', async () => {
    const node = { block: 'greet' }
    const own = { schema: 'tally-composite/1', name: 'own', version: '1', entry_point: 'n' }
    const given = { document: JSON.stringify({ ...own, nodes: { n: node } }), id: 'own-document' }
    await overStdio(['--as', 'stranger'], async (client) => {
      const closed = await call(client, 'run', given)
      expect(closed).toMatchObject({ isError: true, value: { code: 'service.agent_documents' } })
      const unpublished = await call(client, 'run', { published: 'own' })
      expect(unpublished).toMatchObject({ value: { code: 'runtime.not_published' } })
      const published = await call(client, 'run', { published: 'greet' })
      expect(published).toMatchObject({ isError: true, value: { code: 'run.not_permitted' } })
    })
    await overStdio(['--as', 'stranger', '--allow-documents'], async (client) => {
      const refused = await call(client, 'run', given)
      expect(refused).toMatchObject({
        isError: true,
        value: {
          code: 'run.not_permitted',
          fix: 'As the owner: "tally grant --agent stranger greet@1".'
        }
      })
      expect((await call(client, 'show_run', { id: given.id })).isError).toBe(true)
      expect((await project.tally(['grant', '--agent', 'stranger', 'greet@1'])).code).toBe(0)
      const ran = await call(client, 'run', given)
      expect(ran.value).toMatchObject({ id: given.id, status: 'done' })
    })
    const permissions = await project.tally(['permissions'])
    expect(permissions.stdout).toContain('agent stranger: greet@1')
    const revoked = await project.tally(['revoke', '--agent', 'stranger', 'greet'])
    expect(revoked.code).toBe(0)
    await overStdio(['--as', 'stranger'], async (client) => {
      const again = await call(client, 'run', { published: 'greet' })
      expect(again).toMatchObject({ isError: true, value: { code: 'run.not_permitted' } })
    })
  })

  it('K13: it reads its own runs, and others once the owner grants that', async () => {
    await overStdio(['--as', 'reader'], async (client) => {
      const shown = () => call(client, 'show_run', { id: 'owners' })
      expect(await shown()).toMatchObject({ value: { code: 'service.agent_reads_own' } })
      const first = () => call(client, 'get_receipt', { index: 0 })
      expect(await first()).toMatchObject({ value: { code: 'service.agent_reads_own' } })
      const { resources } = await client.listResources()
      const runs = resources.find(({ name }) => name === 'runs')?.uri ?? ''
      const listed = async () => JSON.stringify((await client.readResource({ uri: runs })).contents)
      expect(await listed()).not.toContain('owners')
      const asked = { action: 'system.permissions' }
      expect((await call(client, 'submit_intent', asked)).value['reason']).toBe('not_permitted')
      expect((await project.tally(['grant', '--agent', 'reader', 'ledger.read'])).code).toBe(0)
      expect((await shown()).value['id']).toBe('owners')
      expect((await first()).value['index']).toBe(0)
      expect(await listed()).toContain('owners')
    })
  })

  it('K13: a run of another is not started, attached to or taken under its id', async () => {
    await overStdio(['--as', 'mcp'], async (client) => {
      const taken = await call(client, 'run', { published: 'ask', id: 'owners' })
      expect(taken).toMatchObject({ isError: true, value: { code: 'run.id_reused' } })
      expect((await call(client, 'run', { published: 'ask', id: 'squat' })).isError).toBe(false)
    })
    const owned = await project.tally(['run', 'ask.yaml', '--id', 'squat'])
    expect(owned.stderr).toContain('run.id_reused')
  })
})

describe('tally mcp over HTTP', () => {
  it.each([
    ['without a token', {}, 401],
    ['with another token', { authorization: 'Bearer other' }, 401],
    ['from a web page', { authorization: `Bearer ${token}`, origin: 'http://localhost' }, 403]
  ])('refuses a request %s', async (_, headers, status) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }
    expect((await fetch(url, { ...init, body: '{}' })).status).toBe(status)
  })

  it('refuses a request for another host, as a rebound name would make it', async () => {
    const { request } = await import('node:http')
    const status = await new Promise((resolve, reject) => {
      const headers = { host: 'evil.example', authorization: `Bearer ${token}` }
      request(url, { method: 'POST', headers }, (response) => resolve(response.statusCode))
        .on('error', reject)
        .end('{}')
    })
    expect(status).toBe(403)
  })

  it('K13: answers a wait that others caused, never its own', async () => {
    await overHttp(async (client) => {
      const own = { published: 'ask', id: 'own' }
      expect((await call(client, 'run', own)).value['status']).toBe('waiting')
      const mine = { run: 'own', ...(await waitOf(client, 'own')), action: 'resume', value: 3 }
      const refused = await call(client, 'answer_wait', mine)
      expect(refused).toMatchObject({ isError: true, value: { code: 'service.agent_refused' } })

      const theirs = { run: 'owners', ...(await waitOf(client, 'owners')), action: 'resume' }
      const stale = { ...theirs, digest: '0'.repeat(64), value: 7 }
      expect((await call(client, 'answer_wait', stale)).value['accepted']).toBe(false)
      const given = await call(client, 'answer_wait', { ...theirs, value: 7 })
      expect(given.value['accepted']).toBe(true)
    })
    expect((await owner.ended).code).toBe(0)
    const journal = await project.tally(['show', 'owners', '--journal', '--json'])
    expect(journal.stdout).toContain('"kind":"agent"')
    expect(journal.stdout).toContain('"id":"reviewer"')
  })

  it('K13: a name that another server was given may answer, and only then', async () => {
    await overStdio(['--allow-answers', '--as', 'planner'], async (client) => {
      const wait = await waitOf(client, 'own')
      const answer = { run: 'own', ...wait, action: 'resume', value: 5 }
      expect((await call(client, 'answer_wait', answer)).value['accepted']).toBe(true)
    })
  })
})
