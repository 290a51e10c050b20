import { AsyncLocalStorage } from 'node:async_hooks'
import { limits } from '../../core/index.js'
import { type Caller, findCaller, findOrigin, watchStacks } from './caller.js'
import type { Impurity, ImpurityKind } from './report.js'

/**
 * Knows whether the code of a block runs, and keeps what it does past `ctx`.
 *
 * Owns: what one execution has been found doing. A built-in that acts outside is refused there, so
 * that looking for it does not do it.
 */

/** A built-in that code of a block does not use. */
export interface Api {
  readonly kind: ImpurityKind
  readonly name: string
  readonly instead: string
  /** It acts outside: inside a block it throws once it is noted. */
  readonly isRefused?: boolean
  /** It counts where a function of Node stands between, as `path.resolve` before `process.cwd`. */
  readonly isThroughNode?: boolean
}

export class Execution {
  readonly #found = new Map<string, Impurity>()
  /** Name of the last built-in that was refused. */
  refused: string | undefined

  /** Loading a module may do what its block may not; it is noted only. */
  constructor(readonly of: 'block' | 'loading') {}

  add(impurity: Impurity): void {
    if (this.#found.size >= limits.DETECTED_FINDINGS_MAX) return
    const { api, at } = impurity
    const key = `${api} ${at?.file}:${at?.line}`
    if (!this.#found.has(key)) this.#found.set(key, impurity)
  }

  get findings(): readonly Impurity[] {
    return [...this.#found.values()]
  }
}

const executions = new AsyncLocalStorage<Execution | undefined>()
let isBusy = false

/** Runs code of a block. */
export function insideBlock<Result>(execution: Execution, run: () => Result): Result {
  return executions.run(execution, run)
}

/** Runs what code of a block uses without being answered by it. */
export function outsideBlock<Result>(run: () => Result): Result {
  return executions.run(undefined, run)
}

/** Notes a built-in that is used; throws where it is refused. */
export function look(api: Api): void {
  const execution = executions.getStore()
  if (execution === undefined || isBusy) return
  const caller = whoCalls(api.isThroughNode ?? false)
  if (caller.kind === 'other') return
  note(execution, api, caller)
  if (api.isRefused !== true || execution.of === 'loading') return
  execution.refused = api.name
  throw new Error(`${api.name} is refused inside a block while impurities are detected`)
}

/** A function that is not watched while it runs: what it uses itself is its own business. */
export function unwatched<Result>(run: () => Result): Result {
  const before = isBusy
  isBusy = true
  try {
    return run()
  } finally {
    isBusy = before
  }
}

/** Notes what the permissions of the process have refused, when the code ends with that error. */
export function noteRefusal(execution: Execution, error: unknown): void {
  if (!(error instanceof Error) || Reflect.get(error, 'code') !== 'ERR_ACCESS_DENIED') return
  const name = `permission ${String(Reflect.get(error, 'permission'))}`
  execution.refused = name
  const caller = findOrigin(error)
  if (caller.kind === 'code')
    note(execution, { kind: 'process', name, instead: 'ctx.effect' }, caller)
}

function whoCalls(isThroughNode: boolean): Caller {
  return unwatched(() => findCaller(isThroughNode))
}

function note(execution: Execution, api: Api, caller: Extract<Caller, { kind: 'code' }>): void {
  const { kind, name, instead } = api
  const { at } = caller
  execution.add({ kind, api: name, ...(at === undefined ? {} : { at }), instead })
}

export function watchStackTexts(): void {
  const api: Api = {
    kind: 'stack',
    name: 'Error.stack',
    instead: 'error.name and error.message of errors of your own'
  }
  watchStacks(() => look(api))
}
