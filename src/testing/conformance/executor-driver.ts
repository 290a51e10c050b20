import { ok } from 'node:assert/strict'
import { EffectFailure } from '../../code/index.js'
import { type JsonObject, nextTurn } from '../../core/index.js'
import {
  type CallOptions,
  chainFailureOf,
  type Execution,
  type Executor,
  type LookRequest,
  type SignedTransaction,
  type TransactionStatus
} from '../../executor/index.js'
import { type ConformanceCheck, runCheck } from './check.js'

/**
 * What a chain may have or not. `nonces`: an account's transactions are ordered; `reorganisations`:
 * what was in a block can be in none again; `expiry`: `validUntil` of a transaction is a height;
 * `pool`: nodes tell of a transaction that it waits; `replacement`: one that pays a tenth more can
 * take its place; `readiness`: its executor says before a run what is missing; `durable_nonces`: a
 * transaction can be included until another one has used the value of its nonce account.
 */
export type ChainTrait =
  | 'nonces'
  | 'reorganisations'
  | 'expiry'
  | 'pool'
  | 'replacement'
  | 'readiness'
  | 'durable_nonces'

/** What the suite needs of an executor under test. */
export interface ExecutorDriver {
  /** What its chain has: checks that need more do not apply. */
  readonly has: readonly ChainTrait[]
  /** An executor on a chain of its own. */
  open(): Promise<ExecutorUnderTest>
}

/** An executor on a chain of its own, and hands to move the chain with. */
export interface ExecutorUnderTest {
  readonly executor: Executor
  /** Another executor on the same chain, as a new process has it. */
  restart(): Executor
  readonly chain: string
  /** Address of the default signer. */
  readonly account: string
  /** An address that it cannot sign for. */
  readonly watched: string
  readonly read: { readonly execution: Execution; readonly outputs: JsonObject }
  /** A write that always succeeds, and differs from others by its number. */
  write(number: number): Execution
  /** A write that the chain refuses. */
  readonly refused: Execution
  /** An execution that is not written rightly. */
  readonly malformed: Execution
  /** How many of these writes have taken effect. */
  effective(): Promise<number>
  /** Whether blocks come by themselves. */
  mining(isOn: boolean): Promise<void>
  mine(blocks: number): Promise<void>
  /** Takes the newest block away, with all that was in it. For chains with `reorganisations`. */
  reorg?(): Promise<void>
  /** Of the newest block, as `validUntil` counts. For chains with `expiry`. */
  height?(): Promise<number>
  /** An address with code, and one that holds nothing. For executors with `readiness`. */
  readonly places?: { readonly code: string; readonly empty: string }
  close(): Promise<void>
}

/** One check of {@link executorConformance}, and what a chain needs to have for it. */
export interface ExecutorCheck extends ConformanceCheck<ExecutorDriver> {
  readonly needs: readonly ChainTrait[]
}

/** What a check works with. */
export interface ExecutorTest extends ExecutorUnderTest {
  readonly has: readonly ChainTrait[]
  /** What a pump hands to a provider: a key of its own for each call. Called off at the end. */
  call(signal?: AbortSignal): CallOptions
}

export function executorCheck(
  name: string,
  work: (test: ExecutorTest) => Promise<void>,
  ...needs: readonly ChainTrait[]
): ExecutorCheck {
  return {
    name,
    needs,
    run: (driver, options = {}) =>
      runCheck(name, options, async (opened) => {
        const test = await driver.open()
        opened.onEnd(() => test.close())
        const ending = new AbortController()
        opened.onEnd(() => ending.abort())
        let calls = 0
        const call = (signal: AbortSignal = ending.signal) => {
          calls += 1
          return { key: `call ${calls}`, signal }
        }
        await work({ ...test, has: driver.has, call })
      })
  }
}

export async function prepared(
  { executor, chain, call }: Pick<ExecutorTest, 'executor' | 'chain' | 'call'>,
  execution: Execution,
  options: CallOptions = call()
): Promise<SignedTransaction> {
  const result = await executor.prepare({ chain, execution }, options)
  if (result.kind !== 'signed') throw new Error('it is not signed')
  return result.transaction
}

export function lookOf(
  { raw: _, ...transaction }: SignedTransaction,
  execution: Execution
): LookRequest {
  return { ...transaction, execution, expected: null }
}

/** A chain that mines by itself may take a moment. */
export async function settled(
  { executor, call, has }: Pick<ExecutorTest, 'executor' | 'call' | 'has'>,
  transaction: SignedTransaction,
  execution: Execution
): Promise<TransactionStatus> {
  const look = () => executor.look(lookOf(transaction, execution), call())
  const isOpen = ({ status }: TransactionStatus) =>
    status === 'pending' || (status === 'unknown' && !has.includes('pool'))
  let found = await look()
  for (let looks = 0; isOpen(found) && looks < LOOKS_MAX; looks += 1) {
    await nextTurn()
    found = await look()
  }
  return found
}

const LOOKS_MAX = 2_000

export async function failureOf(promise: Promise<unknown>) {
  try {
    await promise
  } catch (error) {
    const failure = chainFailureOf(error)
    ok(failure !== undefined && error instanceof EffectFailure, `not a chain failure: ${error}`)
    return { ...failure, definite: error.definite }
  }
  throw new Error('it did not fail')
}
