import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict'
import { present } from '../../core/index.js'
import type { SignedTransaction } from '../../executor/index.js'
import {
  type ExecutorCheck,
  type ExecutorDriver,
  type ExecutorTest,
  executorCheck,
  failureOf,
  lookOf,
  prepared,
  settled
} from './executor-driver.js'
import { isOutrun, landsLate } from './executor-durable.js'
import { expires, isFoundLate } from './executor-expiry.js'

/**
 * The suite that every executor passes. `executorChecks(driver)` leaves out what does not apply;
 * run each check under the test runner of your choice.
 */
export const executorConformance: readonly ExecutorCheck[] = [
  executorCheck(
    'says which chains and executions it serves, and what is wrong with one',
    describesItself
  ),
  executorCheck('reads by name, and changes nothing', reads),
  executorCheck('refuses what is not configured, definitely', refusesUnknown),
  executorCheck('knows which accounts sign', knowsAccounts),
  executorCheck('simulates without an effect', simulates),
  executorCheck('L7: preparing changes nothing, and its id is that of the transaction', prepares),
  executorCheck('L7: the same bytes take effect once, however often they are sent', sendsOnce),
  executorCheck(
    'L7: another process finds a transaction by its id, and may send it again',
    isFound
  ),
  executorCheck('L7: what landed in its last block is found however late', isFoundLate, 'expiry'),
  executorCheck('W10: a refusal is found before anything is sent, and is definite', refusesEarly),
  executorCheck('W11: says unknown, pending and included, and counts blocks', givesStatus),
  executorCheck('W11: what was prepared and never sent holds back no other write', holdsBackNone),
  executorCheck(
    'W11: a nonce that was prepared and never sent is used by the next write',
    refills,
    'nonces'
  ),
  executorCheck('W11: writes that are prepared at once all take effect', preparesMany),
  executorCheck('W11: continues with the nonces of an earlier process', recovers, 'nonces'),
  executorCheck(
    'W11: puts a dearer transaction in the place of one that waits, and one of them lands',
    replaces,
    'replacement'
  ),
  executorCheck(
    'W11: forgets a transaction whose block is gone, and takes its bytes again',
    survivesReorg,
    'reorganisations'
  ),
  executorCheck(
    'W11: says that a transaction has expired when it can never land, not before',
    expires,
    'expiry'
  ),
  executorCheck(
    'L7: with a durable nonce it lands however late, and once',
    landsLate,
    'durable_nonces'
  ),
  executorCheck(
    'W11: whose nonce another has used never lands, and its executor says so',
    isOutrun,
    'durable_nonces'
  ),
  executorCheck(
    'W15: says whether an account can pay and where no code is, and sends nothing',
    saysWhatIsMissing,
    'readiness'
  ),
  executorCheck('gives an account that it cannot sign for the transaction unsigned', handsOver)
]

/** The checks that apply to a driver. */
export function executorChecks({ has }: ExecutorDriver): readonly ExecutorCheck[] {
  return executorConformance.filter(({ needs }) => needs.every((trait) => has.includes(trait)))
}

async function describesItself(test: ExecutorTest): Promise<void> {
  const { executor, chain, read, refused, malformed } = test
  ok(executor.chains.includes(chain))
  if (executor.namespace !== undefined) equal(namespaceOf(chain), executor.namespace)
  equal(executor.executions[read.execution.type], 'read')
  equal(executor.executions[refused.type], 'write')
  for (const execution of [read.execution, test.write(1), refused]) {
    equal(await executor.check(execution), undefined)
  }
  equal(typeof (await executor.check(malformed)), 'string')
}

async function reads(test: ExecutorTest): Promise<void> {
  const { executor, chain, read, call } = test
  const { execution, outputs } = read
  deepEqual(await executor.read({ chain, execution }, call()), outputs)
  equal(await test.effective(), 0)
}

async function refusesUnknown(test: ExecutorTest): Promise<void> {
  const { executor, chain, read, malformed, call } = test
  const nowhere = { chain: `${namespaceOf(chain)}:999999`, execution: read.execution }
  const wrong = { chain, execution: malformed }
  const unheard = { chain, execution: test.write(1), account: 'nobody-has-this-name' }
  const failures = [
    await failureOf(executor.read(nowhere, call())),
    await failureOf(executor.read(wrong, call())),
    await failureOf(executor.prepare(wrong, call()))
  ]
  deepEqual(
    failures.map(({ code, definite, sent }) => ({ code, definite, sent })),
    [
      { code: 'unknown_chain', definite: true, sent: false },
      { code: 'invalid_execution', definite: true, sent: false },
      { code: 'invalid_execution', definite: true, sent: false }
    ]
  )
  // A name that is no address names nothing, or an account that cannot sign: never another one.
  const result = await executor.prepare(unheard, call()).catch(() => ({ kind: 'unsigned' }))
  equal(result.kind, 'unsigned')
}

async function knowsAccounts({ executor, chain, account, watched, call }: ExecutorTest) {
  deepEqual(await executor.account({ chain }, call()), { address: account, canSign: true })
  deepEqual(await executor.account({ chain, account: watched }, call()), {
    address: watched,
    canSign: false
  })
}

async function simulates(test: ExecutorTest): Promise<void> {
  const { executor, chain, refused, call } = test
  const fine = await executor.simulate({ chain, execution: test.write(1) }, call())
  equal(fine.ok, true)
  const bad = await executor.simulate({ chain, execution: refused }, call())
  equal(bad.ok, false)
  equal(await test.effective(), 0)
}

async function prepares(test: ExecutorTest): Promise<void> {
  const { executor, chain, account, call } = test
  const execution = test.write(1)
  const transaction = await prepared(test, execution)
  equal(transaction.chain, chain)
  equal(transaction.from, account)
  equal(await test.effective(), 0)
  equal((await executor.look(lookOf(transaction, execution), call())).status, 'unknown')
  const { hash, answer } = await executor.broadcast(transaction, call())
  deepEqual({ hash, answer }, { hash: transaction.hash, answer: 'accepted' })
  const status = await settled(test, transaction, execution)
  ok(status.status === 'included' && status.success, `it is ${status.status}`)
  equal(await test.effective(), 1)
}

async function sendsOnce(test: ExecutorTest): Promise<void> {
  const transaction = await prepared(test, test.write(1))
  const answers: string[] = []
  for (let times = 0; times < 3; times += 1) {
    answers.push((await test.executor.broadcast(transaction, test.call())).answer)
  }
  equal(answers[0], 'accepted')
  for (const answer of answers.slice(1)) match(answer, /^(known|unanswered)$/)
  equal(await test.effective(), 1)
}

async function isFound(test: ExecutorTest): Promise<void> {
  const execution = test.write(1)
  const transaction = await prepared(test, execution)
  const later = test.restart()
  equal((await later.look(lookOf(transaction, execution), test.call())).status, 'unknown')
  await later.broadcast(transaction, test.call())
  equal((await settled({ ...test, executor: later }, transaction, execution)).status, 'included')
  await test.restart().broadcast(transaction, test.call())
  equal(await test.effective(), 1)
}

async function refusesEarly(test: ExecutorTest): Promise<void> {
  const { executor, chain, refused, call } = test
  const failure = await failureOf(executor.prepare({ chain, execution: refused }, call()))
  equal(failure.code, 'reverted')
  equal(failure.definite, true)
  equal(failure.sent, false)
  notEqual(failure.revert, undefined)
  // A refused transaction holds back no other.
  await executor.broadcast(await prepared(test, test.write(1)), call())
  equal(await test.effective(), 1)
}

async function givesStatus(test: ExecutorTest): Promise<void> {
  const { executor, call } = test
  await test.mining(false)
  const execution = test.write(1)
  const transaction = await prepared(test, execution)
  const look = () => executor.look(lookOf(transaction, execution), call())
  equal((await look()).status, 'unknown')
  await executor.broadcast(transaction, call())
  equal((await look()).status, test.has.includes('pool') ? 'pending' : 'unknown')
  await test.mine(1)
  const first = await look()
  ok(first.status === 'included', first.status)
  equal(first.confirmations, 1)
  await test.mine(2)
  const later = await look()
  ok(later.status === 'included', later.status)
  equal(later.confirmations, 3)
  equal(later.blockHash, first.blockHash)
}

async function holdsBackNone(test: ExecutorTest): Promise<void> {
  const { executor, call } = test
  const given = new AbortController()
  const never = await prepared(test, test.write(1), call(given.signal))
  // Its preparer is cancelled before it sends.
  given.abort()
  await executor.broadcast(await prepared(test, test.write(2)), call())
  equal(await test.effective(), 1)
  const later = test.restart()
  later.recover([{ transaction: never, wasSent: false }])
  await later.broadcast(await prepared({ ...test, executor: later }, test.write(3)), call())
  equal(await test.effective(), 2)
}

async function refills(test: ExecutorTest): Promise<void> {
  const { executor, call } = test
  const given = new AbortController()
  const never = await prepared(test, test.write(1), call(given.signal))
  given.abort()
  const next = await prepared(test, test.write(2))
  await executor.broadcast(next, call())
  equal(await test.effective(), 1)
  equal(next.nonce, never.nonce)
  const failure = await failureOf(executor.broadcast(never, call()))
  equal(failure.code, 'nonce_superseded')
  equal(failure.definite, true)
  equal(await test.effective(), 1)
}

async function preparesMany(test: ExecutorTest): Promise<void> {
  const numbers = [1, 2, 3, 4, 5]
  const sent = await Promise.all(
    numbers.map(async (number) => {
      const transaction = await prepared(test, test.write(number))
      await test.executor.broadcast(transaction, test.call())
      return transaction
    })
  )
  equal(new Set(sent.map(({ hash }) => hash)).size, numbers.length)
  equal(await test.effective(), numbers.length)
}

async function recovers(test: ExecutorTest): Promise<void> {
  const unsent = await prepared(test, test.write(1))
  const later = test.restart()
  later.recover([{ transaction: unsent, wasSent: true }])
  const next = await prepared({ ...test, executor: later }, test.write(2))
  await later.broadcast(next, test.call())
  // Sending had been decided: the gap before the next write is filled by the same bytes.
  equal(next.nonce, present(unsent.nonce, 'a nonce') + 1)
  equal(await test.effective(), 2)
  const last = test.restart()
  const third = await prepared({ ...test, executor: last }, test.write(3))
  const again = test.restart()
  again.recover([{ transaction: third, wasSent: false }])
  const fourth = await prepared({ ...test, executor: again }, test.write(4))
  await again.broadcast(fourth, test.call())
  equal(fourth.nonce, third.nonce)
  const failure = await failureOf(again.broadcast(third, test.call()))
  equal(failure.code, 'nonce_superseded')
  equal(await test.effective(), 3)
}

async function replaces(test: ExecutorTest): Promise<void> {
  const { chain, call } = test
  await test.mining(false)
  const execution = test.write(1)
  const first = await prepared(test, execution)
  await test.executor.broadcast(first, call())
  // The process that has sent it may be over.
  const later = test.restart()
  later.recover([{ transaction: first, wasSent: true }])
  const dearer = async (transaction: SignedTransaction) => {
    const instead = { transaction, raisePercent: 10 }
    const made = await later.prepare({ chain, execution, replaces: instead }, call())
    ok(made.kind === 'signed', made.kind)
    return made.transaction
  }
  const second = await dearer(first)
  const { nonce, fee = '' } = first
  deepEqual([second.nonce, second.from, second.replaces], [nonce, first.from, first.hash])
  notEqual(second.hash, first.hash)
  ok(BigInt(present(second.fee, 'a fee')) * 10n >= BigInt(fee) * 11n, 'it pays too little')
  equal((await later.broadcast(second, call())).answer, 'accepted')
  const other = await prepared({ ...test, executor: later }, test.write(2))
  equal(other.nonce, present(nonce, 'a nonce') + 1)
  await later.broadcast(other, call())
  await test.mine(1)
  equal(await test.effective(), 2)
  const looks = [first, second].map((one) => later.look(lookOf(one, execution), call()))
  const standings = await Promise.all(looks)
  deepEqual(
    standings.map(({ status }) => status),
    ['displaced', 'included']
  )
  // What is included cannot be replaced, whichever transaction that was.
  for (const one of [first, second]) equal((await failureOf(dearer(one))).code, 'nonce_conflict')
  equal(await test.effective(), 2)
}

async function survivesReorg(test: ExecutorTest): Promise<void> {
  const { executor, call } = test
  await test.mining(false)
  const execution = test.write(1)
  const transaction = await prepared(test, execution)
  await executor.broadcast(transaction, call())
  await test.mine(1)
  equal(await test.effective(), 1)
  await present(test.reorg, 'reorg of the driver')()
  equal(await test.effective(), 0)
  equal((await executor.look(lookOf(transaction, execution), call())).status, 'unknown')
  await executor.broadcast(transaction, call())
  await test.mine(1)
  equal((await executor.look(lookOf(transaction, execution), call())).status, 'included')
  equal(await test.effective(), 1)
}

async function saysWhatIsMissing(test: ExecutorTest): Promise<void> {
  const { executor, chain, account, call } = test
  const { code, empty } = present(test.places, 'places of the driver')
  const ask = (payer: string | null, contracts: readonly string[] = [], at = chain) => {
    const asked = executor.ready?.({ chain: at, payer, contracts }, call())
    return present(asked, 'ready of the executor')
  }
  const rich = await ask(account, [code, empty])
  match(rich.height, /^[0-9]+$/)
  deepEqual([rich.canPayFees, rich.withoutCode], [true, [empty]])
  equal((await ask(empty)).canPayFees, false)
  equal((await ask(null)).canPayFees, null)
  const nowhere = ask(null, [], `${namespaceOf(chain)}:999999`)
  equal((await failureOf(nowhere)).code, 'unknown_chain')
  equal(await test.effective(), 0)
}

async function handsOver(test: ExecutorTest): Promise<void> {
  const { executor, chain, watched, call } = test
  const request = { chain, execution: test.write(1), account: watched }
  const result = await executor.prepare(request, call())
  ok(result.kind === 'unsigned', result.kind)
  equal(result.transaction.chain, chain)
  equal(result.transaction.from, watched)
  ok(!('raw' in result.transaction))
  equal(await test.effective(), 0)
  await rejects(executor.account({ chain: `${namespaceOf(chain)}:999999` }, call()))
}

function namespaceOf(chain: string): string {
  return chain.slice(0, chain.indexOf(':'))
}
