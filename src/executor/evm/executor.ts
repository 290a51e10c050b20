import { chainFailed } from '../failure.js'
import { InvalidArgument } from '../invalid-argument.js'
import type { Executor, SignedTransaction, UnfinishedTransaction } from '../port.js'
import { broadcastEvm } from './broadcast.js'
import { EvmChain } from './chain.js'
import { encodeCall, encodeWrite } from './coding.js'
import { type EvmOptions, settingsOf } from './config.js'
import { evmExecutions, parseExecution } from './execution.js'
import { lookEvm } from './look.js'
import { accountOf, prepareEvm, simulateEvm } from './prepare.js'
import { readEvm } from './read.js'
import { readyEvm } from './ready.js'
import { loadViem, type Viem } from './viem.js'

/**
 * Executor of EVM chains, on JSON-RPC and viem (an optional peer, loaded at the first use). One
 * process at a time may use an account. Throws `executor.invalid_configuration`.
 *
 * @example
 * const evm = evmExecutor({
 *   chains: { 'eip155:1': { rpc: ['env:ETH_RPC_URL'], signer: 'env:EVM_KEY', confirmations: 2 } },
 *   environment: process.env
 * })
 */
export function evmExecutor(options: EvmOptions): Executor {
  const settings = settingsOf(options)
  const chains = new Map(settings.map((one) => [one.chain, new EvmChain(one)]))
  const [first] = settings
  let viem: Promise<Viem> | undefined
  const loaded = () => {
    viem ??= loadViem()
    return viem
  }
  const chainOf = (id: string): EvmChain => {
    const chain = chains.get(id)
    if (chain !== undefined) return chain
    const message = `the chain ${id} is not configured`
    throw chainFailed('unknown_chain', { phase: 'check', chain: id, message })
  }
  return {
    namespace: 'eip155',
    chains: [...chains.keys()],
    executions: evmExecutions,
    ...(first === undefined ? {} : { redactor: first.redactor }),
    check: async (execution) => {
      const parsed = parseExecution(execution)
      return parsed.ok ? argumentProblem(await loaded(), parsed.value) : parsed.problem
    },
    account: async (request) => accountOf(await loaded(), chainOf(request.chain), request),
    read: async (request, { signal }) =>
      readEvm(await loaded(), chainOf(request.chain), request, signal),
    simulate: async (request, { signal }) =>
      simulateEvm(await loaded(), chainOf(request.chain), request, signal),
    ready: async (request, { signal }) => readyEvm(chainOf(request.chain), request, signal),
    signsOutside: true,
    prepare: async (request, { signal }) =>
      prepareEvm(await loaded(), chainOf(request.chain), request, signal),
    broadcast: async (transaction, { signal }) =>
      broadcastEvm(chainOf(transaction.chain), transaction, signal),
    look: async (request, { signal }) =>
      lookEvm(await loaded(), chainOf(request.chain), request, signal),
    recover: (transactions) => recover(chains, transactions)
  }
}

function recover(
  chains: ReadonlyMap<string, EvmChain>,
  transactions: readonly UnfinishedTransaction[]
): void {
  for (const one of transactions) {
    const { chain, from }: SignedTransaction = one.transaction
    chains.get(chain)?.nonces(from).recover([one])
  }
}

/** The first argument that does not fit its ABI. */
function argumentProblem(
  viem: Viem,
  execution: Extract<ReturnType<typeof parseExecution>, { readonly ok: true }>['value']
): string | undefined {
  try {
    if (execution.type === 'evm_read') encodeCall(viem, execution.abi, execution.args)
    else if (execution.type === 'evm_multiread') {
      for (const [index, { abi, args }] of execution.calls.entries()) {
        encodeCall(viem, abi, args, `calls.${index}.args`)
      }
    } else if (execution.type !== 'evm_rpc') encodeWrite(viem, execution)
    return undefined
  } catch (error) {
    if (error instanceof InvalidArgument) return error.message
    throw error
  }
}
