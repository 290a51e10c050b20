import type { ReplacedTransaction, SignedTransaction, WriteRequest } from '../port.js'
import type { Settled } from '../rpc/rpc.js'
import { RpcError } from '../rpc/rpc-error.js'
import type { EvmChain } from './chain.js'
import type { EvmSigner, EvmTransaction } from './config.js'
import { feeCalls, feesOf, raisedFees } from './fees.js'
import { count, quantity } from './quantity.js'
import { type BuiltTransaction, checkFee, checkFunds, signed } from './signed.js'
import type { Hex, Viem } from './viem.js'

/** Whose transaction is replaced, and by what. */
interface Replacement {
  readonly address: Hex
  readonly signer: EvmSigner
  readonly request: WriteRequest & { readonly replaces: ReplacedTransaction }
}

/**
 * Signs what a transaction does once more, with its nonce and for more. Nothing of it is estimated
 * anew: the node may count what is replaced as done. Throws a failure `nonce_conflict` when the
 * nonce is not that transaction's any more.
 */
export async function replaceEvm(
  viem: Viem,
  chain: EvmChain,
  { address, signer, request }: Replacement,
  signal: AbortSignal
): Promise<SignedTransaction> {
  const { replaces, execution } = request
  const { transaction: replaced, raisePercent } = replaces
  const about = { phase: 'prepare', executionType: execution.type } as const
  const before = viem.parseTransaction(replaced.raw as Hex)
  const { to, data = '0x', value = 0n, gas } = before
  if (to == null || gas === undefined || replaced.from !== address) {
    throw chain.failed('invalid_execution', 'it is no transaction of this account', about)
  }
  let answers: readonly Settled[] = []
  const counts = async () => {
    const calls = [
      { method: 'eth_getTransactionCount', params: [address, 'latest'] },
      { method: 'eth_getBalance', params: [address, 'latest'] },
      ...feeCalls
    ]
    answers = await chain.rpc.settle(calls, signal)
    const included = count(answered(answers[0]), 'eth_getTransactionCount')
    return { included, pending: included }
  }
  const build = async (nonce: number) => {
    const [, balance = null, block = null, tip = null] = answers
    const usual = await feesOf(chain, { block, tip }, signal)
    const fees = raisedFees(feesIn(before), usual, raisePercent)
    const { chainId } = chain.settings
    const built: BuiltTransaction = { from: address, chainId, nonce, to, data, value, gas, fees }
    const available = quantity(answered(balance), 'eth_getBalance')
    checkFunds(chain, execution.type, { ...built, available })
    checkFee(chain, request, built)
    return { ...(await signed(viem, chain, signer, built)), replaces: replaced.hash }
  }
  const made = await chain.nonces(address).replace({ counts }, signal, { replaced, build })
  if (made !== undefined) return made
  const message = 'its nonce is used, or belongs to another transaction of this account'
  throw chain.failed('nonce_conflict', message, about)
}

function answered(settled: Settled = null) {
  if (settled instanceof RpcError) throw settled
  return settled
}

function feesIn(before: ReturnType<Viem['parseTransaction']>): EvmTransaction['fees'] {
  const { gasPrice = 0n, maxFeePerGas, maxPriorityFeePerGas = 0n } = before
  return maxFeePerGas === undefined ? { gasPrice } : { maxFeePerGas, maxPriorityFeePerGas }
}
