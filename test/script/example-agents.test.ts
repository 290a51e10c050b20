import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtFile } from '../support/built.js'

/** The example of agents, against an endpoint that only the environment names. */

const repository = fileURLToPath(new URL('../../', import.meta.url))
const key = 'sk-planted-0123456789'

// A server that speaks as DeepSeek does, in a process of its own.
const endpoint = `
import { startChatServer } from 'tallystick/testing'
import { scriptedModel } from './dist/examples/04-agents/model.js'
const script = (request) => {
  console.log('asked ' + request.body.model + ' stream=' + request.body.stream)
  return scriptedModel(request)
}
const server = await startChatServer({ script, apiKey: '${key}' })
console.log('serves ' + server.url)
`

let server: ChildProcess
let url: string
let said = ''
beforeAll(async () => {
  builtFile('cli/main.js')
  server = spawn(process.execPath, ['--input-type=module', '-e', endpoint], { cwd: repository })
  server.stdout?.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  while (!said.includes('serves')) await once(server.stdout as NodeJS.EventEmitter, 'data')
  url = said.match(/serves (\S+)/)?.[1] ?? ''
})
afterAll(() => {
  server.kill()
})

async function example() {
  const { TALLY_PASSPHRASE: _, ...rest } = process.env
  const environment = { ...rest, TALLY_LLM_BASE_URL: url, TALLY_LLM_API_KEY: key }
  const main = 'dist/examples/04-agents/main.js'
  const child = spawn(process.execPath, [main], { cwd: repository, env: environment })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const [code] = await once(child, 'close')
  return { code: code as number, output }
}

describe('examples/04-agents with an endpoint in the environment', () => {
  it('streams from the endpoint, and does it all again from what was sealed', async () => {
    const { code, output } = await example()
    expect([code, output]).toEqual([0, expect.stringContaining('re-executed')])
    expect(output).toContain('All of you are invited to the harbour on Friday.')
    const asked = said.match(/asked deepseek-v4-flash stream=true/g) ?? []
    // Three turns of the starter, five of the loop, each asked once.
    expect(asked.length).toBe(8)
    expect(output).not.toContain(key)
  })
})
