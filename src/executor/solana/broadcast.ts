import type { Broadcast, SignedTransaction } from '../port.js'
import { MalformedAnswer } from '../rpc/malformed.js'
import type { RpcCall, Settled } from '../rpc/rpc.js'
import { RpcError } from '../rpc/rpc-error.js'
import type { SolanaChain } from './chain.js'
import { statusOf } from './status.js'

/**
 * Sends signed bytes. A node's refusal is not believed: bytes that have landed are refused as well,
 * and what was sent a moment ago may still land. The step finds out by looking, and the height of
 * the chain says when it is over.
 */
export async function broadcastSolana(
  chain: SolanaChain,
  { raw, hash }: SignedTransaction,
  signal: AbortSignal
): Promise<Broadcast> {
  // It was simulated when it was prepared; a second time says nothing about what lands.
  const call: RpcCall = {
    method: 'sendTransaction',
    params: [raw, { encoding: 'base64', skipPreflight: true }]
  }
  if (!chain.wasSent(hash)) {
    chain.noteSent(hash)
    return { hash, answer: answerOf(await toOne(chain, call, signal), hash) }
  }
  if (await hasStatus(chain, hash, signal)) return { hash, answer: 'known' }
  // The endpoint that took it first has perhaps not passed it on.
  const each = await chain.rpc.settleEach([call], signal)
  const answers = each.map((one) => answerOf(one instanceof RpcError ? one : one[0], hash))
  return { hash, answer: answers.find((one) => one !== 'unanswered') ?? 'unanswered' }
}

function answerOf(settled: Settled | undefined, hash: string): Broadcast['answer'] {
  if (settled === hash) return 'accepted'
  return settled instanceof RpcError && hasLanded(settled) ? 'known' : 'unanswered'
}

async function hasStatus(chain: SolanaChain, hash: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await statusOf(chain, { hash, isOld: false }, signal)).status !== null
  } catch (error) {
    if (error instanceof RpcError || error instanceof MalformedAnswer) return false
    throw error
  }
}

/** The next endpoint is asked when one does not answer: equal bytes take effect once. */
async function toOne(
  chain: SolanaChain,
  { method, params }: RpcCall,
  signal: AbortSignal
): Promise<Settled> {
  try {
    return await chain.call(method, params, signal)
  } catch (error) {
    if (error instanceof RpcError) return error
    throw error
  }
}

function hasLanded(error: RpcError): boolean {
  const { exchange, nodeMessage } = error
  const said = `${nodeMessage} ${JSON.stringify(exchange.response)}`
  return error.answered && /AlreadyProcessed|already been processed/.test(said)
}
