import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSolanaNode } from 'tallystick/testing/solana'
import { startAnvil } from '../03-evm-transfer/anvil.js'
import { deployContracts } from '../03-evm-transfer/deploy.js'
import { mint, relayer, user, vault } from './accounts.js'
import { Child } from './child.js'
import { openTally, RUN, type Scene } from './tally.js'

/**
 * A workflow over two chains, whose process is killed twice. `npm run example 06-bridge`
 */

const SOL = 1_000_000_000n
const folder = await mkdtemp(join(tmpdir(), 'tally-bridge-'))
try {
  const scene = await play()
  // Both chains are gone: what follows knows the ledger alone.
  await using tally = await openTally(scene)
  const verified = await tally.verify()
  const replayed = await tally.replay()
  console.log(verified.ok ? 'verified' : 'not verified', `| ${replayed.line}`)
  const isDone = tally.run(RUN)?.status === 'done'
  process.exitCode = isDone && verified.ok && replayed.ok ? 0 : 1
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** Both chains live as long as this. */
async function play(): Promise<Scene> {
  await using anvil = await startAnvil({ arguments: ['--block-time', '0.2'] })
  await using node = await startSolanaNode({
    balances: { [user.address]: SOL, [relayer.address]: SOL },
    mints: [{ address: mint.address, decimals: 6, authority: relayer.address }]
  })
  const held = await node.giveTokens(mint.address, vault.address, 0n)
  const { token, bridge: lock } = await deployContracts(anvil)
  const urls = { evmUrl: anvil.url, solanaUrl: node.url }
  const location = join(folder, 'ledger')
  const scene = { ...urls, location, evm: 'eip155:31337', solana: node.id, lock, token }

  const first = new Child('worker', scene)
  await first.prints('bridge_send tx_sent')
  await first.kill()
  console.log('killed: the lock was just sent')

  const second = new Child('worker', scene)
  await second.prints('wait_arrival node_waiting')
  await second.kill()
  console.log('killed: it was waiting for the arrival')

  const third = new Child('worker', scene)
  await third.prints('wait_arrival node_waiting')
  const relaying = { ...urls, lock, token, checkpoint: join(folder, 'checkpoint.json') }
  const killed = new Child('relay', relaying)
  await killed.prints('minting')
  await killed.kill()
  console.log('killed: the relayer, while it was minting')
  const relay = new Child('relay', relaying)
  const code = await third.ended()
  await relay.kill()
  if (code !== 0) throw new Error('the workflow was not carried out')
  console.log(`deposited on ${node.id}: ${node.tokens(held)} of 500000000`)
  return scene
}
