import { EffectFailure, type Provider } from '../block/index.js'
import { isJsonObject, type Json, limits, Redactor, shownText, TallyError } from '../core/index.js'
import { chainFailed } from './failure.js'
import { Limiter } from './limiter.js'
import type {
  AccountRequest,
  Executor,
  LookRequest,
  ReadRequest,
  SignedTransaction,
  WriteRequest
} from './port.js'
import { recoverTransactions } from './recover.js'
import { chainEffects } from './steps/effects.js'

/**
 * What answers the effects of `chainEffects`: register them with a runtime, all of them. Before the
 * runtime starts or resumes anything, the executors get the transactions of earlier
 * processes (semantics.md W11). Of each chain at most `CHAIN_CALLS_AT_ONCE` reads are under way;
 * one that waits for its turn holds up no other chain. One executor for each namespace; throws
 * `executor.duplicate_namespace` for two.
 *
 * @example
 * const evm = evmExecutor({ chains, environment: process.env })
 * const tally = await createRuntime({ location, blocks, providers: chainProviders([evm]) })
 */
export function chainProviders(executors: readonly Executor[]): readonly Provider[] {
  const byNamespace = new Map<string, Executor>()
  const redactor = new Redactor()
  for (const executor of executors) {
    const { namespace } = executor
    if (byNamespace.has(namespace)) {
      throw new TallyError('executor.duplicate_namespace', { namespace })
    }
    byNamespace.set(namespace, executor)
    if (executor.redactor !== undefined) redactor.include(executor.redactor)
  }
  const of = (chain: unknown) => executorOf(byNamespace, chain)
  const reads = new Map<string, Limiter>()
  const readsOf = (chain: string): Limiter => {
    const limiter = reads.get(chain) ?? new Limiter(limits.CHAIN_CALLS_AT_ONCE)
    reads.set(chain, limiter)
    return limiter
  }
  const providers: readonly Provider[] = [
    {
      name: chainEffects.account,
      perform: async ({ request, ...call }) => {
        const asked = record(request) as unknown as AccountRequest
        return asJson(await of(asked.chain).account(asked, call))
      }
    },
    {
      name: chainEffects.read,
      perform: ({ request, ...call }) => {
        const asked = record(request) as unknown as ReadRequest
        const executor = of(asked.chain)
        return readsOf(asked.chain).run(() => executor.read(asked, call))
      }
    },
    {
      name: chainEffects.simulate,
      perform: async ({ request, ...call }) => {
        const asked = record(request) as unknown as WriteRequest
        return asJson(await of(asked.chain).simulate(asked, call))
      }
    },
    {
      name: chainEffects.prepare,
      perform: async ({ request, ...call }) => {
        const asked = record(request) as unknown as WriteRequest
        return asJson(await of(asked.chain).prepare(asked, call))
      }
    },
    {
      ...broadcasting(of),
      recover: async (unfinished) => {
        await recoverTransactions(unfinished, executors)
      },
      recoversFrom: [chainEffects.prepare, chainEffects.broadcast]
    },
    {
      name: chainEffects.look,
      perform: async ({ request, ...call }) => {
        const asked = record(request) as unknown as LookRequest
        return asJson(await of(asked.chain).look(asked, call))
      }
    }
  ]
  return providers.map((provider) => ({ ...provider, redactor }))
}

/** The one effect that changes a chain: before it is repeated, the chain is asked (L7). */
function broadcasting(of: (chain: unknown) => Executor): Provider {
  const transactionOf = (request: Json) =>
    record(record(request)['transaction'] ?? null) as unknown as SignedTransaction
  return {
    name: chainEffects.broadcast,
    perform: async ({ request, ...call }) => {
      const transaction = transactionOf(request)
      return asJson(await of(transaction.chain).broadcast(transaction, call))
    },
    locate: async ({ request, ...call }) => {
      const { chain, hash, from, nonce, validUntil } = transactionOf(request)
      const execution = { type: 'broadcast' }
      const look = { chain, hash, from, nonce, validUntil, execution, expected: null }
      const { status } = await of(chain).look(look, call)
      const isThere = status === 'pending' || status === 'included'
      return isThere
        ? { found: true, result: { hash, answer: 'known' } }
        : // The same bytes may still arrive, so only sending them again is left to do.
          { found: false, definite: false }
    }
  }
}

function executorOf(byNamespace: ReadonlyMap<string, Executor>, chain: unknown): Executor {
  const id = shownText(chain)
  const executor = byNamespace.get(id.slice(0, id.indexOf(':')))
  if (executor?.chains.includes(id) === true) return executor
  const message = `no executor is configured for the chain ${id}`
  throw chainFailed('unknown_chain', { phase: 'check', chain: id, message })
}

function record(request: Json): Readonly<Record<string, Json>> {
  if (isJsonObject(request)) return request
  throw new EffectFailure('invalid_request', { definite: true })
}

function asJson(value: object): Json {
  return value as Json
}
