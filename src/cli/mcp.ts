import type { McpHost } from '../agent/index.js'
import { cliError, type Json, type JsonObject, runtimeError, systemRandom } from '../core/index.js'
import type { ServiceEvent, ServiceStreams } from '../runtime/index.js'
import type { ServiceClient } from './frame/client.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { onInterrupt } from './frame/interrupt.js'
import { openSession } from './frame/session.js'
import { text } from './frame/text.js'

export interface McpOptions {
  readonly http?: string
  readonly allowAnswers?: boolean
  readonly allowDocuments?: boolean
  readonly as?: string
  readonly config?: string
}

/**
 * `tally mcp`: serves this ledger to a client of the Model Context Protocol, over the standard
 * streams or over HTTP on loopback. The client asks in the name of an agent, which `--as` gives and
 * the client cannot change (K13).
 */
export async function mcp(frame: Frame, options: McpOptions): Promise<ExitCode> {
  const agent = agentNameOf(options.as)
  const port = portOf(options.http)
  const { serveMcpOverHttp, serveMcpOverStdio } = await import('../agent/index.js')
  const session = await openSession(frame, 'run', { config: options.config })
  const { allowAnswers: mayAnswer = false, allowDocuments: allowsDocuments = false } = options
  const host = hostOf(session.client, { agent, mayAnswer, allowsDocuments })
  try {
    if (port === undefined) {
      const streams = { input: process.stdin, output: process.stdout }
      return await served(await serveMcpOverStdio(host, streams))
    }
    const token = tokenOf(frame)
    const service = await serveMcpOverHttp(host, { port, token: token.text })
    frame.output.log(text`serving ${service.url} as ${agent}`)
    if (token.isNew)
      frame.output.log(text`clients need the header "Authorization: Bearer ${token.text}"`)
    return await served(service)
  } finally {
    await session.close()
  }
}

async function served(service: {
  readonly ended: Promise<void>
  close(): Promise<void>
}): Promise<ExitCode> {
  const interruption = onInterrupt(() => service.close())
  await service.ended
  interruption.release()
  return interruption.exitCode ?? exitCodes.done
}

/** The service as an MCP client sees it: everything in the name of one agent. */
export function hostOf(
  client: ServiceClient,
  options: {
    readonly agent: string
    readonly mayAnswer: boolean
    readonly allowsDocuments: boolean
  }
): McpHost {
  const { agent, mayAnswer, allowsDocuments } = options
  const reader = { agent, ...(mayAnswer ? { answers: true } : {}) }
  const show = async (id: string) => plain(await client.request('show', { ...reader, id }))
  const host: McpHost = {
    allowsDocuments,
    // Where the ledger lies, and what other runs do, is no matter of a client's.
    status: async () => {
      const { identity, mode, receipts, readOnly } = await client.request('status', {})
      return { identity, mode, receipts, readOnly }
    },
    published: async () => {
      const reply = await client.request('intent', { action: 'system.published', agent })
      return reply.type === 'dapp' ? (reply['published'] as readonly Json[]) : []
    },
    run: async ({ published, document, id = systemRandom.uuid(), inputs }) => {
      const given = inputs === undefined ? {} : { inputs }
      const what = asked({ published, document: allowsDocuments ? document : undefined })
      if (what === undefined) throw runtimeError('service.agent_documents', { agent })
      const params: ServiceStreams['run']['params'] = { ...what, id, agent, ...given }
      return resting(() => show(id), id, client.stream('run', params))
    },
    showRun: show,
    runs: async () => listed(client.stream('runs', reader)),
    receipt: async (which) => plain(await client.request('receipt', { ...which, agent })),
    receipts: async ({ last }) => listed(client.stream('receipts', { last, agent })),
    verify: async ({ replay }) => plain(await client.request('verify', { replay })),
    submitIntent: async (intent) => plain(await client.request('intent', { ...intent, agent }))
  }
  if (!mayAnswer) return host
  return {
    ...host,
    answer: async ({ run, ...given }) =>
      plain(await client.request('message', { id: run, agent, ...given }))
  }
}

/** What is to be run: a published document goes before one that is given. */
function asked(given: {
  readonly published: string | undefined
  readonly document: string | undefined
}): { readonly published: string } | { readonly document: string } | undefined {
  const { published, document } = given
  if (published !== undefined) return { published }
  return document === undefined ? undefined : { document }
}

/** How a run stands once it has ended or waits. */
async function resting(
  show: () => Promise<JsonObject>,
  id: string,
  events: AsyncIterable<ServiceEvent>
): Promise<JsonObject> {
  for await (const event of events) {
    if (event.type === 'run.parked') break
    if (event.type !== 'run.finished') continue
    const { status, response, receiptHash = null } = event
    // A document that is not valid leaves no run to show.
    if (status !== 'failed') break
    return plain({ id, status, response, receiptHash })
  }
  return show()
}

async function listed(stream: AsyncIterable<object>): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = []
  for await (const one of stream) found.push(plain(one))
  return found
}

// Results of the service are plain JSON; their types only name the members.
function plain(result: object): JsonObject {
  return result as JsonObject
}

const DEFAULT_AGENT = 'mcp'

function agentNameOf(given = DEFAULT_AGENT): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/.test(given)) return given
  throw cliError('cli.usage', { problem: '--as is a name of up to 64 letters and digits' })
}

function portOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const port = Number(given)
  if (/^\d{1,5}$/.test(given) && port <= 65_535) return port
  throw cliError('cli.usage', { problem: '--http is a port from 0 to 65535' })
}

/** `TALLY_MCP_TOKEN`, or a new one that is printed once. */
function tokenOf({ environment, redactor }: Frame): {
  readonly text: string
  readonly isNew: boolean
} {
  const given = environment['TALLY_MCP_TOKEN'] ?? ''
  redactor.know('env:TALLY_MCP_TOKEN', given)
  if (given !== '') return { text: given, isNew: false }
  return { text: Buffer.from(systemRandom.bytes(24)).toString('base64url'), isNew: true }
}
