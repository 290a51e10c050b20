import { isTallyError, type Json, type JsonObject, shownText } from '../core/index.js'
import { type ChainFailure, type ChainFailureCode, chainFailureOf } from './failure.js'
import type { Account, CallOptions, Executor } from './port.js'
import type { Routes } from './routes.js'

/** What a run will do on a chain, as far as it is known; each thing once. */
export interface ReadinessRequest {
  readonly chain: string
  /** Types of the executions, and what each does. */
  readonly executions: Readonly<Record<string, 'read' | 'write'>>
  /** Account that the run was started for; absent: the signer of the chain. */
  readonly account?: string
  /** Whether a person is shown who signs: then somebody has to be known. */
  readonly isShown: boolean
  readonly contracts: readonly string[]
  /** Tells one look from the next, so that each asks anew; executors do not read it. */
  readonly attempt?: number
  /** Without a network; default false. */
  readonly isOffline?: boolean
}

/** What was looked at. */
export type ReadinessSubject =
  | 'executor'
  | 'execution'
  | 'account'
  | 'endpoint'
  | 'fees'
  | 'contract'

export interface ReadinessProblem {
  readonly about: ReadinessSubject
  readonly code: string
  /** For people; without addresses of endpoints and without secrets. */
  readonly message: string
  /** Whether asking again in a moment may help, with nothing done about it. */
  readonly isPassing: boolean
  /** The execution type or the contract that it is about. */
  readonly subject: string | null
}

/** What a chain lacks, and what no executor could say of it. Plain JSON. */
export interface ReadinessReport {
  readonly chain: string
  readonly problems: readonly ReadinessProblem[]
  readonly unchecked: readonly ReadinessSubject[]
}

/** Looks at everything that a run needs of one chain; what is missing is data. */
export async function readinessOf(
  routes: Routes,
  request: ReadinessRequest,
  options: CallOptions
): Promise<ReadinessReport> {
  const { chain, executions } = request
  const main = mainOf(routes, chain)
  if ('about' in main) return { chain, problems: [main], unchecked: [] }
  const problems: ReadinessProblem[] = []
  const unchecked: ReadinessSubject[] = []
  const beside = new Set<Executor>()
  for (const type of Object.keys(executions).sort()) {
    const executor = routes.of(chain, type)
    if (executor !== main) beside.add(executor)
    if (executor.executions[type] === executions[type]) continue
    const message = `no executor carries out ${type} as a ${executions[type]} on ${chain}`
    problems.push(problem('execution', 'invalid_execution', message, type))
  }
  const isWriting = Object.values(executions).includes('write')
  const account = isWriting ? await accountOf(main, request, options) : undefined
  if (account === 'outside') unchecked.push('account')
  else if (account !== undefined && !('address' in account)) problems.push(account)
  const payer = typeof account === 'object' && 'address' in account ? account : undefined
  const states = [
    await stateOf(main, request, payer, options),
    ...(await Promise.all(
      [...beside].map((one) => stateOf(one, { ...request, contracts: [] }, undefined, options))
    ))
  ]
  return {
    chain,
    problems: [...problems, ...states.flatMap((state) => state.problems)],
    unchecked: [...new Set([...unchecked, ...states.flatMap((state) => state.unchecked)])]
  }
}

/** The executor that knows the accounts of a chain. */
function mainOf(routes: Routes, chain: string): Executor | ReadinessProblem {
  try {
    return routes.of(chain)
  } catch (error) {
    return problemOf('executor', error)
  }
}

async function accountOf(
  executor: Executor,
  { chain, account, isShown }: ReadinessRequest,
  options: CallOptions
): Promise<Account | ReadinessProblem | 'outside'> {
  try {
    return await executor.account({ chain, ...(account === undefined ? {} : { account }) }, options)
  } catch (error) {
    const found = problemOf('account', error)
    const isNobody = found.code === 'unknown_account' && account === undefined
    return isNobody && executor.signsOutside === true && !isShown ? 'outside' : found
  }
}

async function stateOf(
  executor: Executor,
  { chain, contracts, isOffline = false }: ReadinessRequest,
  account: Account | undefined,
  options: CallOptions
): Promise<Pick<ReadinessReport, 'problems' | 'unchecked'>> {
  // What a wallet outside holds is its owner's matter.
  const payer = account?.canSign === true ? account.address : null
  const asked: readonly ReadinessSubject[] = [
    'endpoint',
    ...(payer === null ? [] : (['fees'] as const)),
    ...(contracts.length === 0 ? [] : (['contract'] as const))
  ]
  if (executor.ready === undefined || isOffline) return { problems: [], unchecked: asked }
  try {
    const state = await executor.ready({ chain, payer, contracts }, options)
    const { canPayFees, withoutCode } = state
    const poor = `the account ${payer} has nothing to pay fees with`
    return {
      problems: [
        ...(canPayFees === false ? [problem('fees', 'insufficient_funds', poor)] : []),
        ...withoutCode.map((one) =>
          problem('contract', 'invalid_execution', `no contract is at ${one}`, one)
        )
      ],
      unchecked: payer !== null && canPayFees === null ? ['fees'] : []
    }
  } catch (error) {
    const unchecked = asked.filter((one) => one !== 'endpoint')
    return { problems: [problemOf('endpoint', error)], unchecked }
  }
}

function problem(
  about: ReadinessSubject,
  code: ChainFailureCode,
  message: string,
  subject: string | null = null
): ReadinessProblem {
  return { about, code, message, isPassing: false, subject }
}

/** A failure that a step of a write would have, found before. */
function problemOf(about: ReadinessSubject, error: unknown): ReadinessProblem {
  const failure = chainFailureOf(error)
  if (failure !== undefined) {
    const { code, message, retryable } = failure
    return {
      about,
      code,
      message: withAnswer(message, failure),
      isPassing: retryable,
      subject: null
    }
  }
  // A key that is none, or a file that may not be read.
  if (isTallyError(error)) return problem(about, 'missing_secret', error.message)
  throw error
}

/** What an endpoint gave instead: a chain id, mostly. */
function withAnswer(message: string, { code, rpc }: ChainFailure): string {
  const answer: Json | undefined = rpc?.response
  const isTold = code === 'chain_mismatch' && answer !== undefined && answer !== null
  return isTold ? `${message}: it answers ${shownText(answer as Json | JsonObject)}` : message
}
