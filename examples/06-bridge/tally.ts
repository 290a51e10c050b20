import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createRuntime } from 'tallystick'
import { bridgeExecutor } from 'tallystick/bridge'
import { chainProviders, evmExecutor } from 'tallystick/evm'
import { solanaExecutor } from 'tallystick/solana'
import { anvilKeys } from '../03-evm-transfer/anvil.js'
import { relayer, user } from './accounts.js'
import { lockBridge } from './lock-bridge.js'

// Compiled code lies in dist/examples; documents lie beside the sources.
const here = fileURLToPath(new URL('../../../examples/06-bridge/', import.meta.url))
const text = (name: string) => readFile(join(here, name), 'utf8')

/** What one process needs to know of the scene. */
export interface Scene {
  readonly location: string
  readonly evmUrl: string
  readonly solanaUrl: string
  /** CAIP-2. */
  readonly evm: string
  readonly solana: string
  readonly lock: string
  readonly token: string
}

export const RUN = 'example'

/** A ledger, with executors of both chains and, beside them, that of the bridge. */
export async function openTally({ location, evmUrl, solanaUrl, evm, solana, lock }: Scene) {
  const terms = { pollMs: 50 }
  const onEvm = evmExecutor({
    chains: { [evm]: { rpc: [evmUrl], signer: 'env:EVM_KEY', confirmations: 2, ...terms } },
    environment: { EVM_KEY: anvilKeys[0] }
  })
  const onSolana = solanaExecutor({
    chains: { [solana]: { rpc: [solanaUrl], signer: 'env:SOLANA_KEY', ...terms } },
    environment: { SOLANA_KEY: user.keyFile }
  })
  const bridge = lockBridge({ evm, solana, lock, relayer: relayer.address })
  const over = bridgeExecutor({ bridge, executors: [onEvm, onSolana] })
  return createRuntime({
    location,
    create: 'if-absent',
    insecurePlaintextKey: true,
    providers: chainProviders([onEvm, onSolana, over]),
    workflow: {
      protocols: [
        await text('../03-evm-transfer/erc20.yaml'),
        await text('lock-bridge.yaml'),
        await text('vault.yaml')
      ],
      writes: 'broadcast'
    }
  })
}

export function workflow(): Promise<string> {
  return text('bridge-and-deposit.yaml')
}
