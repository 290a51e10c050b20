import { deepEqual, equal, notEqual, ok } from 'node:assert/strict'
import { nextTurn } from '../../core/index.js'
import {
  type Bridge,
  type BridgeTypes,
  bridgeExecutor,
  type CallMoves,
  chainFailureOf,
  type Execution,
  type Executor,
  type SignedTransaction,
  usualBridgeTypes
} from '../../executor/index.js'
import { type ConformanceCheck, runCheck } from './check.js'

/** One check of {@link bridgeConformance}. */
export type BridgeCheck = ConformanceCheck<() => Promise<BridgeUnderTest>>

/** A bridge between two chains of its own, and hands to carry messages over with. */
export interface BridgeUnderTest {
  readonly bridge: Bridge
  /** Executors of both chains, as a new process has them. */
  executors(): readonly Executor[]
  /** Chain from which it sends, and chain at which it arrives. */
  readonly from: string
  readonly to: string
  /** A transfer that always succeeds, of the bridge's own type. */
  readonly transfer: Execution
  /** A transfer that is not written rightly. */
  readonly malformed: Execution
  /** Id of a message that was never sent. */
  readonly unheard: string
  /** Carries over what was sent so far, also what it has carried over before. */
  relay(): Promise<void>
  /** How many transfers have been taken on the one chain. */
  taken(): Promise<number>
  /** How many have been handed out on the other. */
  handedOut(): Promise<number>
  /** What an address holds; needed of a bridge that says what its calls move (`moves`). */
  balance?(holder: BridgeHolder): Promise<bigint>
  close(): Promise<void>
}

/** Whose balance a check of a bridge looks at. */
export interface BridgeHolder {
  readonly chain: string
  readonly address: string
  /** Address of a token on the chain; null: of what arrives there for it. */
  readonly token: string | null
}

/**
 * The suite that every bridge passes, through the executor that `bridgeExecutor` makes of it. Run
 * each check under the test runner of your choice:
 * `for (const check of bridgeConformance) it(check.name, () => check.run(open))`.
 */
export const bridgeConformance: readonly BridgeCheck[] = [
  check('says what it carries out, and what is wrong with a transfer', describesItself),
  check('refuses what it does not serve, definitely', refuses),
  check('the same transfer is always the same write', isPure),
  check('asking and preparing send nothing', sendsNothingEarly),
  check('a message has one id, which both chains know it by', hasOneId),
  check('two transfers are two messages', tellsApart),
  check('L7: the same bytes are one message, however often and by whom they are sent', sendsOnce),
  check('L7: another process finds the message of a transaction', findsMessage),
  check('arrives once, however often it is carried over', arrivesOnce),
  check('W15: takes what it says, and gives to whom it says', movesWhatItSays),
  check('says of a message that was never sent that it is not there', knowsNothing)
]

interface Test extends BridgeUnderTest {
  readonly types: BridgeTypes
  /** The bridge's executor in a new process. */
  process(): Executor
  call(): { readonly key: string; readonly signal: AbortSignal }
}

function check(name: string, work: (test: Test) => Promise<void>): BridgeCheck {
  return {
    name,
    run: (open, options = {}) =>
      runCheck(name, options, async (opened) => {
        const under = await open()
        opened.onEnd(() => under.close())
        const ending = new AbortController()
        opened.onEnd(() => ending.abort())
        const types = under.bridge.types ?? usualBridgeTypes
        const process = () => bridgeExecutor({ bridge: under.bridge, executors: under.executors() })
        let calls = 0
        const call = () => {
          calls += 1
          return { key: `call ${calls}`, signal: ending.signal }
        }
        await work({ ...under, types, process, call })
      })
  }
}

async function preparedBy(
  executor: Executor,
  { from, transfer, call }: Test
): Promise<SignedTransaction> {
  const result = await executor.prepare({ chain: from, execution: transfer }, call())
  if (result.kind !== 'signed') throw new Error('it is not signed')
  return result.transaction
}

const LOOKS_MAX = 2_000

/** Id of the message, once its transaction is in a block. */
async function messageOf(
  executor: Executor,
  transaction: SignedTransaction,
  { transfer, call }: Test
): Promise<string> {
  const { raw: _, executionType: __, ...asked } = transaction
  const look = { ...asked, execution: transfer, expected: null }
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const found = await executor.look(look, call())
    if (found.status === 'included') {
      ok(found.success, 'the transfer has failed')
      const { message_id: id } = found.outputs
      ok(typeof id === 'string' && id !== '', 'it gives no message_id')
      return id
    }
    await nextTurn()
  }
  throw new Error('the transfer was not included')
}

async function sent(executor: Executor, test: Test): Promise<string> {
  const transaction = await preparedBy(executor, test)
  await executor.broadcast(transaction, test.call())
  return messageOf(executor, transaction, test)
}

async function statusAt(executor: Executor, chain: string, message: string, test: Test) {
  const execution = { ...test.transfer, type: test.types.status, message_id: message }
  const { message_id, sent, arrived } = await executor.read({ chain, execution }, test.call())
  return { message_id, sent, arrived }
}

async function failureOf(promise: Promise<unknown>) {
  try {
    await promise
  } catch (error) {
    const failure = chainFailureOf(error)
    ok(failure !== undefined, `not a chain failure: ${String(error)}`)
    const { code, sent: wasSent } = failure
    return { code, sent: wasSent }
  }
  throw new Error('it did not fail')
}

async function describesItself(test: Test): Promise<void> {
  const { from, to, transfer, malformed, types, bridge } = test
  const executor = test.process()
  ok(bridge.from.includes(from) && bridge.to.includes(to))
  deepEqual([executor.executions[types.send], executor.executions[types.status]], ['write', 'read'])
  equal(executor.executions[types.quote], bridge.quote === undefined ? undefined : 'read')
  equal(transfer.type, types.send)
  equal(await executor.check(transfer), undefined)
  equal(typeof (await executor.check(malformed)), 'string')
  const nameless = { ...transfer, type: types.status }
  equal(typeof (await executor.check(nameless)), 'string')
  equal(await executor.check({ ...nameless, message_id: test.unheard }), undefined)
}

async function refuses(test: Test): Promise<void> {
  const { from, malformed, transfer, types, call } = test
  const executor = test.process()
  const nowhere = `${from.slice(0, from.indexOf(':'))}:999999`
  const nameless = { ...transfer, type: types.status }
  const status = { ...nameless, message_id: test.unheard }
  const failures = [
    await failureOf(executor.prepare({ chain: from, execution: malformed }, call())),
    await failureOf(executor.prepare({ chain: nowhere, execution: transfer }, call())),
    await failureOf(executor.prepare({ chain: from, execution: status }, call())),
    await failureOf(executor.read({ chain: from, execution: nameless }, call())),
    await failureOf(executor.read({ chain: nowhere, execution: status }, call()))
  ]
  const invalid = { code: 'invalid_execution', sent: false }
  const unknown = { code: 'unknown_chain', sent: false }
  deepEqual(failures, [invalid, unknown, invalid, invalid, unknown])
  equal(await test.taken(), 0)
}

async function isPure(test: Test): Promise<void> {
  const { bridge, from: chain, transfer: execution } = test
  const write = bridge.send({ chain, execution })
  deepEqual(write, bridge.send({ chain, execution }))
  ok(write.ok)
  const executor = test.process()
  const { ok: _, ...call } = write
  deepEqual(await executor.callOf?.({ chain, execution }), call)
  // What a policy has judged is sent, and nothing else.
  const judged = { chain, execution, call: call.execution }
  equal((await executor.prepare(judged, test.call())).kind, 'signed')
  const other = { ...judged, call: { ...call.execution, value: '1' } }
  const refused = await failureOf(executor.prepare(other, test.call()))
  deepEqual(refused, { code: 'invalid_execution', sent: false })
  equal(await test.taken(), 0)
}

async function sendsNothingEarly(test: Test): Promise<void> {
  const { from: chain, transfer: execution, bridge, types, call } = test
  const executor = test.process()
  if (bridge.quote !== undefined) {
    await executor.read({ chain, execution: { ...execution, type: types.quote } }, call())
  }
  equal((await executor.simulate({ chain, execution }, call())).ok, true)
  await preparedBy(executor, test)
  equal(await test.taken(), 0)
}

async function hasOneId(test: Test): Promise<void> {
  const executor = test.process()
  const message = await sent(executor, test)
  const at = (chain: string) => statusAt(executor, chain, message, test)
  deepEqual(await at(test.from), { message_id: message, sent: true, arrived: false })
  deepEqual(await at(test.to), { message_id: message, sent: false, arrived: false })
  await test.relay()
  deepEqual(await at(test.from), { message_id: message, sent: true, arrived: false })
  deepEqual(await at(test.to), { message_id: message, sent: false, arrived: true })
}

async function tellsApart(test: Test): Promise<void> {
  const executor = test.process()
  const first = await sent(executor, test)
  await test.relay()
  const second = await sent(executor, test)
  notEqual(first, second)
  equal((await statusAt(executor, test.to, second, test)).arrived, false)
  await test.relay()
  deepEqual([await test.taken(), await test.handedOut()], [2, 2])
}

async function sendsOnce(test: Test): Promise<void> {
  const executor = test.process()
  const transaction = await preparedBy(executor, test)
  await executor.broadcast(transaction, test.call())
  const message = await messageOf(executor, transaction, test)
  const later = test.process()
  later.recover([{ transaction, wasSent: true }])
  for (const one of [executor, later]) {
    await one.broadcast(transaction, test.call())
    equal(await messageOf(one, transaction, test), message)
  }
  equal(await test.taken(), 1)
}

async function findsMessage(test: Test): Promise<void> {
  const transaction = await preparedBy(test.process(), test)
  // It was to be sent, and its process died: nothing else is known to the next one.
  const next = test.process()
  next.recover([{ transaction, wasSent: true }])
  await next.broadcast(transaction, test.call())
  const last = test.process()
  const message = await messageOf(last, transaction, test)
  equal((await statusAt(last, test.from, message, test)).sent, true)
  equal(await test.taken(), 1)
}

async function arrivesOnce(test: Test): Promise<void> {
  const executor = test.process()
  const message = await sent(executor, test)
  for (let times = 0; times < 3; times += 1) await test.relay()
  equal((await statusAt(executor, test.to, message, test)).arrived, true)
  deepEqual([await test.taken(), await test.handedOut()], [1, 1])
}

/** Policies believe what a driver says of calls that they cannot decode. */
async function movesWhatItSays(test: Test): Promise<void> {
  const { bridge, from: chain, transfer: execution, balance, call } = test
  const write = bridge.send({ chain, execution })
  ok(write.ok)
  const { moves } = write
  if (moves === undefined) return
  ok(balance !== undefined, 'it says what it moves, and no balance can be looked at')
  const executor = test.process()
  const { address: payer } = await executor.account({ chain }, call())
  const changes = expectedChanges(moves, { chain, payer })
  const givens = moves.receivers.map((receiver) => ({ ...receiver, token: null }))
  const holders = [...changes.map(({ holder }) => holder), ...givens]
  const heldNow = () => Promise.all(holders.map((holder) => balance(holder)))
  const before = await heldNow()
  await sent(executor, test)
  const risen = (held: readonly bigint[]) => held.map((one, at) => one - (before[at] ?? 0n))
  const expected = changes.map(({ change }) => change)
  deepEqual(risen(await heldNow()), [...expected, ...givens.map(() => 0n)])
  await test.relay()
  const after = risen(await heldNow())
  deepEqual(after.slice(0, expected.length), expected)
  for (const [at, { address }] of givens.entries()) {
    ok((after[expected.length + at] ?? 0n) > 0n, `${address} is said to be given something`)
  }
}

/** What holders have more or less, once the call is included; amounts of one holder are summed. */
function expectedChanges(
  { spends }: CallMoves,
  { chain, payer }: { readonly chain: string; readonly payer: string }
): readonly { readonly holder: BridgeHolder; readonly change: bigint }[] {
  const changes = new Map<string, { readonly holder: BridgeHolder; readonly change: bigint }>()
  const move = (address: string, token: string, amount: bigint) => {
    const key = `${address} ${token}`
    const change = (changes.get(key)?.change ?? 0n) + amount
    changes.set(key, { holder: { chain, address, token }, change })
  }
  for (const { token, amount, to } of spends) {
    move(payer, token, -BigInt(amount))
    move(to, token, BigInt(amount))
  }
  return [...changes.values()]
}

async function knowsNothing(test: Test): Promise<void> {
  const executor = test.process()
  for (const chain of [test.from, test.to]) {
    const status = await statusAt(executor, chain, test.unheard, test)
    deepEqual(status, { message_id: test.unheard, sent: false, arrived: false })
  }
}
