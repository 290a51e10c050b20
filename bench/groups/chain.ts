import { readFileSync } from 'node:fs'
import { type Abi, createPublicClient, createWalletClient, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type Anvil, anvilKeys, startAnvil } from '../../examples/03-evm-transfer/anvil.js'
import { type BlockContext, defineBlock } from '../../src/code/index.js'
import type { Json } from '../../src/core/index.js'
import { evmExecutor } from '../../src/executor/evm/index.js'
import {
  chainProviders,
  type Execution,
  type Executor,
  type SendOptions,
  sendTransaction
} from '../../src/executor/index.js'
import { createRuntime } from '../../src/runtime/index.js'
import { type Contender, interleaved, rateOf, Scratch } from '../measure.js'
import { type Group, shown } from '../row.js'

const WRITES = 40
const bridge = JSON.parse(
  readFileSync(new URL('../../../test/vectors/contracts/BridgeLock.json', import.meta.url), 'utf8')
) as { readonly abi: readonly { readonly name?: string }[]; readonly bytecode: Hex }
const note = bridge.abi.find(({ name }) => name === 'note')

/**
 * A write to a local chain from preparing to its receipt, beside the same through viem alone; and
 * as a run, which has four flushes of the disk on its way.
 */
export const chain: Group = {
  rows: ['chain.write', 'chain.write.viem', 'chain.write.run'],
  async measure({ rounds }) {
    const scratch = new Scratch()
    const anvil = await startAnvil()
    const rates = await interleaved(
      [await raw(anvil), await staged(anvil), await asRun(anvil, scratch.directory())],
      rounds
    )
    await anvil.stop()
    scratch.remove()
    const msOf = (name: string) => 1_000 / rateOf(rates, name)
    const [value, floor] = [msOf('staged'), msOf('viem')]
    const row = { name: 'chain.write', value, unit: 'ms', floor, ratio: value / floor }
    return [
      { ...row, target: 1.1, better: 'lower' },
      shown('chain.write.viem', floor, 'ms', 'lower'),
      shown('chain.write.run', msOf('run'), 'ms', 'lower')
    ]
  }
}

function clients({ url, chainId }: Anvil, key: Hex) {
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 }
  const rpcUrls = { default: { http: [url] } }
  const definition = { id: chainId, name: 'anvil', nativeCurrency, rpcUrls }
  const transport = http(url, { retryCount: 0 })
  const account = privateKeyToAccount(key)
  return {
    reader: createPublicClient({ chain: definition, transport, pollingInterval: 10 }),
    wallet: createWalletClient({ chain: definition, transport, account })
  }
}

async function deployed(anvil: Anvil, key: Hex): Promise<Hex> {
  const { reader, wallet } = clients(anvil, key)
  const { abi, bytecode } = bridge
  const hash = await wallet.deployContract({ abi: abi as unknown as Abi, bytecode })
  const { contractAddress } = await reader.waitForTransactionReceipt({ hash })
  if (contractAddress == null) throw new Error('nothing was deployed')
  return contractAddress
}

async function raw(anvil: Anvil): Promise<Contender> {
  const [, key] = anvilKeys
  const address = await deployed(anvil, key)
  const { reader, wallet } = clients(anvil, key)
  const abi = bridge.abi as unknown as Abi
  return {
    name: 'viem',
    run: async () => {
      for (let index = 0; index < WRITES; index += 1) {
        const args = [BigInt(index)]
        const hash = await wallet.writeContract({ address, abi, functionName: 'note', args })
        await reader.waitForTransactionReceipt({ hash })
      }
      return WRITES
    },
    close: async () => undefined
  }
}

function executorOn(anvil: Anvil, key: Hex): { readonly id: string; readonly evm: Executor } {
  const id = `eip155:${anvil.chainId}`
  const evm = evmExecutor({
    chains: { [id]: { rpc: [anvil.url], signer: 'env:KEY', pollMs: 10, timeoutMs: 10_000 } },
    environment: { KEY: key }
  })
  return { id, evm }
}

/** The stages of a write, one after the other, without a run around them. */
async function staged(anvil: Anvil): Promise<Contender> {
  const [, , key] = anvilKeys
  const to = await deployed(anvil, key)
  const { id, evm } = executorOn(anvil, key)
  const call = { key: 'bench', signal: new AbortController().signal }
  const write = async (value: number) => {
    const execution = { type: 'evm_call', to, abi: note, args: { value } } as unknown as Execution
    const prepared = await evm.prepare({ chain: id, execution }, call)
    if (prepared.kind !== 'signed') throw new Error('nothing was signed')
    await evm.broadcast(prepared.transaction, call)
    const look = { ...prepared.transaction, execution, expected: null }
    for (;;) if ((await evm.look(look, call)).status === 'included') return
  }
  return {
    name: 'staged',
    run: async () => {
      for (let index = 0; index < WRITES; index += 1) await write(index)
      return WRITES
    },
    close: async () => undefined
  }
}

async function asRun(anvil: Anvil, location: string): Promise<Contender> {
  const [key] = anvilKeys
  const to = await deployed(anvil, key)
  const { id, evm } = executorOn(anvil, key)
  const send = defineBlock({
    name: 'chain.send',
    version: '1.0.0',
    sideEffects: 'idempotent',
    run: async (ctx: BlockContext, input: unknown) => {
      const { hash } = await sendTransaction(ctx, input as SendOptions)
      return { hash }
    }
  })
  const tally = await createRuntime({
    location,
    create: 'if-absent',
    insecurePlaintextKey: true,
    serve: false,
    blocks: [send],
    providers: chainProviders([evm])
  })
  const document = {
    schema: 'tally-composite/1',
    name: 'writes',
    version: '1.0.0',
    entry_point: 'send',
    nodes: { send: { block: 'chain.send' } },
    transitions: {}
  }
  let runs = 0
  return {
    name: 'run',
    run: async () => {
      for (let index = 0; index < WRITES; index += 1) {
        const execution = { type: 'evm_call', to, abi: note, args: { value: index } }
        const inputs = { chain: id, execution } as unknown as Json
        runs += 1
        const { status } = await tally.begin(document, { id: `write-${runs}`, inputs }).result
        if (status !== 'done') throw new Error(`a write ended ${status}`)
      }
      return WRITES
    },
    close: () => tally.close()
  }
}
