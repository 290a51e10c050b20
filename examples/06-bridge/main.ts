import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Address } from '@solana/kit'
import { getBurnCheckedInstruction } from '@solana-program/token'
import { startSolanaNode } from 'tallystick/testing/solana'
import { startAnvil } from '../03-evm-transfer/anvil.js'
import { deployContracts } from '../03-evm-transfer/deploy.js'
import { mint, relayer, user, vault } from './accounts.js'
import { Child } from './child.js'
import { callerOf } from './json-rpc.js'
import { memo, sendAll } from './solana.js'
import { openTally, RUN, type Scene } from './tally.js'

/**
 * A workflow over two chains, whose process is killed twice. `npm run example 06-bridge`
 */

const SOL = 1_000_000_000n
/** Who is given what is unlocked: an account that has nothing to do with the workflow. */
const BACK_TO = `0x${'5'.repeat(40)}`
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

/** Burns tokens of the vault, and says in the same transaction for whom. */
function burn(
  solanaUrl: string,
  { from, units, to }: { readonly from: string; readonly units: bigint; readonly to: string }
): Promise<string> {
  const about = { account: from as Address, mint: mint.address, authority: vault.signer }
  return sendAll(callerOf(solanaUrl), vault.signer, [
    getBurnCheckedInstruction({ ...about, amount: units, decimals: 6 }),
    memo(`unlock ${to}`)
  ])
}

/** Both chains live as long as this. */
async function play(): Promise<Scene> {
  await using anvil = await startAnvil({ arguments: ['--block-time', '0.2'] })
  await using node = await startSolanaNode({
    balances: { [user.address]: SOL, [relayer.address]: SOL, [vault.address]: SOL },
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
  if (code !== 0) throw new Error('the workflow was not carried out')
  console.log(`deposited on ${node.id}: ${node.tokens(held)} of 500000000`)

  // The way back: the vault burns a part, and the relayer unlocks as much on the EVM chain.
  const unlocked = relay.prints('unlocked 200000000')
  await burn(node.url, { from: held, units: 200_000_000n, to: BACK_TO })
  await unlocked
  await relay.kill()
  const left = `${node.tokens(held)} of 500000000 are left there`
  console.log(`unlocked on ${scene.evm}: 200000000 for ${BACK_TO}; ${left}`)
  return scene
}
