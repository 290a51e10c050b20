import { PassThrough } from 'node:stream'
import {
  deepSeekAdapter,
  type McpHost,
  serveMcpOverStdio,
  type TurnRequest
} from '../../../src/agent/index.js'
import { jsonLines } from '../../../src/agent/transports/json-lines.js'
import { piMonoResult } from '../../../src/agent/transports/pi-mono-reply.js'
import { piRpcResult } from '../../../src/agent/transports/pi-rpc-reply.js'
import { structuredIn } from '../../../src/agent/transports/structured.js'
import { EffectFailure } from '../../../src/code/index.js'
import { isJsonObject, type Json, type JsonObject } from '../../../src/core/index.js'
import { decodeEvent, decodeResult, decodeRevert } from '../../../src/executor/evm/coding.js'
import { parseExecution } from '../../../src/executor/evm/execution.js'
import { evmExecutor } from '../../../src/executor/evm/index.js'
import { loadViem } from '../../../src/executor/evm/viem.js'
import type { Execution } from '../../../src/executor/index.js'
import { kindOf } from '../../../src/intent/scoped-api/network/addresses.js'
import { urlProblem } from '../../../src/intent/scoped-api/network/request.js'
import { LineReader } from '../../../src/owner/line-reader.js'
import {
  parseClientMessage,
  parseGreeting,
  parseOwnerMessage
} from '../../../src/owner/protocol.js'
import type { FuzzTarget } from '../target.js'
import { runtimeOfTargets } from './documents.js'
import { answeringLines, outcomesOf } from './node-lines.js'

const textOf = (input: Buffer) => input.toString('utf8')
const isFailure = (error: unknown) => error instanceof EffectFailure

const turnRequest: TurnRequest = {
  invocationId: 'turn-1',
  runId: 'run-1',
  nodeId: 'main',
  agentId: 'clerk',
  turnMode: 'normal',
  prompt: 'a prompt',
  input: {},
  messages: []
}
const { signal } = new AbortController()

/** The pieces of a stream, cut at places that depend on the bytes alone. */
function* pieces(input: Buffer): Generator<Uint8Array> {
  let from = 0
  while (from < input.length) {
    const to = from + 1 + ((input[from] ?? 0) % 61)
    yield new Uint8Array(input.subarray(from, to))
    from = to
  }
}

async function linesOf(chunks: Iterable<Uint8Array>) {
  const values: (Json | undefined)[] = []
  const given = (async function* () {
    yield* chunks
  })()
  for await (const value of jsonLines(given)) values.push(value)
  return values
}

/** A turn of a model whose server answers the input. */
async function chatTurn(input: Buffer) {
  const isStream = !/^\s*[[{]/.test(textOf(input))
  const fetch = async () =>
    new Response(
      new ReadableStream({
        start(controller) {
          for (const piece of pieces(input)) controller.enqueue(piece)
          controller.close()
        }
      }),
      {
        status: isStream ? 200 : 429,
        headers: { 'content-type': isStream ? 'text/event-stream' : 'application/json' }
      }
    )
  const settings = { baseUrl: 'https://models.invalid/v1', apiKey: 'sk-1', model: 'deepseek-chat' }
  const names = { runId: 'run-1', agentId: 'clerk', flowName: 'flow' }
  const session = await deepSeekAdapter({ fetch }).open({ ...names, settings })
  return session.turn(turnRequest, { signal, invocationId: 'turn-1' })
}

const viem = await loadViem()
const to = `0x${'11'.repeat(20)}`
const parameter = (name: string, type: string) => ({ name, type })
const abi = {
  type: 'function',
  name: 'all',
  stateMutability: 'view',
  inputs: [parameter('a', 'uint256')],
  outputs: [
    parameter('n', 'uint256'),
    parameter('s', 'string'),
    parameter('b', 'bytes'),
    parameter('l', 'uint8[]'),
    {
      ...parameter('t', 'tuple[]'),
      components: [parameter('x', 'int128'), parameter('y', 'bool[2]')]
    }
  ]
} as const
const error = { type: 'error', name: 'Broken', inputs: abi.outputs } as const
const event = {
  type: 'event',
  name: 'Moved',
  inputs: abi.outputs.map((one, index) => ({ ...one, indexed: index === 0 }))
} as const
const read = { type: 'evm_read', to, abi, args: { a: '1' }, errors: [error] } as const
const write = { type: 'evm_call', to, abi, args: { a: '1' }, errors: [error], events: [event] }

/** A chain whose node answers the input: one line for each request, `@0` is the id of its first. */
async function askNode(input: Buffer): Promise<unknown> {
  const lines = answeringLines(input, { method: 'eth_chainId', answer: '0x1' })
  const evm = evmExecutor({
    chains: { 'eip155:1': { rpc: ['https://node.invalid/'] } },
    transport: lines.transport
  })
  const options = { key: 'k', signal }
  const chain = 'eip155:1'
  const expected = { to, data: '0x', value: '0', chainId: 1 }
  const look = { from: to, nonce: 0, validUntil: null, expected, execution: write as never }
  const hash = `0x${'22'.repeat(32)}`
  return outcomesOf(lines, [
    () => evm.read({ chain, execution: read as never }, options),
    () => evm.look({ chain, hash, ...look }, options),
    () => evm.simulate({ chain, execution: write as never, signer: to } as never, options)
  ])
}

export const mcpHost: McpHost = {
  allowsDocuments: true,
  status: async () => ({ identity: 'ab'.repeat(32), mode: 'ready' }),
  published: async () => [],
  run: async ({ id = 'new', inputs = {} }) => ({ id, inputs }),
  showRun: async (id) => ({ id }),
  runs: async () => [],
  receipt: async ({ index = 0 }) => ({ index }),
  receipts: async () => [],
  verify: async ({ replay }) => ({ ok: true, replay }),
  submitIntent: async ({ action }) => ({ action }),
  answer: async ({ run }) => ({ run })
}

/** What our MCP server says to a client that sends the input. */
async function serveMcp(input: Buffer): Promise<string> {
  const [incoming, outgoing] = [new PassThrough(), new PassThrough()]
  let said = ''
  outgoing.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8')
  })
  const served = await serveMcpOverStdio(mcpHost, { input: incoming, output: outgoing })
  incoming.end(input)
  await served.ended
  return said
}

/** The members of the executors' reports are plain data. */
export const exchangeTargets: Readonly<Record<string, FuzzTarget>> = {
  'owner-lines': {
    readers: [],
    read: (input) => {
      const reader = new LineReader(10_000)
      const inPieces = [...pieces(input)].flatMap((piece) => reader.push(piece))
      const atOnce = new LineReader(10_000).push(input)
      if (inPieces.join('\n') !== atOnce.join('\n')) throw new Error('pieces make other lines')
      return atOnce
    }
  },
  'owner-greeting': {
    readers: ['owner/protocol.ts#parseGreeting'],
    read: (input) => parseGreeting(textOf(input)) as unknown
  },
  'owner-messages': {
    readers: ['owner/protocol.ts#parseClientMessage', 'owner/protocol.ts#parseOwnerMessage'],
    read: (input) => {
      try {
        return parseClientMessage(textOf(input))
      } catch {
        return parseOwnerMessage(textOf(input))
      }
    }
  },
  'owner-calls': {
    readers: ['runtime/system/system-reading.ts#readSystem'],
    isSlow: true,
    read: async (input) => {
      const { method, params } = parseClientMessage(textOf(input)) as unknown as {
        readonly method: string
        readonly params: JsonObject
      }
      // What writes files is left to tests that give it a place.
      if (/export|import|replay|verify/.test(textOf(input))) return null
      const { service } = await runtimeOfTargets()
      const reply = service({ method: String(method), params: params ?? {}, signal })
      if (reply instanceof Promise) return reply
      const events: Json[] = []
      for await (const one of reply) {
        events.push(one)
        const type = isJsonObject(one) ? one['type'] : null
        if (type === 'run.parked' || type === 'run.finished' || events.length > 50) break
      }
      return events
    }
  },
  'chat-reply': { readers: [], isSlow: true, read: chatTurn, expects: isFailure },
  'json-lines': {
    readers: [],
    read: (input) => linesOf(pieces(input))
  },
  'structured-text': { readers: [], read: (input) => structuredIn(textOf(input)) ?? null },
  'pi-replies': {
    readers: [],
    read: async (input) => {
      const values = await linesOf([input, Buffer.from('\n')])
      const answers = values.filter((one) => one !== undefined)
      const outcomes = [() => piRpcResult(turnRequest, answers.filter(isJsonObject))].concat(
        answers.map(
          (one) => () => piMonoResult(turnRequest, one, { endpoint: 'here', runsTools: false })
        )
      )
      const told: unknown[] = []
      for (const act of outcomes) {
        told.push(
          await act().catch((thrown: unknown) => {
            if (isFailure(thrown)) return null
            throw thrown
          })
        )
      }
      return told
    }
  },
  'mcp-requests': { readers: [], isSlow: true, read: serveMcp },
  'evm-node': { readers: ['executor/evm/read.ts#readEvm'], isSlow: true, read: askNode },
  'evm-execution': {
    readers: ['executor/evm/execution.ts#parseExecution'],
    read: (input) => {
      const value = JSON.parse(textOf(input)) as Json
      if (!isJsonObject(value)) return null
      const parsed = parseExecution(value as unknown as Execution)
      return parsed.ok ? null : parsed.problem
    },
    expects: (thrown) => thrown instanceof SyntaxError
  },
  'evm-data': {
    readers: [
      'executor/evm/coding.ts#decodeResult',
      'executor/evm/coding.ts#decodeWrite',
      'executor/evm/coding.ts#decodeRevert',
      'executor/evm/coding.ts#decodeEvent'
    ],
    read: (input) => {
      const data = `0x${input.toString('hex')}` as const
      const topics = [viem.toEventSelector(event as never), `0x${'00'.repeat(32)}` as const]
      return [
        decodeResult(viem, abi as never, data) ?? null,
        decodeRevert(viem, data, [error as never]),
        decodeEvent(viem, [event as never], { topics, data }) ?? null
      ]
    }
  },
  urls: {
    readers: [],
    read: (input) => {
      const text = textOf(input)
      const kinds = ([4, 6] as const).map((family) => kindOf({ address: text, family }))
      return [urlProblem(text) ?? null, ...kinds]
    }
  }
}
