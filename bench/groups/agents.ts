import { createDeepSeek } from '@ai-sdk/deepseek'
import { streamText } from 'ai'
import { AgentTurns, builtInAdapters, TURN_EFFECT } from '../../src/agent/index.js'
import { defineBlock } from '../../src/code/index.js'
import { elapsedMs, type Json } from '../../src/core/index.js'
import { createRuntime } from '../../src/runtime/index.js'
import { type ChatServer, startChatServer } from '../../src/testing/index.js'
import { median, Scratch } from '../measure.js'
import type { Group } from '../row.js'

const TURNS = 50

/** Turns of a run on disk, against the same calls of the AI SDK alone; and one token's way. */
export const agents: Group = {
  rows: ['agent.turn-overhead', 'agent.token'],
  async measure({ rounds }) {
    let wroteAt = 0
    const beforeChunk = async () => {
      wroteAt = elapsedMs()
    }
    const server = await startChatServer({
      script: () => ({ text: 'ab', chunkLength: 1, beforeChunk })
    })
    const scratch = new Scratch()
    const tokens: number[] = []
    const turns = new AgentTurns({
      adapters: builtInAdapters(),
      environment: { BENCH_KEY: 'key' },
      documentSecrets: ['env:BENCH_KEY'],
      onDelta: ({ text }) => {
        if (text === 'b') tokens.push(elapsedMs() - wroteAt)
      }
    })
    const overheads: number[] = []
    for (let round = -1; round < rounds; round += 1) {
      const bare = await bareMs(server)
      const sealed = await sealedMs(server, { turns, location: scratch.directory() })
      if (round >= 0) overheads.push(sealed - bare)
    }
    await turns.close()
    await server.close()
    scratch.remove()
    const row = { floor: null, ratio: null, unit: 'ms', better: 'lower', target: 5 } as const
    return [
      { ...row, name: 'agent.turn-overhead', value: median(overheads) },
      { ...row, name: 'agent.token', value: median(tokens) }
    ]
  }
}

/** Milliseconds of one call of the AI SDK, as a mean over many. */
async function bareMs({ url }: ChatServer): Promise<number> {
  const model = createDeepSeek({ baseURL: url, apiKey: 'key' })('bench')
  const begin = elapsedMs()
  for (let turn = 0; turn < TURNS; turn += 1) {
    await streamText({ model, prompt: 'hello', maxRetries: 0 }).text
  }
  return (elapsedMs() - begin) / TURNS
}

/** Milliseconds of one turn of a run, its receipt on disk included. */
async function sealedMs(
  { url }: ChatServer,
  options: { readonly turns: AgentTurns; readonly location: string }
): Promise<number> {
  const { turns, location } = options
  const ask = defineBlock({
    name: 'ask',
    version: '1',
    sideEffects: 'none',
    run: (ctx) => ctx.effect(TURN_EFFECT, { request: requestOf(ctx.runId, url) })
  })
  await using tally = await createRuntime({
    location,
    create: 'if-absent',
    insecurePlaintextKey: true,
    serve: false,
    blocks: [ask],
    providers: [turns]
  })
  const nodes = Array.from({ length: TURNS }, (_, at) => [`n${at}`, { block: 'ask' }] as const)
  const next = nodes.slice(1).map(([name], at) => [`n${at}`, name] as const)
  const document: Json = {
    schema: 'tally-composite/1',
    name: 'turns',
    version: '1',
    entry_point: 'n0',
    nodes: Object.fromEntries(nodes),
    transitions: Object.fromEntries(next)
  }
  const begin = elapsedMs()
  const { status } = await tally.begin(document).result
  const ms = (elapsedMs() - begin) / TURNS
  await turns.close()
  if (status !== 'done') throw new Error(`the run ended as ${status}`)
  return ms
}

function requestOf(runId: string, baseUrl: string): Json {
  const place = { runId, nodeId: 'ask', agentId: 'clerk', turnMode: 'normal' }
  return {
    adapterKind: 'deepseek',
    adapterConfig: { baseUrl, apiKey: 'env:BENCH_KEY', model: 'bench' },
    flowName: 'bench',
    timeoutMs: 60_000,
    turn: { ...place, prompt: 'hello', input: {}, messages: [] }
  }
}
