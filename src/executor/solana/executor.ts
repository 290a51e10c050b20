import { chainFailed } from '../failure.js'
import { InvalidArgument } from '../invalid-argument.js'
import type { Execution, Executor } from '../port.js'
import { broadcastSolana } from './broadcast.js'
import { SolanaChain } from './chain.js'
import { type SolanaOptions, settingsOf } from './config.js'
import { parseExecution, solanaExecutions } from './execution.js'
import { buildInstruction } from './instruction.js'
import { type Kit, loadKit } from './kit.js'
import { lookSolana } from './look.js'
import { accountOf, prepareSolana, simulateSolana } from './prepare.js'
import { checkRead, readSolana } from './read.js'
import { readySolana } from './ready.js'

/**
 * Executor of Solana chains, on JSON-RPC and `@solana/kit` (an optional peer, loaded at the first
 * use). Throws `executor.invalid_configuration`.
 *
 * @example
 * const solana = solanaExecutor({
 *   chains: {
 *     'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': {
 *       rpc: ['env:SOLANA_RPC_URL'],
 *       signer: 'file:id.json'
 *     }
 *   },
 *   environment: process.env
 * })
 */
export function solanaExecutor(options: SolanaOptions): Executor {
  const settings = settingsOf(options)
  const chains = new Map(settings.map((one) => [one.chain, new SolanaChain(one)]))
  const [first] = settings
  let kit: Promise<Kit> | undefined
  const loaded = () => {
    kit ??= loadKit()
    return kit
  }
  const chainOf = (id: string): SolanaChain => {
    const chain = chains.get(id)
    if (chain !== undefined) return chain
    const message = `the chain ${id} is not configured`
    throw chainFailed('unknown_chain', { phase: 'check', chain: id, message })
  }
  return {
    namespace: 'solana',
    chains: [...chains.keys()],
    executions: solanaExecutions,
    ...(first === undefined ? {} : { redactor: first.redactor }),
    check: async (execution) => {
      await loaded()
      return problemOf(execution)
    },
    account: async (request) => accountOf(await loaded(), chainOf(request.chain), request),
    read: async (request, call) => readSolana(chainOf(request.chain), request, call),
    simulate: async (request, call) =>
      simulateSolana(await loaded(), chainOf(request.chain), request, call),
    ready: async (request, { signal }) => readySolana(chainOf(request.chain), request, signal),
    prepare: async (request, call) =>
      prepareSolana(await loaded(), chainOf(request.chain), request, call),
    broadcast: async (transaction, { signal }) =>
      broadcastSolana(chainOf(transaction.chain), transaction, signal),
    look: async (request, { signal }) =>
      lookSolana(await loaded(), chainOf(request.chain), request, signal),
    // Without nonces, what earlier processes have prepared holds back nothing.
    recover: () => undefined
  }
}

function problemOf(execution: Execution): string | undefined {
  const parsed = parseExecution(execution)
  if (!parsed.ok) return parsed.problem
  try {
    if (parsed.value.type === 'solana_read') checkRead(parsed.value)
    else buildInstruction(parsed.value)
    return undefined
  } catch (error) {
    if (error instanceof InvalidArgument) return error.message
    throw error
  }
}
