import { readFile } from 'node:fs/promises'
import { type Abi, createPublicClient, createWalletClient, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type Anvil, anvilKeys } from './anvil.js'

const contracts = new URL('../../../test/vectors/contracts/', import.meta.url)

/** Puts a token, of which the first account has 1,000, and a bridge on a chain. */
export async function deployContracts({ url, chainId }: Anvil) {
  const account = privateKeyToAccount(anvilKeys[0])
  const chain = {
    id: chainId,
    name: 'anvil',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } }
  }
  const client = createPublicClient({ chain, transport: http(url), pollingInterval: 50 })
  const wallet = createWalletClient({ chain, transport: http(url), account })
  const deploy = async (name: string, args: readonly unknown[]): Promise<Hex> => {
    const { abi, bytecode } = JSON.parse(await readFile(new URL(`${name}.json`, contracts), 'utf8'))
    const hash = await wallet.deployContract({ abi: abi as Abi, bytecode, args: [...args] })
    const { contractAddress } = await client.waitForTransactionReceipt({ hash })
    if (contractAddress == null) throw new Error(`${name} was not deployed`)
    return contractAddress
  }
  const token = await deploy('ExampleToken', ['Example', 'EXT', 6, 1_000_000_000n])
  const bridge = await deploy('BridgeLock', [])
  return { token, bridge, owner: account.address }
}
