import type { Provider } from '../block/index.js'
import { EffectFailure } from '../code/index.js'
import { isJsonObject, type Json, limits } from '../core/index.js'
import { Limiter } from './limiter.js'
import type {
  AccountRequest,
  Executor,
  LookRequest,
  ReadRequest,
  SignedTransaction,
  WriteRequest,
  WrittenCall
} from './port.js'
import type { ReadinessRequest } from './readiness.js'
import { recoverTransactions } from './recover.js'
import { Routes } from './routes.js'
import { chainEffects, lookRequest } from './steps/effects.js'

/**
 * What answers the effects of `chainEffects`: register them with a runtime, all of them. Before the
 * runtime starts or resumes anything, the executors get the transactions of earlier
 * processes (W11). Of each chain at most `CHAIN_CALLS_AT_ONCE` reads are under way;
 * one that waits for its turn holds up no other chain.
 *
 * A request goes to the executor that knows its execution type on its chain; accounts are those of
 * the chain's own executor, and what was prepared stays with the executor that prepared it. Throws
 * `executor.duplicate_namespace` and `executor.duplicate_execution`.
 *
 * @example
 * const evm = evmExecutor({ chains, environment: process.env })
 * const tally = await createRuntime({ location, blocks, providers: chainProviders([evm]) })
 */
export function chainProviders(executors: readonly Executor[]): readonly Provider[] {
  const routes = new Routes(executors)
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
        return asJson(await routes.of(asked.chain).account(asked, call))
      }
    },
    {
      name: chainEffects.ready,
      perform: async ({ request, ...call }) => {
        const { readinessOf } = await import('./readiness.js')
        const asked = record(request) as unknown as ReadinessRequest
        const work = () => readinessOf(routes, asked, call)
        return asJson(await readsOf(asked.chain).run(work))
      }
    },
    {
      name: chainEffects.read,
      perform: ({ request, ...call }) => {
        const asked = record(request) as unknown as ReadRequest
        const executor = routes.of(asked.chain, typeIn(request))
        return readsOf(asked.chain).run(() => executor.read(asked, call))
      }
    },
    {
      name: chainEffects.simulate,
      perform: async ({ request, ...call }) => {
        const asked = record(request) as unknown as WriteRequest
        return asJson(await routes.of(asked.chain, typeIn(request)).simulate(asked, call))
      }
    },
    calling(routes),
    {
      name: chainEffects.prepare,
      perform: async ({ request, ...call }) => {
        const asked = record(request) as unknown as WriteRequest
        const type = typeIn(request)
        const executor = routes.of(asked.chain, type)
        return asJson(routes.marked(await executor.prepare(asked, call), executor, type))
      }
    },
    {
      ...broadcasting(routes),
      recover: async (unfinished) => {
        await recoverTransactions(unfinished, routes)
      },
      recoversFrom: [chainEffects.prepare, chainEffects.broadcast]
    },
    {
      name: chainEffects.look,
      perform: async ({ request, ...call }) => {
        const asked = record(request) as unknown as LookRequest
        const { chain, executionType = typeIn(request) } = asked
        return asJson(await routes.of(chain, executionType).look(asked, call))
      }
    }
  ]
  return providers.map((provider) => ({ ...provider, redactor: routes.redactor }))
}

/** As which call a plugin's write is carried out. */
function calling(routes: Routes): Provider {
  return {
    name: chainEffects.call,
    perform: async ({ request }) => {
      const asked = record(request) as unknown as WrittenCall
      const executor = routes.of(asked.chain, typeIn(request))
      return executor.callOf === undefined ? null : asJson(await executor.callOf(asked))
    }
  }
}

/** The one effect that changes a chain: before it is repeated, the chain is asked (L7). */
function broadcasting(routes: Routes): Provider {
  const transactionOf = (request: Json) =>
    record(record(request)['transaction'] ?? null) as unknown as SignedTransaction
  return {
    name: chainEffects.broadcast,
    perform: async ({ request, ...call }) => {
      const transaction = transactionOf(request)
      return asJson(await routes.ofTransaction(transaction).broadcast(transaction, call))
    },
    locate: async ({ request, ...call }) => {
      const transaction = transactionOf(request)
      const look = lookRequest(transaction, { type: 'broadcast' })
      const { status } = await routes.ofTransaction(transaction).look(look, call)
      const isThere = status === 'pending' || status === 'included'
      return isThere
        ? { found: true, result: { hash: transaction.hash, answer: 'known' } }
        : // The same bytes may still arrive, so only sending them again is left to do.
          { found: false, definite: false }
    }
  }
}

function record(request: Json): Readonly<Record<string, Json>> {
  if (isJsonObject(request)) return request
  throw new EffectFailure('invalid_request', { definite: true })
}

/** Of the execution that a request is about. */
function typeIn(request: Json): string {
  const { type } = record(record(request)['execution'] ?? null)
  if (typeof type === 'string') return type
  throw new EffectFailure('invalid_request', { definite: true })
}

function asJson(value: object): Json {
  return value as Json
}
