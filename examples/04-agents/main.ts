import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createRuntime } from 'tallystick'
import { readFlow } from 'tallystick/agent'
import { startChatServer } from 'tallystick/testing'
import { scriptedModel } from './model.js'

/**
 * Two flows of agents, streamed, verified, and done again without the model.
 * `npm run example 04-agents`; with TALLY_LLM_BASE_URL and TALLY_LLM_API_KEY a real model answers.
 */

// Compiled code lies in dist/examples; the documents lie beside the sources.
const here = fileURLToPath(new URL('../../../examples/04-agents/', import.meta.url))
const folder = await mkdtemp(join(tmpdir(), 'tally-agents-'))

const isReal = process.env['TALLY_LLM_BASE_URL'] !== undefined
const server = await startChatServer({ script: scriptedModel })
const scripted = { TALLY_LLM_BASE_URL: server.url, TALLY_LLM_API_KEY: 'example' }
const environment = isReal ? process.env : scripted

try {
  await using tally = await createRuntime({
    location: join(folder, 'ledger'),
    create: 'if-absent',
    insecurePlaintextKey: true,
    agents: { environment, loaderRoot: here }
  })

  let failures = 0
  for (const name of ['starter', 'loop']) {
    const flow = await readFlow(join(here, `${name}.flow.json`))
    const inputs = { userPrompt: 'Invite the crew to the harbour.' }
    const run = tally.begin(flow, { id: name, inputs })
    console.log(`\n== ${name}`)
    let pieces = 0
    for await (const event of run) {
      if (event.type === 'agent.delta') pieces += 1
      if (event.type !== 'block.settled' || event.block !== 'agent.turn') continue
      console.log(`${event.path} (${pieces} pieces)`, portsOf(event.response.data))
      pieces = 0
    }
    const { status, response } = await run.result
    console.log(status, status === 'done' ? response.data : response)
    if (status !== 'done') failures += 1
  }

  // The model is gone: what it said is sealed, and the whole conversation is done again from that.
  await server.close()
  const report = await tally.verify({ reexecute: true })
  console.log(`\n${report.line}`)
  process.exitCode = failures === 0 && report.ok ? 0 : 1
} finally {
  await server.close()
  await rm(folder, { recursive: true, force: true })
}

function portsOf(data: unknown): unknown {
  return typeof data === 'object' && data !== null && 'ports' in data ? data.ports : data
}
