import { TallyError } from '../../core/index.js'
import type { EvmChainSettings, EvmSigner, EvmTransaction } from './config.js'
import { secretBehind } from './secret.js'
import type { Hex, Viem } from './viem.js'

/** What names an account: a signer of the configuration, or an address to watch. */
export type FoundAccount =
  | { readonly kind: 'signer'; readonly address: Hex; readonly signer: EvmSigner }
  | { readonly kind: 'watched'; readonly address: Hex | null }
  | { readonly kind: 'missing_secret' }
  | { readonly kind: 'unknown' }

/**
 * The account of a request. Keys are read anew each time, so that none stays in memory longer than
 * it takes to sign.
 */
export async function findAccount(
  viem: Viem,
  settings: EvmChainSettings,
  name: string
): Promise<FoundAccount> {
  const { signers, environment } = settings
  const configured = signers.get(name)
  if (configured === undefined) {
    if (viem.isAddress(name)) return await byAddress(viem, settings, viem.getAddress(name))
    // Nobody is configured to sign: any wallet may.
    return name === 'default' ? { kind: 'watched', address: null } : { kind: 'unknown' }
  }
  if (typeof configured !== 'string') return signing(viem, configured)
  const key = await secretBehind(configured, environment)
  return key === undefined ? { kind: 'missing_secret' } : signing(viem, keySigner(viem, key, name))
}

/** A configured signer may be asked for by its address. */
async function byAddress(
  viem: Viem,
  settings: EvmChainSettings,
  address: Hex
): Promise<FoundAccount> {
  for (const name of settings.signers.keys()) {
    if (viem.isAddress(name)) continue
    const found = await findAccount(viem, settings, name)
    if (found.kind === 'signer' && found.address === address) return found
  }
  return { kind: 'watched', address }
}

function signing(viem: Viem, signer: EvmSigner): FoundAccount {
  return { kind: 'signer', address: viem.getAddress(signer.address), signer }
}

function keySigner(viem: Viem, key: string, name: string): EvmSigner {
  const hex = key.startsWith('0x') ? key : `0x${key}`
  if (!/^0x[0-9a-fA-F]{64}$/.test(hex)) throw new TallyError('executor.invalid_key', { name })
  const account = viem.accounts.privateKeyToAccount(hex as Hex)
  return {
    address: account.address,
    signTransaction: (transaction) => account.signTransaction(serialisable(transaction))
  }
}

/** As the coder of transactions takes it. */
export function serialisable(transaction: EvmTransaction) {
  const { fees, ...rest } = transaction
  return 'gasPrice' in fees
    ? { ...rest, ...fees, type: 'legacy' as const }
    : { ...rest, ...fees, type: 'eip1559' as const }
}
