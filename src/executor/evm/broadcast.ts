import { chainFailed } from '../failure.js'
import type { Broadcast, SignedTransaction } from '../port.js'
import { RpcError } from '../rpc/rpc-error.js'
import type { EvmChain } from './chain.js'

const about = { phase: 'send', executionType: null } as const

/**
 * Sends signed bytes. A node's refusal is not believed by itself: bytes that it already has are
 * refused as well, so it counts only when the chain, asked by hash, says that it has none.
 */
export async function broadcastEvm(
  chain: EvmChain,
  transaction: SignedTransaction,
  signal: AbortSignal
): Promise<Broadcast> {
  const { hash } = transaction
  const owner = chain.nonces(transaction.from)
  const claim = await owner.claim(transaction, signal)
  if (claim.kind === 'superseded') {
    const message = 'another transaction of this account took its nonce before it was sent'
    throw chainFailed('nonce_superseded', {
      ...about,
      chain: chain.id,
      message,
      transaction: { hash }
    })
  }
  if (claim.kind === 'taken') return { hash, answer: 'unanswered' }
  try {
    const outcome = await send(chain, transaction, signal)
    if (outcome.kind !== 'refused' || !claim.fresh) {
      owner.sent(transaction)
      return { hash, answer: outcome.kind === 'refused' ? 'unanswered' : outcome.kind }
    }
    const failure = await refusal(chain, transaction, outcome.error, signal)
    owner.refused(transaction)
    throw failure
  } catch (error) {
    // Does nothing after the turn was left in good order.
    owner.sent(transaction)
    throw error
  }
}

type Sent =
  | { readonly kind: 'accepted' | 'known' | 'unanswered' }
  /** The node said no and does not know the bytes, or they never left. */
  | { readonly kind: 'refused'; readonly error: RpcError }

async function send(
  chain: EvmChain,
  { raw, hash }: SignedTransaction,
  signal: AbortSignal
): Promise<Sent> {
  let refused: RpcError | undefined
  try {
    await chain.rpc.send('eth_sendRawTransaction', [raw], signal)
    return { kind: 'accepted' }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    if (error.neverSent) return { kind: 'refused', error }
    if (error.answered) refused = error
  }
  const isKnown = await askForIt(chain, hash, signal)
  if (isKnown === true) return { kind: 'known' }
  return refused !== undefined && isKnown === false && isDefinite(refused)
    ? { kind: 'refused', error: refused }
    : { kind: 'unanswered' }
}

/** Whether the chain has it; nothing when it cannot be asked. */
async function askForIt(
  chain: EvmChain,
  hash: string,
  signal: AbortSignal
): Promise<boolean | undefined> {
  try {
    return (await chain.call('eth_getTransactionByHash', [hash], signal)) !== null
  } catch (error) {
    if (error instanceof RpcError) return undefined
    throw error
  }
}

/**
 * Not when the node says that it has the bytes, in the words of Geth, Erigon, Besu, Nethermind and
 * anvil (another node behind the same address may not show them yet), nor when it broke down.
 */
function isDefinite({ nodeMessage }: RpcError): boolean {
  return !/\bknown transaction|already ?known|already imported|internal error/i.test(nodeMessage)
}

/** A refusal of bytes that were never sent before: certainly nothing happened. */
async function refusal(
  chain: EvmChain,
  { from, nonce, hash }: SignedTransaction,
  error: RpcError,
  signal: AbortSignal
) {
  if (error.neverSent) return chain.asFailure(error, about)
  const fields = {
    ...about,
    chain: chain.id,
    rpc: error.exchange,
    transaction: { hash, from, nonce }
  }
  const said = error.nodeMessage
  if (/nonce too low|nonce is too low/i.test(said) || (await isUsed(chain, from, nonce, signal))) {
    return chainFailed('nonce_conflict', {
      ...fields,
      message: 'another transaction has used its nonce'
    })
  }
  if (/insufficient funds/i.test(said)) {
    const message = 'the account cannot pay for value and gas'
    return chainFailed('insufficient_funds', { ...fields, message })
  }
  return chainFailed('rejected', { ...fields, message: `the node refuses it: ${said}` })
}

async function isUsed(
  chain: EvmChain,
  from: string,
  nonce: number | null,
  signal: AbortSignal
): Promise<boolean> {
  try {
    const included = await chain.call('eth_getTransactionCount', [from, 'latest'], signal)
    return nonce !== null && typeof included === 'string' && BigInt(included) > BigInt(nonce)
  } catch {
    return false
  }
}
