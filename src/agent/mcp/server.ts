import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod-pinned'
import { isTallyError, type Json, type JsonObject } from '../../core/index.js'
import type { McpHost } from './host.js'
import type { McpServerLibrary } from './library.js'
import { addResources } from './resources.js'

/** A server over one host; a connection has one of its own. */
export function createMcpServer(library: McpServerLibrary, host: McpHost): McpServer {
  const server = new library.McpServer({ name: 'tallystick', version: '1' })
  addRunTools(server, host)
  addReadingTools(server, host)
  addAnswerTool(server, host)
  addResources(server, library, host)
  return server
}

const reads = { readOnlyHint: true, openWorldHint: false }

function addRunTools(server: McpServer, host: McpHost): void {
  const run = {
    title: 'Run a document',
    description:
      'Runs a document that the owner has published, by its name (list_published), and tells how ' +
      'the run stands once it has ended or waits. The same id is the same run: it is never ' +
      'started twice. What it does outside needs grants of the owner.',
    inputSchema: {
      published: z.string().optional(),
      ...(host.allowsDocuments === true ? { document: z.string().optional() } : {}),
      id: z.string().optional(),
      inputs: z.unknown().optional()
    }
  }
  server.registerTool('run', run, (given) => {
    const { published, id, inputs } = given
    const { document } = given as { readonly document?: string }
    return answered(() =>
      host.run({
        ...(published === undefined ? {} : { published }),
        ...(document === undefined ? {} : { document }),
        ...(id === undefined ? {} : { id }),
        ...(inputs === undefined ? {} : { inputs: inputs as Json })
      })
    )
  })
  const list = {
    title: 'List published documents',
    description: 'The documents that run takes by name, with their hashes and pinned versions.',
    inputSchema: {},
    annotations: reads
  }
  server.registerTool('list_published', list, () =>
    answered(async () => ({ published: await host.published() }))
  )
  const { submitIntent } = host
  if (submitIntent === undefined) return
  const intent = {
    title: 'Submit an intent',
    description:
      'Asks for an action by its name. A reply of type permission_request waits for the owner, ' +
      'who alone can grant it. The same id is the same intent: it is never done twice.',
    inputSchema: {
      action: z.string(),
      id: z.string().optional(),
      payload: z.looseObject({}).optional()
    }
  }
  server.registerTool('submit_intent', intent, ({ action, id, payload }) =>
    answered(() =>
      submitIntent({
        action,
        ...(id === undefined ? {} : { id }),
        ...(payload === undefined ? {} : { payload: payload as JsonObject })
      })
    )
  )
}

function addReadingTools(server: McpServer, host: McpHost): void {
  const show = {
    title: 'Show a run',
    description: 'How a run stands: its status, its result, and what it waits for.',
    inputSchema: { id: z.string() },
    annotations: reads
  }
  server.registerTool('show_run', show, ({ id }) => answered(() => host.showRun(id)))
  const receipt = {
    title: 'Get a receipt',
    description: 'A receipt by its hash, or by its place in the chain from 0.',
    inputSchema: { hash: z.string().optional(), index: z.int().min(0).optional() },
    annotations: reads
  }
  server.registerTool('get_receipt', receipt, ({ hash, index }) =>
    answered(() =>
      host.receipt({
        ...(hash === undefined ? {} : { hash }),
        ...(index === undefined ? {} : { index })
      })
    )
  )
  const verify = {
    title: 'Verify the ledger',
    description:
      'Checks every hash, link and signature; with replay, executes every step again. Says what ' +
      'was not checked.',
    inputSchema: { replay: z.boolean().optional() },
    annotations: reads
  }
  server.registerTool('verify', verify, ({ replay = false }) =>
    answered(() => host.verify({ replay }))
  )
}

function addAnswerTool(server: McpServer, host: McpHost): void {
  const { answer } = host
  if (answer === undefined) return
  const config = {
    title: 'Answer a wait',
    description:
      'Answers what a run of another caller waits for, by the token and digest that show_run ' +
      'gives. Permissions and decisions about failures are for the owner.',
    inputSchema: {
      run: z.string(),
      token: z.string(),
      digest: z.string(),
      action: z.enum(['approve', 'deny', 'resume']),
      value: z.unknown().optional()
    }
  }
  server.registerTool('answer_wait', config, ({ value, ...given }) =>
    answered(() => answer({ ...given, ...(value === undefined ? {} : { value: value as Json }) }))
  )
}

/** A result as MCP carries it. An error has its code, message and fix. */
async function answered(act: () => Promise<JsonObject>) {
  try {
    const result = await act()
    const text = JSON.stringify(result)
    return { content: [{ type: 'text' as const, text }], structuredContent: { ...result } }
  } catch (error) {
    const told = isTallyError(error)
      ? { code: error.code, message: error.message, fix: error.fix }
      : { code: 'core.internal', message: 'The request failed.', fix: 'See the log of the server.' }
    return { content: [{ type: 'text' as const, text: JSON.stringify(told) }], isError: true }
  }
}
