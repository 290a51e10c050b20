import type { JsonObject } from '../../core/index.js'
import type { SignedTransaction } from '../port.js'
import type { RpcCall, Settled } from '../rpc/rpc.js'
import { answered, count, object, text, withContext } from './answers.js'
import type { SolanaChain } from './chain.js'
import { type DurableNonce, noncesCall, noncesIn } from './durable-nonce.js'
import type { Kit } from './kit.js'
import type { Lifetime } from './message.js'

/** How long what is signed now can be included, as the chain has said. */
export interface Living {
  readonly lifetime: Lifetime
  /** Those of the payer; with them, the lifetime is that of one of them. */
  readonly nonces: readonly DurableNonce[]
  /** Slot of the state that the blockhash, or the nonce, comes from. */
  readonly slot: number
}

const METHOD = 'getLatestBlockhash'

/** What is asked to know it, for a batch; its answers stand first. */
export function lifetimeCalls({ settings }: SolanaChain, commitment: string): readonly RpcCall[] {
  const { durableNonces } = settings
  const latest = { method: METHOD, params: [{ commitment }] }
  return durableNonces.length === 0 ? [latest] : [latest, noncesCall(durableNonces, commitment)]
}

/** A payer without a nonce account of its own gets a blockhash. */
export function lifetimeIn(
  kit: Kit,
  chain: SolanaChain,
  payer: string,
  [latest, held]: readonly Settled[]
): Living {
  const { durableNonces } = chain.settings
  if (durableNonces.length > 0) {
    const { slot, nonces } = noncesIn(kit, durableNonces, answered(held))
    const own = nonces.filter(({ authority }) => authority === payer)
    const [first] = own
    if (first !== undefined) return { slot, nonces: own, lifetime: first }
  }
  const { slot, value } = withContext(answered(latest), METHOD)
  const { blockhash, lastValidBlockHeight } = object(value, METHOD)
  const lifetime = {
    blockhash: text(blockhash, METHOD),
    lastValidBlockHeight: count(lastValidBlockHeight, METHOD)
  }
  return { slot, nonces: [], lifetime }
}

/** Whether what is signed here would expire, where it must not. */
export function lacksNonce({ settings }: SolanaChain, { nonces }: Living): boolean {
  return settings.durableNonces.length > 0 && nonces.length === 0
}

/** With the nonce that what is signed now is to use. */
export function withNonce<Draft extends Living>(chain: SolanaChain, draft: Draft): Draft {
  const nonce = chain.takeNonce(draft.nonces)
  return nonce === undefined ? draft : { ...draft, lifetime: nonce }
}

/** As a signed transaction says it. */
export function livesUntil({
  lifetime,
  slot
}: Living): Pick<SignedTransaction, 'validUntil'> & { readonly lifetime: JsonObject } {
  if ('blockhash' in lifetime) {
    return { validUntil: lifetime.lastValidBlockHeight, lifetime: { slot } }
  }
  const { account, value } = lifetime
  return { validUntil: null, lifetime: { slot, nonce_account: account, nonce: value } }
}
