import { readFileSync } from 'node:fs'
import {
  type Abi,
  createPublicClient,
  createWalletClient,
  getAddress,
  type Hex,
  http,
  type PublicClient,
  type WalletClient
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  type Anvil,
  type AnvilOptions,
  anvilKeys,
  startAnvil
} from '../../examples/03-evm-transfer/anvil.js'
import type { Json, JsonObject } from '../../src/core/index.js'
import type { Execution } from '../../src/executor/index.js'

/** A contract as the committed files have it. */
export interface Artifact {
  readonly abi: readonly JsonObject[]
  readonly bytecode: Hex
}

export function artifact(name: 'ExampleToken' | 'BridgeLock' | 'Multicall3'): Artifact {
  const file = new URL(`../vectors/contracts/${name}.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** A fragment of an ABI by its name; of overloaded functions, the one with these inputs. */
export function fragment({ abi }: Artifact, name: string, inputs?: number): JsonObject {
  const found = abi.find(
    (one) =>
      one['name'] === name && (inputs === undefined || (one['inputs'] as Json[]).length === inputs)
  )
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}

/** Of a function whose outputs have no names: AIS documents give them some. */
export function namedOutputs(abi: JsonObject, ...names: readonly string[]): JsonObject {
  const outputs = (abi['outputs'] as JsonObject[]).map((output, index) => ({
    ...output,
    name: names[index] ?? String(index)
  }))
  return { ...abi, outputs }
}

export { anvilKeys }
export const accounts = anvilKeys.map((key) => privateKeyToAccount(key))
export const [owner, other, third] = accounts as [
  (typeof accounts)[number],
  (typeof accounts)[number],
  (typeof accounts)[number]
]

/** An anvil with a second pair of eyes: viem's own client, which shares no code with ours. */
export interface TestChain extends AsyncDisposable {
  readonly anvil: Anvil
  readonly url: string
  readonly id: string
  readonly client: PublicClient
  readonly wallet: WalletClient
  deploy(contract: Artifact, args: readonly unknown[]): Promise<Hex>
  rpc(method: string, params: readonly Json[]): Promise<Json>
}

export async function startChain(options: AnvilOptions = {}): Promise<TestChain> {
  const anvil = await startAnvil(options)
  const chain = {
    id: anvil.chainId,
    name: 'anvil',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [anvil.url] } }
  }
  const transport = http(anvil.url, { retryCount: 0 })
  const timing = { pollingInterval: 20, cacheTime: 0 }
  const client = createPublicClient({ chain, transport, ...timing }) as PublicClient
  const wallet = createWalletClient({ chain, transport, ...timing, account: owner })
  const rpc = (method: string, params: readonly Json[]) =>
    client.request({ method, params } as never) as Promise<Json>
  return {
    anvil,
    url: anvil.url,
    id: `eip155:${anvil.chainId}`,
    client,
    wallet,
    rpc,
    deploy: async ({ abi, bytecode }, args) => {
      const hash = await wallet.deployContract({
        abi: abi as unknown as Abi,
        bytecode,
        args: [...args]
      })
      const { contractAddress } = await client.waitForTransactionReceipt({ hash })
      if (contractAddress == null) throw new Error('nothing was deployed')
      return getAddress(contractAddress)
    },
    [Symbol.asyncDispose]: () => anvil.stop()
  }
}

/** A write to a contract by the name of its function. */
export function call(
  to: string,
  contract: Artifact,
  name: string,
  args: JsonObject,
  more: JsonObject = {}
): Execution {
  return { type: 'evm_call', to, abi: fragment(contract, name), args, ...more }
}

/** Waits until so many transactions wait for a block. */
export async function mempool(chain: TestChain, size: number): Promise<void> {
  for (let looks = 0; looks < 1_000; looks += 1) {
    const { pending } = (await chain.rpc('txpool_status', [])) as { readonly pending: string }
    if (Number(pending) >= size) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error('nothing was sent')
}
