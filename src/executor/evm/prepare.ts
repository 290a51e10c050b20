import type { EffectFailure } from '../../code/index.js'
import { type JsonObject, present } from '../../core/index.js'
import { chainFailed } from '../failure.js'
import type {
  Account,
  AccountRequest,
  Prepared,
  ReorgedTransaction,
  SignedTransaction,
  Simulation,
  WriteRequest
} from '../port.js'
import type { About } from '../rpc/failures.js'
import type { Settled } from '../rpc/rpc.js'
import { RpcError } from '../rpc/rpc-error.js'
import { DEFAULT_SIGNER } from '../rpc/settings.js'
import type { EvmChain } from './chain.js'
import { decodeRevert, decodeWrite, encodeWrite } from './coding.js'
import type { EvmTransaction } from './config.js'
import type { EvmWrite } from './execution.js'
import { feeCalls, feesOf } from './fees.js'
import { bytes, count, hexQuantity, quantity } from './quantity.js'
import { isRevert } from './read.js'
import { replaceEvm } from './replace.js'
import { checkFee, checkFunds, signed } from './signed.js'
import { type FoundAccount, findAccount } from './signer.js'
import type { Hex, Viem } from './viem.js'

/** Percent of the estimate that a transaction may use: state moves between estimate and block. */
const GAS_PERCENT = 120n

/** A write as the node takes it in questions. */
interface Asked {
  readonly write: EvmWrite
  readonly to: Hex
  readonly data: Hex
  readonly value: bigint
}

export async function accountOf(
  viem: Viem,
  chain: EvmChain,
  request: AccountRequest
): Promise<Account> {
  const about = { phase: 'prepare', executionType: null } as const
  const found = await foundAccount(viem, chain, request, about)
  if (found.address !== null) {
    return { address: found.address, canSign: found.kind === 'signer' }
  }
  throw chain.failed('unknown_account', 'no signer is configured and no account is named', about)
}

/** What the contract would return, with the state as it is now. */
export async function simulateEvm(
  viem: Viem,
  chain: EvmChain,
  request: WriteRequest,
  signal: AbortSignal
): Promise<Simulation> {
  const about = { phase: 'simulate', executionType: request.execution.type } as const
  return chain.guarded(about, async () => {
    const asked = askedOf(viem, chain, request, about)
    const { address } = await foundAccount(viem, chain, request, about)
    try {
      const result = await chain.call('eth_call', [question(asked, address), 'latest'], signal)
      const outputs = decodeWrite(viem, asked.write, bytes(result, 'eth_call'))
      return { ok: true, outputs: outputs ?? {} }
    } catch (error) {
      if (!(error instanceof RpcError) || !isRevert(error)) throw error
      return { ok: false, revert: revertOf(viem, chain, asked.write, error) }
    }
  })
}

/** Builds and signs with the next nonce; without a signer, what a wallet has to sign. */
export async function prepareEvm(
  viem: Viem,
  chain: EvmChain,
  request: WriteRequest,
  signal: AbortSignal
): Promise<Prepared> {
  const about = { phase: 'prepare', executionType: request.execution.type } as const
  return chain.guarded(about, async () => {
    const asked = askedOf(viem, chain, request, about)
    const found = await foundAccount(viem, chain, request, about)
    const { terms } = chain.settings
    if (found.kind === 'watched') {
      const payload = await unsignedPayload(viem, chain, asked, found.address, signal)
      const { maxFee } = request
      const bound = maxFee === undefined ? {} : { maxFee }
      const transaction = { chain: chain.id, from: found.address, payload, ...bound }
      return { kind: 'unsigned', transaction, terms }
    }
    const { address, signer } = found
    if (request.replaces !== undefined) {
      const { replaces } = request
      const by = { address, signer, request: { ...request, replaces } }
      return { kind: 'signed', transaction: await replaceEvm(viem, chain, by, signal), terms }
    }
    let answers: Answers | undefined
    const counts = async () => {
      answers = await askAll(chain, asked, address, signal)
      return countsIn(answers)
    }
    const resend = (sent: SignedTransaction) => resendTo(chain, sent, signal)
    const lost: ReorgedTransaction[] = []
    const port = { counts, resend, reorged: (one: ReorgedTransaction) => void lost.push(one) }
    const transaction = await chain.nonces(address).prepare(port, signal, async (nonce) => {
      const known = present(answers, 'answers of the node')
      const built = await build(viem, chain, asked, { address, nonce, answers: known, signal })
      checkFee(chain, request, built)
      return signed(viem, chain, signer, built)
    })
    return { kind: 'signed', transaction, terms, ...(lost.length === 0 ? {} : { reorged: lost }) }
  })
}

/** What a node says before a transaction is built, all at once. */
interface Answers {
  readonly included: Settled
  readonly pending: Settled
  readonly gas: Settled
  readonly balance: Settled
  readonly block: Settled
  readonly tip: Settled
}

async function askAll(
  chain: EvmChain,
  asked: Asked,
  address: Hex,
  signal: AbortSignal
): Promise<Answers> {
  const calls = [
    { method: 'eth_getTransactionCount', params: [address, 'latest'] },
    { method: 'eth_getTransactionCount', params: [address, 'pending'] },
    { method: 'eth_estimateGas', params: [question(asked, address)] },
    { method: 'eth_getBalance', params: [address, 'pending'] },
    ...feeCalls
  ]
  const settled = await chain.rpc.settle(calls, signal)
  const [included = null, pending = null, gas = null, balance = null, block = null, tip = null] =
    settled
  return { included, pending, gas, balance, block, tip }
}

function countsIn(answers: Answers): { readonly included: number; readonly pending: number } {
  const counted = (answer: Settled) => {
    if (answer instanceof RpcError) throw answer
    return count(answer, 'eth_getTransactionCount')
  }
  const included = counted(answers.included)
  return { included, pending: Math.max(included, counted(answers.pending)) }
}

async function resendTo(
  chain: EvmChain,
  { raw, hash }: SignedTransaction,
  signal: AbortSignal
): Promise<'held' | 'refused'> {
  const isKnown = async () =>
    (await chain.call('eth_getTransactionByHash', [hash], signal)) !== null
  if (await isKnown()) return 'held'
  try {
    await chain.rpc.send('eth_sendRawTransaction', [raw], signal)
    return 'held'
  } catch (error) {
    if (!(error instanceof RpcError) || !error.answered) throw error
    return (await isKnown()) ? 'held' : 'refused'
  }
}

function askedOf(viem: Viem, chain: EvmChain, request: WriteRequest, about: About): Asked {
  const write = chain.parse(request.execution, about)
  if (write.type !== 'evm_call' && write.type !== 'evm_multicall') {
    throw chain.failed('invalid_execution', `${write.type} is not a write`, about)
  }
  return {
    write,
    to: viem.getAddress(write.to.toLowerCase()),
    data: encodeWrite(viem, write),
    value: write.value ?? 0n
  }
}

async function foundAccount(
  viem: Viem,
  chain: EvmChain,
  { account = DEFAULT_SIGNER }: Omit<AccountRequest, 'chain'>,
  about: About
): Promise<Extract<FoundAccount, { readonly address: Hex | null }>> {
  const found = await findAccount(viem, chain, account)
  if (found.kind === 'missing_secret') {
    throw chain.failed('missing_secret', `the key of the signer ${account} is not there`, about)
  }
  if (found.kind === 'unknown') {
    throw chain.failed('unknown_account', `no signer is called ${account}`, about)
  }
  return found
}

function question({ to, data, value }: Asked, from: Hex | null) {
  return { ...(from === null ? {} : { from }), to, data, value: hexQuantity(value) }
}

function gasIn(viem: Viem, chain: EvmChain, write: EvmWrite, answer: Settled): bigint {
  if (answer instanceof RpcError) throw refusal(viem, chain, write, answer)
  return (quantity(answer, 'eth_estimateGas') * GAS_PERCENT) / 100n
}

/** Why a node would not even estimate. */
function refusal(
  viem: Viem,
  chain: EvmChain,
  write: EvmWrite,
  error: RpcError
): EffectFailure | RpcError {
  const about = { phase: 'prepare', executionType: write.type, chain: chain.id } as const
  if (/insufficient funds|out of gas.*balance|insufficient balance/i.test(error.nodeMessage)) {
    const message = 'the account cannot pay for value and gas'
    return chainFailed('insufficient_funds', { ...about, message, rpc: error.exchange })
  }
  if (!isRevert(error)) return error
  const revert = revertOf(viem, chain, write, error)
  const message = revert.reason ?? revert.name ?? 'the contract refuses'
  return chainFailed('reverted', { ...about, message, revert, rpc: error.exchange })
}

function revertOf(viem: Viem, chain: EvmChain, write: EvmWrite, error: RpcError) {
  const errors = [...write.errors, ...chain.settings.errors]
  return decodeRevert(viem, error.data, errors, error.nodeMessage)
}

async function build(
  viem: Viem,
  chain: EvmChain,
  asked: Asked,
  at: {
    readonly address: Hex
    readonly nonce: number
    readonly answers: Answers
    readonly signal: AbortSignal
  }
): Promise<EvmTransaction & { readonly from: Hex }> {
  const { address, nonce, answers, signal } = at
  const gas = gasIn(viem, chain, asked.write, answers.gas)
  if (answers.balance instanceof RpcError) throw answers.balance
  const available = quantity(answers.balance, 'eth_getBalance')
  const fees = await feesOf(chain, answers, signal)
  const { to, data, value, write } = asked
  const { chainId } = chain.settings
  const built = { from: address, chainId, nonce, to, data, value, gas, fees }
  checkFunds(chain, write.type, { ...built, available })
  return built
}

async function unsignedPayload(
  viem: Viem,
  chain: EvmChain,
  asked: Asked,
  from: Hex | null,
  signal: AbortSignal
): Promise<JsonObject> {
  const gas = from === null ? undefined : await estimate(viem, chain, asked, from, signal)
  return {
    chainId: hexQuantity(chain.settings.chainId),
    ...question(asked, from),
    ...(gas === undefined ? {} : { gas: hexQuantity(gas) })
  }
}

async function estimate(
  viem: Viem,
  chain: EvmChain,
  asked: Asked,
  from: Hex,
  signal: AbortSignal
): Promise<bigint> {
  const calls = [{ method: 'eth_estimateGas', params: [question(asked, from)] }]
  const [answer = null] = await chain.rpc.settle(calls, signal)
  return gasIn(viem, chain, asked.write, answer)
}
