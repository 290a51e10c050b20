import { describe, expect, it } from 'vitest'
import { EffectFailure } from '../../src/code/index.js'
import type {
  Executor,
  SignedTransaction,
  TransactionStatus,
  WriteRequest
} from '../../src/executor/index.js'
import {
  type ExecutorDriver,
  type ExecutorUnderTest,
  executorChecks,
  executorConformance
} from '../../src/testing/index.js'
import { failingChecks, neverFailed, type WrongDriver } from '../support/failing-checks.js'
import { fakeWithExpiry, fakeWithNonces } from '../support/fake-executor-under-test.js'
import { onSolanaNode, onSolanaWithNonces } from '../support/solana-executor.js'

/** The fake executor, of which some methods do otherwise, in each process of the check. */
function altered(
  changes: (right: Executor, test: ExecutorUnderTest) => Partial<Executor>,
  { has, open: openRight }: ExecutorDriver = fakeWithNonces
): () => ExecutorDriver {
  const open = async () => {
    const test = await openRight()
    const over = (right: Executor): Executor => ({
      ...(right.namespace === undefined ? {} : { namespace: right.namespace }),
      chains: right.chains,
      executions: right.executions,
      check: (execution) => right.check(execution),
      account: (request, options) => right.account(request, options),
      read: (request, options) => right.read(request, options),
      simulate: (request, options) => right.simulate(request, options),
      prepare: (request, options) => right.prepare(request, options),
      broadcast: (transaction, options) => right.broadcast(transaction, options),
      look: (request, options) => right.look(request, options),
      ...(right.ready === undefined ? {} : { ready: right.ready.bind(right) }),
      recover: (transactions) => right.recover(transactions),
      ...changes(right, test)
    })
    return { ...test, executor: over(test.executor), restart: () => over(test.restart()) }
  }
  return () => ({ has, open })
}

const signal = new AbortController().signal
const never = () => new Promise<never>(() => undefined)

const wrong: readonly WrongDriver<ExecutorDriver>[] = [
  {
    fault: 'finds nothing wrong with what is malformed',
    driver: altered(() => ({ check: async () => undefined })),
    fails: ['says which chains']
  },
  {
    fault: 'reads what it has read before',
    driver: altered(() => ({ read: async () => ({ count: '1' }) })),
    fails: ['reads by name', 'refuses what is not configured']
  },
  {
    fault: 'does not know whether a refused name was sent',
    driver: altered((right) => ({
      read: async (request, options) => {
        try {
          return await right.read(request, options)
        } catch (error) {
          const { reason, details } = error as EffectFailure
          throw new EffectFailure(reason, { details, definite: false })
        }
      }
    })),
    fails: ['refuses what is not configured']
  },
  {
    fault: 'says that it can sign for every address',
    driver: altered((right) => ({
      account: async (request, options) => ({
        ...(await right.account(request, options)),
        canSign: true
      })
    })),
    fails: ['knows which accounts']
  },
  {
    fault: 'signs with its own account where it cannot sign',
    driver: altered((right) => ({
      prepare: ({ chain, execution }: WriteRequest, options) =>
        right.prepare({ chain, execution }, options)
    })),
    fails: ['refuses what is not configured', 'W11: puts a dearer', 'gives an account']
  },
  {
    fault: 'simulates on the chain itself',
    driver: altered((right) => ({
      simulate: async (request, options) => {
        const simulation = await right.simulate(request, options)
        if (simulation.ok) await sent(right, request)
        return simulation
      }
    })),
    fails: ['simulates without']
  },
  {
    fault: 'sends while it prepares',
    driver: altered((right) => ({
      prepare: async (request, options) => {
        const prepared = await right.prepare(request, options)
        if (prepared.kind === 'signed') await right.broadcast(prepared.transaction, options)
        return prepared
      }
    })),
    fails: [
      'L7: preparing',
      'L7: the same bytes',
      'L7: another process',
      'W11: says unknown',
      'W11: what was prepared',
      'W11: a nonce',
      'W11: continues',
      'W11: puts a dearer'
    ]
  },
  {
    fault: 'signs anew at each sending',
    driver: altered((right, { write }) => ({
      broadcast: async (transaction, options) => {
        const { hash } = transaction
        const answer = await right.broadcast(transaction, options)
        if (answer.answer === 'accepted') return answer
        await sent(right, { chain: transaction.chain, execution: write(1) })
        return { hash, answer: 'known' }
      }
    })),
    fails: ['L7: the same bytes', 'L7: another process']
  },
  {
    fault: 'knows only what this process has sent',
    driver: altered((right) => {
      const known = new Set<string>()
      return {
        broadcast: (transaction, options) => {
          known.add(transaction.hash)
          return right.broadcast(transaction, options)
        },
        look: async (request, options): Promise<TransactionStatus> =>
          known.has(request.hash) ? right.look(request, options) : { status: 'unknown' },
        recover: () => undefined
      }
    }),
    fails: ['W11: continues', 'W11: puts a dearer']
  },
  {
    fault: 'sends a refused write all the same',
    driver: altered((right, { write }) => ({
      prepare: async (request, options) => {
        const isRefused = request.execution['value'] === 'refused'
        return right.prepare(isRefused ? { ...request, execution: write(9) } : request, options)
      }
    })),
    fails: ['W10: a refusal']
  },
  {
    fault: 'says of a transaction in the pool that it is included',
    driver: altered((right) => ({
      look: async (request, options) => {
        const standing = await right.look(request, options)
        return standing.status === 'pending' ? included : standing
      }
    })),
    fails: ['W11: says unknown']
  },
  {
    fault: 'counts no blocks',
    driver: altered((right) => ({
      look: async (request, options) => {
        const standing = await right.look(request, options)
        return standing.status === 'included' ? { ...standing, confirmations: 1 } : standing
      }
    })),
    fails: ['W11: says unknown']
  },
  {
    fault: 'sends a write that was called off',
    driver: altered((right) => ({
      prepare: async (request, options) => {
        const prepared = await right.prepare(request, options)
        if (prepared.kind === 'unsigned') return prepared
        options.signal.addEventListener('abort', () => {
          right.broadcast(prepared.transaction, options).catch(() => undefined)
        })
        return prepared
      }
    })),
    fails: ['W11: what was prepared', 'W11: a nonce']
  },
  {
    fault: 'gives one nonce to writes that are prepared at once',
    driver: altered((right) => {
      let last: ReturnType<Executor['prepare']> | undefined
      return {
        prepare: (request, options) => {
          const isShared = request.execution['value'] === 2 || request.execution['value'] === 3
          if (isShared && last !== undefined) return last
          const prepared = right.prepare(request, options)
          if (request.execution['value'] === 1) last = prepared
          return prepared
        }
      }
    }),
    fails: ['W11: a nonce', 'W11: writes that are', 'W11: puts a dearer']
  },
  {
    fault: 'forgets the transactions of earlier processes',
    driver: altered(() => ({ recover: () => undefined })),
    fails: ['W11: continues']
  },
  {
    fault: 'says of every account that it can pay, and of every address that code is there',
    driver: altered(() => ({
      ready: async () => ({ height: '1', canPayFees: true, withoutCode: [] })
    })),
    fails: ['W15: says whether']
  },
  {
    fault: 'prepares a second transaction in the place of none',
    driver: altered((right) => ({
      prepare: ({ replaces: _, ...request }, options) => right.prepare(request, options)
    })),
    fails: ['W11: puts a dearer']
  },
  {
    fault: 'remembers that a transaction was included',
    driver: altered((right) => {
      const seen = new Map<string, TransactionStatus>()
      return {
        look: async (request, options) => {
          const standing = await right.look(request, options)
          if (standing.status === 'included') seen.set(request.hash, standing)
          return seen.get(request.hash) ?? standing
        },
        broadcast: async (transaction: SignedTransaction, options) => {
          const answer = await right.broadcast(transaction, options)
          const { chain, hash, from, nonce, validUntil } = transaction
          const execution = { type: 'evm_call' }
          const look = { chain, hash, from, nonce, validUntil, execution, expected: null }
          const standing = await right.look(look, options)
          if (standing.status !== 'unknown') seen.set(hash, { ...included, blockHash: hash })
          return answer
        }
      }
    }),
    fails: ['W11: says unknown', 'W11: forgets a transaction']
  },
  {
    fault: 'says that a transaction has expired while its last block is to come',
    driver: altered(
      (right) => ({
        look: async (request, options) => {
          const { validUntil } = request
          const early = validUntil === null ? {} : { validUntil: validUntil - 2 }
          return right.look({ ...request, ...early }, options)
        }
      }),
      fakeWithExpiry
    ),
    fails: ['W11: says that a transaction has expired']
  },
  {
    fault: 'never says that a transaction has expired',
    driver: altered(
      (right) => ({
        look: (request, options) => right.look({ ...request, validUntil: null }, options)
      }),
      fakeWithExpiry
    ),
    fails: ['W11: says that a transaction has expired']
  },
  {
    fault: 'says that all is over when the last block has come, also of what has landed',
    driver: altered(
      (right) => ({
        look: async (request, options) => {
          const newest = await right.look({ ...request, hash: '0x' }, options)
          return newest.status === 'displaced' ? newest : right.look(request, options)
        }
      }),
      fakeWithExpiry
    ),
    fails: ['L7: what landed in its last block']
  },
  {
    fault: 'signs an expired transaction anew when it is sent',
    driver: altered(
      (right, { write }) => ({
        broadcast: async (transaction, options) => {
          const { hash } = transaction
          const look = { ...transaction, execution: write(1), expected: null }
          const { status } = await right.look(look, options)
          if (status !== 'displaced') return right.broadcast(transaction, options)
          await sent(right, { chain: transaction.chain, execution: write(1) })
          return { hash, answer: 'accepted' }
        }
      }),
      fakeWithExpiry
    ),
    fails: ['W11: says that a transaction has expired']
  },
  {
    fault: 'holds writes back while one that was prepared is not sent',
    driver: altered((right) => {
      const open = new Set<string>()
      return {
        prepare: async (request, options) => {
          if (open.size > 0 && request.execution['value'] === 2) return never()
          const prepared = await right.prepare(request, options)
          if (prepared.kind === 'signed') open.add(prepared.transaction.hash)
          return prepared
        },
        broadcast: (transaction, options) => {
          open.delete(transaction.hash)
          return right.broadcast(transaction, options)
        }
      }
    }, fakeWithExpiry),
    fails: ['late: W11: what was prepared', 'late: W11: says that a transaction has expired']
  },
  {
    fault: 'does not answer what a chain knows of a transaction',
    driver: altered(() => ({ look: never })),
    fails: [
      'late: L7: preparing',
      'late: L7: another process',
      'late: W11: says unknown',
      'late: W11: puts a dearer',
      'late: W11: forgets a transaction'
    ]
  }
]

/** On litesvm, where each check takes longer: those alone that are about nonces. */
const wrongOnSolana: readonly WrongDriver<ExecutorDriver>[] = [
  {
    fault: 'signs with a blockhash, though it has durable nonces',
    driver: () => ({ ...onSolanaNode, has: onSolanaWithNonces.has }),
    fails: ['L7: with a durable nonce', 'W11: whose nonce another']
  },
  {
    fault: 'never says that a durable nonce is used',
    driver: altered(
      (right) => ({
        look: ({ lifetime: _, ...request }, options) => right.look(request, options)
      }),
      onSolanaWithNonces
    ),
    fails: ['W11: whose nonce another']
  },
  {
    fault: 'says that a durable nonce is used while it is not',
    driver: altered(
      (right) => ({
        look: (request, options) =>
          right.look({ ...request, lifetime: { ...request.lifetime, nonce: '1' } }, options)
      }),
      onSolanaWithNonces
    ),
    fails: ['L7: with a durable nonce']
  }
]

const included: Extract<TransactionStatus, { readonly status: 'included' }> = {
  status: 'included',
  success: true,
  confirmations: 1,
  blockNumber: 1,
  blockHash: '0x',
  outputs: {},
  revert: null
}

async function sent(executor: Executor, request: WriteRequest): Promise<void> {
  const options = { key: 'again', signal }
  const prepared = await executor.prepare(request, options)
  if (prepared.kind === 'signed') await executor.broadcast(prepared.transaction, options)
}

describe('an executor is found wrong that', () => {
  it.each(wrong)('$fault', async ({ driver, fails }) => {
    const checks = executorChecks(driver())
    expect(await failingChecks(checks, driver, fails)).toEqual(fails)
  })
})

describe('an executor of Solana is found wrong that', () => {
  it.each(wrongOnSolana)('$fault', async ({ driver, fails }) => {
    const all = executorChecks(driver())
    const checks = all.filter(({ needs }) => needs.includes('durable_nonces'))
    expect(await failingChecks(checks, driver, fails)).toEqual(fails)
  })
})

it('each check of the suite for executors fails for a wrong executor', () => {
  expect(neverFailed(executorConformance, [...wrong, ...wrongOnSolana])).toEqual([])
})
