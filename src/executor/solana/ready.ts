import { isJsonObject, type Json } from '../../core/index.js'
import type { ReadyRequest, ReadyState } from '../port.js'
import type { RpcCall } from '../rpc/rpc.js'
import { RpcError } from '../rpc/rpc-error.js'
import { answered, count, list, whole, withContext } from './answers.js'
import type { SolanaChain } from './chain.js'
import { SIGNATURE_LAMPORTS } from './fees.js'

/** Accounts that one request may ask for. */
const ACCOUNTS_AT_ONCE = 100

/** The newest slot, the payer's balance and whether programs are at addresses. */
export async function readySolana(
  chain: SolanaChain,
  { payer, contracts }: ReadyRequest,
  signal: AbortSignal
): Promise<ReadyState> {
  return chain.guarded({ phase: 'check', executionType: null }, async () => {
    const { commitment } = chain.settings
    const calls: RpcCall[] = [{ method: 'getSlot', params: [{ commitment }] }]
    if (payer !== null) calls.push({ method: 'getBalance', params: [payer, { commitment }] })
    const [slot, balance = null] = await chain.rpc.settle(calls, signal)
    const height = String(count(answered(slot), 'getSlot'))
    const withoutCode: string[] = []
    for (let start = 0; start < contracts.length; start += ACCOUNTS_AT_ONCE) {
      const part = contracts.slice(start, start + ACCOUNTS_AT_ONCE)
      const none = { offset: 0, length: 0 }
      const options = { encoding: 'base64', dataSlice: none, commitment }
      const answer = await chain.call('getMultipleAccounts', [part, options], signal)
      const accounts = list(withContext(answer, 'getMultipleAccounts').value, 'getMultipleAccounts')
      withoutCode.push(...part.filter((_, index) => !isProgram(accounts[index] ?? null)))
    }
    // Where a node refuses to say, preparing a write will.
    const isKnown = payer !== null && !(balance instanceof RpcError)
    return { height, canPayFees: isKnown ? canPay(balance) : null, withoutCode }
  })
}

function canPay(balance: Json): boolean {
  const { value } = withContext(balance, 'getBalance')
  return BigInt(whole(value, 'getBalance')) >= SIGNATURE_LAMPORTS
}

function isProgram(account: Json): boolean {
  return isJsonObject(account) && account['executable'] === true
}
