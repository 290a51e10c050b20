import { executorError, sha256Hex } from '../../core/index.js'
import { secretBehind } from '../rpc/secret.js'
import type { EvmChainSettings, EvmSigner, EvmTransaction } from './config.js'
import type { Hex, Viem } from './viem.js'

/** What names an account: a signer of the configuration, or an address to watch. */
export type FoundAccount =
  | { readonly kind: 'signer'; readonly address: Hex; readonly signer: EvmSigner }
  | { readonly kind: 'watched'; readonly address: Hex | null }
  | { readonly kind: 'missing_secret' }
  | { readonly kind: 'unknown' }

/** What a chain knows of its accounts. */
interface ChainAccounts {
  readonly settings: Pick<EvmChainSettings, 'signers' | 'environment' | 'redactor'>
  readonly keyAddresses: KeyAddresses
}

/**
 * The account of a request. Keys are read anew each time: behind a reference there may be another.
 */
export async function findAccount(
  viem: Viem,
  chain: ChainAccounts,
  name: string
): Promise<FoundAccount> {
  const { signers } = chain.settings
  const configured = signers.get(name)
  if (configured === undefined) {
    if (viem.isAddress(name)) return await byAddress(viem, chain, viem.getAddress(name))
    // No signer is configured: any wallet may sign.
    return name === 'default' ? { kind: 'watched', address: null } : { kind: 'unknown' }
  }
  if (typeof configured !== 'string') return signing(viem, configured)
  const key = await secretBehind(configured, chain.settings)
  if (key === undefined) return { kind: 'missing_secret' }
  return signing(viem, keySigner(viem, chain.keyAddresses, { key, name }))
}

/** A configured signer may be asked for by its address. */
async function byAddress(viem: Viem, chain: ChainAccounts, address: Hex): Promise<FoundAccount> {
  for (const name of chain.settings.signers.keys()) {
    if (viem.isAddress(name)) continue
    const found = await findAccount(viem, chain, name)
    if (found.kind === 'signer' && found.address === address) return found
  }
  return { kind: 'watched', address }
}

function signing(viem: Viem, signer: EvmSigner): FoundAccount {
  return { kind: 'signer', address: viem.getAddress(signer.address), signer }
}

function keySigner(
  viem: Viem,
  addresses: KeyAddresses,
  { key, name }: { readonly key: string; readonly name: string }
): EvmSigner {
  const privateKey = (key.startsWith('0x') ? key : `0x${key}`) as Hex
  if (!/^0x[0-9a-fA-F]{64}$/.test(privateKey)) throw executorError('executor.invalid_key', { name })
  return {
    address: addresses.of(viem, name, privateKey),
    signTransaction: (transaction) =>
      viem.accounts.signTransaction({ privateKey, transaction: serialisable(transaction) })
  }
}

/**
 * The addresses of signers whose keys were read: to derive one takes as long as to sign.
 *
 * Owns: of each signer the last key's digest, and its address. Does not own: keys; none is kept.
 */
export class KeyAddresses {
  readonly #known = new Map<string, { readonly digest: string; readonly address: Hex }>()

  of(viem: Viem, name: string, privateKey: Hex): Hex {
    const digest = sha256Hex(privateKey)
    const known = this.#known.get(name)
    // Behind the same name there may be another key by now.
    if (known?.digest === digest) return known.address
    const address = viem.accounts.privateKeyToAddress(privateKey)
    this.#known.set(name, { digest, address })
    return address
  }
}

/** As the coder of transactions takes it. */
function serialisable(transaction: EvmTransaction) {
  const { fees, ...rest } = transaction
  return 'gasPrice' in fees
    ? { ...rest, ...fees, type: 'legacy' as const }
    : { ...rest, ...fees, type: 'eip1559' as const }
}
