import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createRuntime, type RunHandle } from 'tallystick'
import { chainProviders, evmExecutor } from 'tallystick/evm'
import { anvilKeys, startAnvil } from './anvil.js'
import { deployContracts } from './deploy.js'

/** A workflow on a real EVM chain, which the example starts. `npm run example 03-evm-transfer` */

// Compiled code lies in dist/examples; documents lie beside the sources.
const here = fileURLToPath(new URL('../../../examples/03-evm-transfer/', import.meta.url))
const text = (name: string) => readFile(join(here, name), 'utf8')
const recipient = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

const folder = await mkdtemp(join(tmpdir(), 'tally-evm-'))
try {
  await using anvil = await startAnvil({ arguments: ['--block-time', '0.2'] })
  const { token, bridge, owner } = await deployContracts(anvil)
  const evm = evmExecutor({
    chains: {
      'eip155:31337': { rpc: [anvil.url], signer: 'env:EXAMPLE_KEY', confirmations: 2, pollMs: 50 }
    },
    // The key of an account that every anvil has.
    environment: { EXAMPLE_KEY: anvilKeys[0] }
  })
  await using tally = await createRuntime({
    location: join(folder, 'ledger'),
    create: 'if-absent',
    insecurePlaintextKey: true,
    providers: chainProviders([evm]),
    workflow: {
      protocols: [await text('erc20.yaml'), await text('bridge.yaml')],
      writes: 'broadcast'
    }
  })
  const asset = { chain_id: 'eip155:31337', address: token, symbol: 'EXT', decimals: 6 }
  const run = tally.begin(await text('pay.yaml'), {
    id: 'example',
    inputs: {
      inputs: { recipient, payment: '12.5', bridged: '30' },
      ctx: { wallet_address: owner },
      contracts: { bridge },
      calculated: { token: asset }
    }
  })
  await show(run)
  const { status, response } = await run.result
  console.log(status, JSON.stringify(response.data ?? response.details))
  const report = await tally.replay()
  console.log(report.line)
  process.exitCode = status === 'done' && report.ok ? 0 : 1
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** Tells what is done, and says yes to the one thing that the policy asks about. */
async function show(run: RunHandle): Promise<void> {
  for await (const event of run) {
    if (event.type === 'block.settled') {
      console.log(' ', event.path.replace('root/', ''), event.response.success ? 'done' : 'failed')
    } else if (event.type === 'waiting' && event.reason === 'confirmation') {
      console.log('  approving', event.path.replace('root/', ''))
      await run.approve(event.token, { digest: event.digest, by: 'the example' })
    }
  }
}
