/**
 * A process that runs workflows until it is killed: those that were interrupted are resumed, then
 * new ones started, some abreast. Plain JavaScript over the built package, because it starts often.
 * Prints `done <run> <outputs>` for each run whose end was acknowledged, or the error that ended
 * it.
 */
import { writeSync } from 'node:fs'

const ABREAST = 2

export async function openWorker({ sources, location, chain, url, key, protocol }) {
  const { createRuntime } = await import(`${sources}index.js`)
  const { chainProviders } = await import(`${sources}executor/index.js`)
  const { evmExecutor } = await import(`${sources}executor/evm/index.js`)
  const evm = evmExecutor({
    chains: { [chain]: { rpc: [url], signer: 'env:KEY', pollMs: 15, timeoutMs: 15_000 } },
    environment: { KEY: key }
  })
  return createRuntime({
    location,
    create: 'if-absent',
    insecurePlaintextKey: true,
    serve: false,
    resume: true,
    providers: chainProviders([evm]),
    workflow: {
      protocols: [protocol],
      writes: 'broadcast',
      policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
    }
  })
}

/** An address of its own for each run, so that the chain tells the transactions of one apart. */
function addressOf(value) {
  return `0x${(0x10_000 + value).toString(16).padStart(40, '0')}`
}

export function givenFor({ chain, token }, value) {
  return {
    // The last digit is never 0, which a result would leave out.
    inputs: { recipient: addressOf(value), amount: `0.${String(value * 10 + 1).padStart(6, '0')}` },
    calculated: { token: { chain_id: chain, address: token, decimals: 6 } }
  }
}

async function work(options) {
  const runtime = await openWorker(options)
  let next = options.first
  const say = ({ id, status, response }) =>
    writeSync(1, `${status} ${id} ${JSON.stringify(response.data ?? response)}\n`)
  const oneAfterTheOther = async () => {
    for (;;) {
      const value = next
      next += 1
      const inputs = givenFor(options, value)
      say(await runtime.begin(options.flow, { id: `run-${value}`, inputs }).result)
    }
  }
  await Promise.all(Array.from({ length: ABREAST }, oneAfterTheOther))
}

const [, script = '', given] = process.argv
if (script.endsWith('workflow-kill/worker.mjs') && given !== undefined) {
  work(JSON.parse(given)).catch((error) => {
    writeSync(1, `${error?.code ?? 'error'} - ${error}\n`)
    process.exit(1)
  })
}
