import { executorError, sha256Hex } from '../../core/index.js'
import { secretBehind } from '../rpc/secret.js'
import type { SolanaChainSettings, SolanaSigner } from './config.js'
import type { Kit } from './kit.js'

/** What names an account: a signer of the configuration, or an address to watch. */
export type FoundAccount =
  | { readonly kind: 'signer'; readonly address: string; readonly signer: SolanaSigner }
  | { readonly kind: 'watched'; readonly address: string | null }
  | { readonly kind: 'missing_secret' }
  | { readonly kind: 'unknown' }

/** What a chain knows of its accounts. */
interface ChainAccounts {
  readonly settings: Pick<SolanaChainSettings, 'signers' | 'environment' | 'redactor'>
  readonly keys: KnownKeys
}

/**
 * The account of a request. Keys are read anew each time: behind a reference there may be another.
 */
export async function findAccount(
  kit: Kit,
  chain: ChainAccounts,
  name: string
): Promise<FoundAccount> {
  const { signers } = chain.settings
  const configured = signers.get(name)
  if (configured === undefined) {
    if (kit.isAddress(name)) return await byAddress(kit, chain, name)
    // No signer is configured: any wallet may sign.
    return name === 'default' ? { kind: 'watched', address: null } : { kind: 'unknown' }
  }
  if (typeof configured !== 'string') {
    return { kind: 'signer', address: configured.address, signer: configured }
  }
  const secret = await secretBehind(configured, chain.settings)
  if (secret === undefined) return { kind: 'missing_secret' }
  const signer = await keySigner(kit, chain.keys, { secret, name })
  return { kind: 'signer', address: signer.address, signer }
}

/** A configured signer may be asked for by its address. */
async function byAddress(kit: Kit, chain: ChainAccounts, address: string): Promise<FoundAccount> {
  for (const name of chain.settings.signers.keys()) {
    if (kit.isAddress(name)) continue
    const found = await findAccount(kit, chain, name)
    if (found.kind === 'signer' && found.address === address) return found
  }
  return { kind: 'watched', address }
}

async function keySigner(
  kit: Kit,
  keys: KnownKeys,
  { secret, name }: { readonly secret: string; readonly name: string }
): Promise<SolanaSigner> {
  const known = await keys.of(kit, name, secret)
  return { address: known.address, signMessage: known.sign }
}

interface KnownKey {
  readonly digest: string
  readonly address: string
  /** Through a handle from which the key cannot be taken. */
  sign(message: Uint8Array): Promise<Uint8Array>
}

/**
 * The signers whose keys were read: to import one takes longer than to sign.
 *
 * Owns: of each signer the last key's digest, its address, and a handle that signs. Does not own:
 * bytes of keys; none is kept.
 */
export class KnownKeys {
  readonly #known = new Map<string, KnownKey>()

  async of(kit: Kit, name: string, secret: string): Promise<KnownKey> {
    const digest = sha256Hex(secret)
    const known = this.#known.get(name)
    // Behind the same name there may be another key by now.
    if (known?.digest === digest) return known
    const bytes = keyBytes(kit, secret)
    if (bytes?.length !== 64) throw executorError('executor.invalid_solana_key', { name })
    try {
      const pair = await kit.createKeyPairFromBytes(bytes)
      const address: string = await kit.getAddressFromPublicKey(pair.publicKey)
      const sign = (message: Uint8Array) => kit.signBytes(pair.privateKey, Uint8Array.from(message))
      const made = { digest, address, sign }
      this.#known.set(name, made)
      return made
    } catch {
      throw executorError('executor.invalid_solana_key', { name })
    } finally {
      bytes.fill(0)
    }
  }
}

/** 64 numbers as the Solana CLI writes them, or the same bytes in base58. */
function keyBytes(kit: Kit, secret: string): Uint8Array | undefined {
  try {
    if (!secret.startsWith('[')) return Uint8Array.from(kit.getBase58Encoder().encode(secret))
    const numbers: unknown = JSON.parse(secret)
    const isByte = (one: unknown) => Number.isInteger(one) && Number(one) >= 0 && Number(one) < 256
    return Array.isArray(numbers) && numbers.every(isByte) ? Uint8Array.from(numbers) : undefined
  } catch {
    return undefined
  }
}
