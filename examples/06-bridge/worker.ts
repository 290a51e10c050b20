import { privateKeyToAccount } from 'viem/accounts'
import { anvilKeys } from '../03-evm-transfer/anvil.js'
import { mint, user, vault } from './accounts.js'
import { openTally, RUN, type Scene, workflow } from './tally.js'

/** Carries out the workflow, or continues it where an earlier process has died. */

const told = new Set(['tx_sent', 'tx_confirmed', 'node_waiting'])
const scene = JSON.parse(process.argv[2] ?? '') as Scene
const token = { chain_id: scene.evm, address: scene.token, symbol: 'EXT', decimals: 6 }
await using tally = await openTally(scene)
// The same id with the same document and inputs is the same run.
const run = tally.begin(await workflow(), {
  id: RUN,
  inputs: {
    inputs: {
      cex_address: privateKeyToAccount(anvilKeys[2]).address,
      payment: '12.5',
      bridge_amount: '500',
      solana_address: user.address,
      mint: mint.address
    },
    contracts: { bridge_spender: scene.lock, vault: vault.address },
    calculated: { token }
  }
})
for await (const event of run) {
  if (event.type === 'block.settled' && event.path !== 'root') {
    say(event.path, event.response.success ? 'done' : `failed: ${event.response.reason}`)
  } else if (event.type === 'log') {
    if (told.has(event.message)) say(event.path, event.message)
  } else if (event.type === 'waiting' && event.reason === 'confirmation') {
    say(event.path, 'approved by the example')
    await run.approve(event.token, { digest: event.digest, by: 'the example' })
  }
}
const { status, response } = await run.result
console.log(status, JSON.stringify(response.data ?? response.details))
process.exitCode = status === 'done' ? 0 : 1

function say(path: string, words: string): void {
  console.log(path.replace('root/', ''), words)
}
