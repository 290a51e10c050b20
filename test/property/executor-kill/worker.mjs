/**
 * A process that sends transactions until it is killed: runs are resumed, then new ones started,
 * some abreast. Plain JavaScript over the built package, because it starts often.
 * Prints `done <run> <hash>` for each run whose end was acknowledged, or the error that ended it.
 */
import { writeSync } from 'node:fs'

const ABREAST = 2

function sendingDocument(chain, execution) {
  const options = { chain, execution, pollMs: 15, timeoutMs: 15_000 }
  return {
    schema: 'tally-composite/1',
    name: 'sending',
    version: '1.0.0',
    entry_point: 'send',
    nodes: { send: { block: 'chain.send', input: { lit: options } } },
    transitions: {}
  }
}

export async function openWorker({ sources, location, chain, url, key }) {
  const { createRuntime, defineBlock } = await import(`${sources}index.js`)
  const { chainProviders, sendTransaction } = await import(`${sources}executor/index.js`)
  const { evmExecutor } = await import(`${sources}executor/evm/index.js`)
  const evm = evmExecutor({
    chains: { [chain]: { rpc: [url], signer: 'env:KEY' } },
    environment: { KEY: key }
  })
  const send = defineBlock({
    name: 'chain.send',
    version: '1.0.0',
    sideEffects: 'idempotent',
    run: async (ctx, input) => ({ hash: (await sendTransaction(ctx, input)).hash })
  })
  return createRuntime({
    location,
    create: 'if-absent',
    insecurePlaintextKey: true,
    serve: false,
    blocks: [send],
    providers: chainProviders([evm])
  })
}

async function work(options) {
  const runtime = await openWorker(options)
  const { chain, note, to, first } = options
  let next = first
  const say = ({ id, status, response }) =>
    writeSync(1, `${status} ${id} ${response.data?.hash ?? response.reason}\n`)
  const oneAfterTheOther = async () => {
    for (;;) {
      const value = next
      next += 1
      const execution = { type: 'evm_call', to, abi: note, args: { value } }
      const document = sendingDocument(chain, execution)
      say(await runtime.begin(document, { id: `run-${value}`, inputs: {} }).result)
    }
  }
  await Promise.all(Array.from({ length: ABREAST }, oneAfterTheOther))
}

const [, script = '', given] = process.argv
if (script.endsWith('worker.mjs') && given !== undefined) {
  work(JSON.parse(given)).catch((error) => {
    writeSync(1, `${error?.code ?? 'error'} ${error}\n`)
    process.exit(1)
  })
}
