import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { AgentTurns, builtInAdapters, deepSeekAdapter } from '../../src/agent/index.js'
import { messageLines } from '../../src/agent/mcp/exact-messages.js'
import { jsonLines } from '../../src/agent/transports/json-lines.js'
import { structuredIn, structuredInTurns } from '../../src/agent/transports/structured.js'
import type { Provider } from '../../src/block/index.js'
import { perform } from '../../src/block/pump/performing.js'
import {
  directoryPackageStore,
  encodePackage,
  makePackage,
  openPackage
} from '../../src/capability/index.js'
import type { EffectRequest } from '../../src/code/calls.js'
import { EffectFailure } from '../../src/code/index.js'
import {
  canonicalize,
  exactJson,
  exactNumbers,
  exactNumbersInTurns,
  type Hash,
  type Json,
  Redactor,
  strictJsonInTurns
} from '../../src/core/index.js'
import { evmDialect } from '../../src/executor/evm/dialect.js'
import { solanaDialect } from '../../src/executor/solana/dialect.js'
import { parseClientMessage, parseClientMessageInTurns } from '../../src/owner/index.js'
import { createRuntime, type Runtime } from '../../src/runtime/index.js'
import { redactedService } from '../../src/runtime/service/redacted-service.js'
import { startChatServer } from '../../src/testing/index.js'
import { cases } from '../support/effort.js'
import { stepsOf } from '../support/steps-between-turns.js'
import { guestPackage } from '../unit/capability/guest.js'

/** Small slices show the same in small texts. */
const SLICE_STEPS = 10_000
/** A message of MCP has no more than `limits.MCP_MESSAGE_VALUES_MAX`. */
const MESSAGE_VALUES = 40_000
const SIZE = cases({ usual: 400_000, long: 1_600_000, soak: 4_000_000 })

const secret = 's3cret-value-1234'
/** Reads in many ways, and holds a secret. */
const text = `${'\\'.repeat(SIZE)}${secret}`

const { manifest, bundle } = guestPackage('export const run = () => 1')
const large = makePackage({
  manifest: { ...manifest, widgets: [Array.from({ length: SIZE / 10 }, (_, index) => index)] },
  bundle
})

let directory: string
let runtime: Runtime

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-turns-'))
  await directoryPackageStore(directory).write(large)
  runtime = await createRuntime({ location: 'memory:' })
})

afterAll(async () => {
  await runtime.close()
  await rm(directory, { recursive: true, force: true })
})

function knowing(): Redactor {
  const redactor = new Redactor()
  redactor.know('env:A', secret)
  return redactor
}

function performed(run: Provider['perform']) {
  const call = { effect: 'ask', request: null, seq: 0, sideEffects: 'none', durable: false }
  const { signal } = new AbortController()
  const options = { key: '' as Hash, signals: { signal }, repeated: false, principal: null }
  const provider = { name: 'ask', perform: run }
  const given = { ...options, redactor: knowing() } as never
  return perform(call as unknown as EffectRequest, provider, given)
}

function turn(options: Partial<ConstructorParameters<typeof AgentTurns>[0]>): Promise<unknown> {
  const adapters = builtInAdapters({
    fake: { script: () => ({ text, structured: { key: secret } }) }
  })
  const asked = { runId: 'r', nodeId: 'n', agentId: 'a', turnMode: 'normal', prompt: '', input: {} }
  const request: Json = {
    adapterKind: 'fake',
    adapterConfig: {},
    flowName: 'flow',
    turn: { ...asked, messages: [] }
  }
  const { signal } = new AbortController()
  const call = { key: 'k', request, signal }
  return new AgentTurns({ adapters, environment: {}, ...options }).perform(call)
}

const served = { method: 'm', params: null, signal: new AbortController().signal }

async function streamed(): Promise<void> {
  const events = redactedService(async function* () {
    yield text
  }, knowing())
  for await (const event of events(served) as AsyncIterable<Json>) clean(event)
}

/** A turn in which the model calls a tool, its arguments in pieces as models send them. */
async function calledTool(): Promise<void> {
  const given = `{"list":[${'{"id":1},'.repeat(SIZE / 9)}{"id":1e25}]}`
  const toolCalls = [{ id: 'c', name: 'look_up', arguments: given }]
  await using server = await startChatServer({ script: () => ({ toolCalls, chunkLength: 65_536 }) })
  const names = { runId: 'r', agentId: 'a', flowName: 'f' }
  const settings = { baseUrl: server.url, apiKey: 'k', model: 'm' }
  const session = await deepSeekAdapter().open({ ...names, settings })
  const tools = [{ name: 'look_up', description: '', parameters: { type: 'object' } }]
  const asked = { runId: 'r', nodeId: 'n', agentId: 'a', invocationId: 'i', tools } as const
  const request = { ...asked, turnMode: 'normal', prompt: '', input: {}, messages: [] } as const
  const { signal } = new AbortController()
  const parsing = vi.spyOn(JSON, 'parse')
  const result = await session.turn(request, { signal, invocationId: 'i' })
  // The AI SDK reads the events, each by itself, and nothing reads the arguments at once.
  const longest = Math.max(...parsing.mock.calls.map(([text]) => text.length))
  parsing.mockRestore()
  expect(longest).toBeLessThan(given.length / 2)
  expect(result.toolCalls[0]?.arguments).toEqual(exactJson(given))
}

function clean(found: unknown): void {
  expect(JSON.stringify(found).includes(secret)).toBe(false)
}

const readings: readonly (readonly [what: string, act: () => Promise<unknown>])[] = [
  ['a package that is installed', () => runtime.install(encodePackage(large))],
  [
    'a package that was stored',
    async () => expect(await directoryPackageStore(directory).read(large.codeHash)).toEqual(large)
  ],
  ['the answer of a provider', async () => clean(await performed(() => text))],
  [
    'the message of an error',
    async () =>
      clean(
        await performed(() => {
          throw new Error(text)
        })
      )
  ],
  [
    'the reason and the details of a failure',
    async () =>
      clean(
        await performed(() => {
          throw new EffectFailure(text, { details: { [text]: [text] } })
        })
      )
  ],
  ['the turn of an agent', async () => clean(await turn({ redactor: knowing() }))],
  [
    'the turn of an agent that holds what is kept elsewhere',
    async () => clean(await turn({ secrets: { paths: [['structuredOutput', 'key']] } }))
  ],
  [
    'an answer of the owner',
    async () => clean(await redactedService(async () => ({ text }), knowing())(served))
  ],
  ['an event of the owner', streamed],
  [
    'an error of the owner',
    async () => {
      const failing = redactedService(async () => {
        throw new Error(text, { cause: new Error(text) })
      }, knowing())
      const error = (await Promise.resolve(failing(served)).catch((one) => one)) as Error
      for (const one of [error, error.cause as Error]) clean([one.message, one.stack])
    }
  ],
  [
    'the numbers of an answer',
    async () => {
      const numbers = `[${'1e25,'.repeat(SIZE / 10)}0]`
      expect(await exactNumbersInTurns(numbers)).toBe(exactNumbers(numbers))
    }
  ],
  ...[evmDialect(1), solanaDialect('g')].map(({ identity, parse }): (typeof readings)[number] => [
    `what a node answers to ${identity.method}`,
    async () => {
      const answer = `[${'{"id":1},'.repeat(SIZE / 9)}{"id":1e25}]`
      expect(await parse(answer)).toEqual(exactJson(answer))
    }
  ]),
  [
    'JSON that is looked for in the text of a model',
    async () => {
      const unclosed = `is {${' {"a": [1'.repeat(SIZE / 10)}`
      expect(await structuredInTurns(unclosed)).toBe(structuredIn(unclosed))
    }
  ],
  [
    'JSON that a model has fenced',
    async () => {
      const answer = `[${'{"id":1},'.repeat(SIZE / 9)}{"id":1e25}]`
      expect(await structuredInTurns(`Here:\n\`\`\`\n${answer}\`\`\``)).toEqual(exactJson(answer))
    }
  ],
  ['the arguments of a tool that a model calls', calledTool],
  [
    'a line of a program',
    async () => {
      const answer = `[${'{"id":1},'.repeat(SIZE / 9)}{"id":1e25}]`
      const chunks = new PassThrough()
      chunks.end(`${answer}\n`)
      for await (const value of jsonLines(chunks)) expect(value).toEqual(exactJson(answer))
    }
  ],
  [
    'a message of an MCP client',
    async () => {
      const text = '"a longer text of digits: 12345678901234567890"'
      const message = `[${`${text},`.repeat(MESSAGE_VALUES)}1e25]`
      const chunks = new PassThrough()
      chunks.end(`${message}\n`)
      for await (const value of messageLines(chunks)) expect(value).toEqual(exactJson(message))
    }
  ],
  [
    'a request at the owner socket',
    async () => {
      const numbers = `[${'7,'.repeat(SIZE / 4)}0]`
      const line = `{"id":1,"method":"run","params":${numbers}}`
      expect(await parseClientMessageInTurns(line)).toEqual(parseClientMessage(line))
    }
  ],
  [
    'a request',
    async () => {
      const numbers = `[${'7,'.repeat(SIZE / 4)}0]`
      expect(await strictJsonInTurns(numbers)).toEqual(JSON.parse(numbers))
    }
  ]
]

/** Clean JSON is written in one native call: a step for 16 characters. */
const inOneCall: Readonly<Record<string, number>> = {
  'the answer of a provider': SIZE / 8,
  'the reason and the details of a failure': SIZE / 4
}

it.each(readings)('the event loop has its turns while %s is read', async (what, act) => {
  const { mostOfSlice, total } = await stepsOf(act, { sliceSteps: SLICE_STEPS })
  expect(total).toBeGreaterThan(10 * SLICE_STEPS)
  expect(mostOfSlice).toBeLessThanOrEqual(3 * SLICE_STEPS + (inOneCall[what] ?? 0))
})

it('a package that is opened at once is what it is in pieces', async () => {
  expect(openPackage(encodePackage(large))).toEqual(large)
})

it('protocols of a workflow are read with turns of the event loop', async () => {
  const protocol = canonicalize({ schema: 'ais/0.0.2', oops: Array(SIZE / 10).fill(0) })
  const document = { schema: 'ais-flow/0.0.3', meta: { name: 'demo', version: '1' }, nodes: [] }
  const preparing = () =>
    runtime.begin(document, { protocols: [protocol] }).result.catch(() => undefined)
  const { mostOfSlice, total } = await stepsOf(preparing, { sliceSteps: SLICE_STEPS })
  expect(total).toBeGreaterThan(10 * SLICE_STEPS)
  expect(mostOfSlice).toBeLessThanOrEqual(3 * SLICE_STEPS)
})
