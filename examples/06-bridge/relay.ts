import { readFile } from 'node:fs/promises'
import type { Abi, Hex } from 'viem'
import { anvilKeys } from '../03-evm-transfer/anvil.js'
import { mint, relayer } from './accounts.js'
import { relayOnce } from './relayer.js'

/** The relayer as a process of its own: looks again and again, until it is ended. */

const LOOK_MS = 100
const given = JSON.parse(process.argv[2] ?? '') as {
  readonly evmUrl: string
  readonly solanaUrl: string
  readonly lock: Hex
  readonly token: Hex
  readonly checkpoint: string
}
const artifact = new URL('../../../test/vectors/contracts/BridgeLock.json', import.meta.url)
const { abi } = JSON.parse(await readFile(artifact, 'utf8')) as { readonly abi: Abi }
for (;;) {
  try {
    await relayOnce({
      ...given,
      lockAbi: abi,
      mint: mint.address,
      decimals: 6,
      evmKey: anvilKeys[0],
      signer: relayer.signer,
      say: (words) => console.log(words)
    })
  } catch (error) {
    // A node may be down for a while: what was missed is still there.
    console.log(error instanceof Error ? error.message : 'no answer')
  }
  await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
}
