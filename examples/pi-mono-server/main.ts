import type { Model } from '@mariozechner/pi-ai'
import { createRuntime, defineBlock, type Json } from 'tallystick'
import { AgentTurns, builtInAdapters, TURN_EFFECT } from 'tallystick/agent'
import { startChatServer } from 'tallystick/testing'
import { PiMonoServer } from './server.js'

/**
 * Two turns of the real pi agent, sealed and replayed. `npm run example pi-mono-server`
 *
 * With `--serve` it only serves pi at PORT, in front of the model that MODEL_BASE_URL, MODEL_ID and
 * MODEL_KEY name, for callers that send PI_MONO_KEY.
 */

function modelAt(baseUrl: string, id: string): Model<'openai-completions'> {
  return {
    id,
    name: id,
    api: 'openai-completions',
    provider: 'openai-compatible',
    baseUrl,
    reasoning: false,
    input: ['text'],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 64_000,
    maxTokens: 4_096
  }
}

async function serve(): Promise<void> {
  const { MODEL_BASE_URL, MODEL_ID, MODEL_KEY, PI_MONO_KEY, PORT = '8787' } = process.env
  if (!MODEL_BASE_URL || !MODEL_ID || !MODEL_KEY || !PI_MONO_KEY) {
    throw new Error('Set MODEL_BASE_URL, MODEL_ID, MODEL_KEY and PI_MONO_KEY.')
  }
  const server = await PiMonoServer.start({
    model: modelAt(MODEL_BASE_URL, MODEL_ID),
    modelKey: MODEL_KEY,
    apiKey: PI_MONO_KEY,
    port: Number(PORT)
  })
  console.log(`pi-mono serves ${server.url}`)
}

/** A leaf that asks the agent one thing. */
function askBlock(baseUrl: string) {
  return defineBlock({
    name: 'ask',
    version: '1.0.0',
    // The agent has no tools, so an answer that was lost may be asked for again.
    sideEffects: 'none',
    run: (ctx, { prompt }: { readonly prompt: string }) => {
      const turn = {
        runId: ctx.runId,
        nodeId: 'ask',
        agentId: 'clerk',
        turnMode: 'normal',
        prompt,
        input: {},
        messages: []
      }
      const adapterConfig = { baseUrl, apiKey: 'env:PI_MONO_KEY' }
      const request: Json = {
        adapterKind: 'pi-mono',
        adapterConfig,
        flowName: 'example',
        timeoutMs: 60_000,
        turn
      }
      return ctx.effect(TURN_EFFECT, { request })
    }
  })
}

const document = `
schema: tally-composite/1
name: conversation
version: 1.0.0
entry_point: question
nodes:
  question: { block: ask, input: { object: { prompt: { lit: Which invoices are due? } } } }
  follow_up: { block: ask, input: { object: { prompt: { lit: And the largest of them? } } } }
transitions: { question: follow_up }
`

async function demonstrate(): Promise<void> {
  const answers = ['Three are due: 17, 18 and 21.', 'Invoice 18.']
  const chat = await startChatServer({ script: ({ index }) => ({ text: answers[index] ?? '' }) })
  const model = modelAt(chat.url, 'fake')
  const apiKey = 'key-of-the-example'
  const server = await PiMonoServer.start({ model, modelKey: 'key-of-the-model', apiKey })
  const turns = new AgentTurns({
    adapters: builtInAdapters(),
    environment: { PI_MONO_KEY: apiKey },
    documentSecrets: ['env:PI_MONO_KEY'],
    onDelta: ({ text }) => console.log('pi says', text)
  })
  await using tally = await createRuntime({
    location: 'memory:',
    blocks: [askBlock(server.url)],
    providers: [turns]
  })
  const { status, response } = await tally.begin(document, { id: 'conversation' }).result
  if (status !== 'done') console.error(response)
  console.log(status, `after ${chat.requests.length} requests to the model`)
  await turns.close()
  await server.close()
  await chat.close()
  const report = await tally.replay()
  console.log('without pi and without the model:', report.line)
  process.exitCode = status === 'done' && report.ok ? 0 : 1
}

await (process.argv.includes('--serve') ? serve() : demonstrate())
