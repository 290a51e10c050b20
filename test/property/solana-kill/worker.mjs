/**
 * A process that makes one transfer in one run until it is killed. Plain JavaScript over the built
 * package. Prints `done <run> <signature>`, or how it ended otherwise.
 */
import { writeSync } from 'node:fs'

export async function openWorker({ sources, location, chain, url, key }) {
  const { createRuntime, defineBlock } = await import(`${sources}index.js`)
  const { chainProviders, sendTransaction } = await import(`${sources}executor/index.js`)
  const { solanaExecutor } = await import(`${sources}executor/solana/index.js`)
  const solana = solanaExecutor({
    chains: { [chain]: { rpc: [url], signer: 'env:KEY', pollMs: 5, timeoutMs: 15_000 } },
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
    providers: chainProviders([solana])
  })
}

/** The run as it is begun, or begun already. */
export function pay(runtime, { chain, execution, run }) {
  const document = {
    schema: 'tally-composite/1',
    name: 'paying',
    version: '1.0.0',
    entry_point: 'send',
    nodes: { send: { block: 'chain.send', input: { lit: { chain, execution } } } },
    transitions: {}
  }
  return runtime.begin(document, { id: run, inputs: {} }).result
}

async function work(options) {
  const { id, status, response } = await pay(await openWorker(options), options)
  writeSync(1, `${status} ${id} ${response.data?.hash ?? response.reason}\n`)
}

const [, script = '', given] = process.argv
if (script.endsWith('worker.mjs') && given !== undefined) {
  work(JSON.parse(given)).catch((error) => {
    writeSync(1, `${error?.code ?? 'error'} ${error}\n`)
    process.exit(1)
  })
}
