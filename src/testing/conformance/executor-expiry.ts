import { equal, notEqual, ok } from 'node:assert/strict'
import { present } from '../../core/index.js'
import type { Executor, SignedTransaction } from '../../executor/index.js'
import { type ExecutorTest, failureOf, lookOf, prepared } from './executor-driver.js'

/** Checks of chains on which a transaction can be included up to a height. */

/** Blocks after the last one that might hold it; by then the chain has settled that none does. */
const SETTLING_BLOCKS_MAX = 256
const SETTLING_STEP_BLOCKS = 16
/** Blocks after which nodes have a transaction in their history alone. */
const LATE_BLOCKS = 600

export async function expires(test: ExecutorTest): Promise<void> {
  const { executor, call } = test
  await test.mining(false)
  const execution = test.write(1)
  const never = await prepared(test, execution)
  const last = await prepared(test, test.write(2))
  const statusOf = async (of: Executor = executor) => {
    const found = await of.look(lookOf(never, execution), call())
    return found.status === 'displaced' ? found.cause : found.status
  }
  const toCome = await blocksLeft(test, never)
  for (const blocks of [0, 1, Math.floor(toCome / 2)]) {
    await mineTo(test, never, toCome - blocks)
    equal(await statusOf(), 'unknown')
  }
  await mineTo(test, never, 1)
  // One block may still take it, as it takes another one of the same age.
  for (const one of [executor, test.restart()]) equal(await statusOf(one), 'unknown')
  await executor.broadcast(last, call())
  await test.mine(1)
  equal(await test.effective(), 1)
  let status = await statusOf()
  for (let mined = 0; mined < SETTLING_BLOCKS_MAX && status === 'unknown'; ) {
    await test.mine(SETTLING_STEP_BLOCKS)
    mined += SETTLING_STEP_BLOCKS
    status = await statusOf()
  }
  equal(status, 'expired')
  equal(await statusOf(test.restart()), 'expired')
  // Its bytes have no effect any more, whatever is answered to them.
  const answer = executor.broadcast(never, call())
  const isRefused = await answer.then(
    () => false,
    () => true
  )
  if (isRefused) equal((await failureOf(answer)).code, 'expired')
  await test.mine(1)
  equal(await test.effective(), 1)
  equal(await statusOf(), 'expired')
}

export async function isFoundLate(test: ExecutorTest): Promise<void> {
  const { executor, call } = test
  await test.mining(false)
  const execution = test.write(1)
  const transaction = await prepared(test, execution)
  await mineTo(test, transaction, 1)
  await executor.broadcast(transaction, call())
  await test.mine(1)
  equal(await test.effective(), 1)
  for (const blocks of [0, 1, SETTLING_STEP_BLOCKS, LATE_BLOCKS]) {
    await test.mine(blocks)
    for (const one of [executor, test.restart()]) {
      const found = await one.look(lookOf(transaction, execution), call())
      equal(found.status, 'included')
    }
  }
  // They have expired, and landed before that: a refusal would say that they did not.
  for (const one of [executor, test.restart()]) {
    await one.broadcast(transaction, call())
    await test.mine(1)
    equal(await test.effective(), 1)
    const found = await one.look(lookOf(transaction, execution), call())
    equal(found.status, 'included')
  }
}

/** Blocks that can still come and hold a transaction. */
async function blocksLeft(
  { height }: ExecutorTest,
  { validUntil }: SignedTransaction
): Promise<number> {
  notEqual(validUntil, null)
  const left = present(validUntil, 'an end') - (await present(height, 'height of the driver')())
  ok(left > 1, `it is valid for ${left} blocks`)
  return left
}

/** Mines until so many blocks can still come and hold a transaction. */
async function mineTo(
  test: ExecutorTest,
  transaction: SignedTransaction,
  left: number
): Promise<void> {
  await test.mine((await blocksLeft(test, transaction)) - left)
}
