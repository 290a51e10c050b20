import { executorError, Redactor, shownText } from '../core/index.js'
import { chainFailed } from './failure.js'
import type { Executor, Prepared, SignedTransaction } from './port.js'

/**
 * Which executor answers for what: by chain and execution type. Each chain has at most one executor
 * of its own, which knows its accounts; others stand beside it with execution types of their own.
 *
 * Throws `executor.duplicate_namespace` for two executors of one namespace, and
 * `executor.duplicate_execution` for two that know one execution type on the same chain.
 */
export class Routes {
  /** Knows what each of the executors has read. */
  readonly redactor = new Redactor()
  readonly #own = new Map<string, Executor>()
  readonly #all = new Map<string, Executor[]>()
  readonly #byType = new Map<string, Executor>()

  constructor(executors: readonly Executor[]) {
    const namespaces = new Set<string>()
    for (const executor of executors) {
      const { namespace, redactor } = executor
      if (namespace !== undefined) {
        if (namespaces.has(namespace)) {
          throw executorError('executor.duplicate_namespace', { namespace })
        }
        namespaces.add(namespace)
      }
      if (redactor !== undefined) this.redactor.include(redactor)
      for (const chain of executor.chains) this.#add(chain, executor)
    }
  }

  /** Whether an executor answers for a chain, whatever the type. */
  serves(chain: string): boolean {
    return this.#main(chain) !== undefined
  }

  /** Throws a failure `unknown_chain`. */
  of(chain: unknown, type?: string): Executor {
    const id = shownText(chain)
    const found = this.#byType.get(nameOf(id, type ?? '')) ?? this.#main(id)
    if (found !== undefined) return found
    const message = `no executor is configured for the chain ${id}`
    throw chainFailed('unknown_chain', { phase: 'check', chain: id, message })
  }

  /** The executor that prepared a transaction; throws a failure `unknown_chain`. */
  ofTransaction(transaction: SignedTransaction): Executor {
    const found = this.findTransaction(transaction)
    if (found !== undefined) return found
    const { chain, executionType = 'transactions' } = transaction
    const message = `no executor is configured for ${executionType} on the chain ${chain}`
    throw chainFailed('unknown_chain', { phase: 'check', chain, message })
  }

  /** Undefined when the executor is not among these any more. */
  findTransaction({ chain, executionType }: SignedTransaction): Executor | undefined {
    if (executionType === undefined) return this.#main(chain)
    return this.#byType.get(nameOf(chain, executionType))
  }

  /** What was prepared, with the type by which its executor is found again. */
  marked(prepared: Prepared, executor: Executor, executionType: string): Prepared {
    if (prepared.kind === 'unsigned' || executor.namespace !== undefined) return prepared
    return { ...prepared, transaction: { ...prepared.transaction, executionType } }
  }

  /** The executor of the chain itself, or the only one that serves it. */
  #main(chain: string): Executor | undefined {
    const own = this.#own.get(chain)
    if (own !== undefined) return own
    const [first, ...others] = this.#all.get(chain) ?? []
    return others.length === 0 ? first : undefined
  }

  #add(chain: string, executor: Executor): void {
    if (executor.namespace !== undefined) this.#own.set(chain, executor)
    this.#all.set(chain, [...(this.#all.get(chain) ?? []), executor])
    for (const type of Object.keys(executor.executions)) {
      const name = nameOf(chain, type)
      if (this.#byType.has(name)) {
        throw executorError('executor.duplicate_execution', { type, chain })
      }
      this.#byType.set(name, executor)
    }
  }
}

function nameOf(chain: string, type: string): string {
  return `${type} ${chain}`
}
