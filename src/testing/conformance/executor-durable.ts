import { equal } from 'node:assert/strict'
import type { Executor, SignedTransaction } from '../../executor/index.js'
import { type ExecutorTest, lookOf, prepared } from './executor-driver.js'

/** Checks of chains on which a transaction can be included until another has used its nonce. */

/** More than any blockhash is good for. */
const LATE_BLOCKS = 600
/** By then the chain has settled what was included. */
const SETTLING_BLOCKS = 64

export async function landsLate(test: ExecutorTest): Promise<void> {
  const { executor, call } = test
  await test.mining(false)
  const execution = test.write(1)
  const transaction = await prepared(test, execution)
  equal(transaction.validUntil, null)
  for (const blocks of [0, LATE_BLOCKS]) {
    await test.mine(blocks)
    for (const one of [executor, test.restart()]) {
      equal(await statusOf(test, one, transaction), 'unknown')
    }
  }
  const next = test.restart()
  next.recover([{ transaction, wasSent: true }])
  for (const one of [executor, next]) {
    await one.broadcast(transaction, call())
    await test.mine(1)
    equal(await test.effective(), 1)
  }
  await test.mine(SETTLING_BLOCKS)
  // Its own nonce is used by now, by itself.
  for (const one of [executor, test.restart()]) {
    equal(await statusOf(test, one, transaction), 'included')
  }
}

export async function isOutrun(test: ExecutorTest): Promise<void> {
  const { executor, call, chain } = test
  await test.mining(false)
  const never = await prepared(test, test.write(1))
  // A process that knows nothing of it takes the same nonce.
  const other = test.restart()
  const taken = await prepared({ executor: other, chain, call }, test.write(2))
  await other.broadcast(taken, call())
  equal(await statusOf(test, executor, never), 'unknown')
  await test.mine(1)
  equal(await test.effective(), 1)
  await test.mine(SETTLING_BLOCKS)
  for (const one of [executor, other, test.restart()]) {
    equal(await statusOf(test, one, never), 'expired')
  }
  await executor.broadcast(never, call()).catch(() => undefined)
  await test.mine(1)
  equal(await test.effective(), 1)
  const next = await prepared(test, test.write(3))
  await executor.broadcast(next, call())
  await test.mine(1)
  equal(await test.effective(), 2)
}

async function statusOf(test: ExecutorTest, of: Executor, transaction: SignedTransaction) {
  const found = await of.look(lookOf(transaction, test.write(1)), test.call())
  return found.status === 'displaced' ? found.cause : found.status
}
