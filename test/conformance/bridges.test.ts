import { describe, expect, it } from 'vitest'
import { TallyError } from '../../src/core/index.js'
import { bridgeExecutor } from '../../src/executor/bridge/index.js'
import type { Bridge, Executor } from '../../src/executor/index.js'
import {
  type BridgeUnderTest,
  bridgeConformance,
  executorChecks,
  FakeBridge
} from '../../src/testing/index.js'
import { bridgeDriver, openFakeBridge } from '../support/bridge-under-test.js'
import { failingChecks, neverFailed, type WrongDriver } from '../support/failing-checks.js'

describe('bridge conformance: the fake', () => {
  for (const check of bridgeConformance) it(check.name, () => check.run(openFakeBridge))
})

describe('executor conformance: that of a bridge', () => {
  for (const check of executorChecks(bridgeDriver)) {
    it(check.name, () => check.run(bridgeDriver))
  }
})

type Open = () => Promise<BridgeUnderTest>

function altered(changes: (right: Bridge, test: BridgeUnderTest) => Partial<Bridge>): () => Open {
  return () => async () => {
    const test = await openFakeBridge()
    return { ...test, bridge: { ...test.bridge, ...changes(test.bridge, test) } }
  }
}

function methodsOf(right: Executor): Executor {
  return {
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
    recover: (transactions) => right.recover(transactions)
  }
}

const wrong: readonly WrongDriver<Open>[] = [
  {
    fault: 'finds nothing wrong with what is malformed',
    driver: altered((right) => ({
      send: ({ chain, execution }) =>
        right.send({ chain, execution: { ...execution, amount: '5' } })
    })),
    fails: ['says what it carries out', 'refuses what it does not serve']
  },
  {
    fault: 'makes another write of the same transfer',
    driver: altered(() => {
      let sequence = 0
      return {
        send: () => {
          sequence += 1
          return { ok: true, execution: { type: 'evm_call', transfer: { amount: `${sequence}` } } }
        }
      }
    }),
    fails: ['says what', 'refuses what', 'the same transfer']
  },
  {
    fault: 'does not find its message in what was included',
    driver: altered(() => ({ messageId: () => undefined })),
    fails: [
      'a message has',
      'two transfers',
      'L7: the same',
      'L7: another',
      'arrives once',
      'W15: takes'
    ]
  },
  {
    fault: 'gives each look another id',
    driver: altered(() => {
      let looks = 0
      return {
        messageId: () => {
          looks += 1
          return `0x${looks}`
        }
      }
    }),
    fails: ['a message has', 'L7: the same', 'L7: another', 'arrives once']
  },
  {
    fault: 'sends when it is asked what it costs',
    driver: altered((_, test) => ({
      quote: async ({ chain, execution: transfer }) => {
        const [evm] = test.executors()
        const execution = { type: 'evm_call', transfer }
        const options = { key: 'quote', signal: new AbortController().signal }
        const made = await evm?.prepare({ chain, execution }, options)
        if (made?.kind === 'signed') await evm?.broadcast(made.transaction, options)
        return {}
      }
    })),
    fails: ['asking and preparing']
  },
  {
    fault: 'sends the same bytes anew',
    driver: () => async () => {
      const test = await openFakeBridge()
      let sends = 0
      const executors = () =>
        test.executors().map((one) => ({
          ...methodsOf(one),
          broadcast: (...[transaction, options]: Parameters<Executor['broadcast']>) => {
            sends += 1
            return one.broadcast(transaction, options)
          }
        }))
      return { ...test, executors, taken: async () => sends }
    },
    fails: ['L7: the same']
  },
  {
    fault: 'names all messages alike',
    driver: altered(() => ({ messageId: () => '0x1' })),
    fails: ['a message has', 'two transfers', 'L7: another', 'arrives once']
  },
  {
    fault: 'has every message arrived at once',
    driver: altered((right) => ({
      status: async (question, read) => {
        const { sent } = await right.status(question, read)
        return { sent, arrived: question.chain === 'solana:fake' }
      }
    })),
    fails: ['a message has', 'two transfers', 'says of a message']
  },
  {
    fault: 'never hears of an arrival',
    driver: altered((right) => ({
      status: async (question, read) => {
        const { sent } = await right.status(question, read)
        return { sent, arrived: false }
      }
    })),
    fails: ['a message has', 'arrives once']
  },
  {
    fault: 'hands out what arrives a second time',
    driver: () => async () => {
      const test = await openFakeBridge()
      let times = 0
      const relay = async () => {
        times += 1
        await test.relay()
      }
      return { ...test, relay, handedOut: async () => times }
    },
    fails: ['arrives once']
  },
  {
    fault: 'says that it takes less than it does',
    driver: altered((right) => ({
      send: (transfer) => {
        const write = right.send(transfer)
        if (!write.ok || write.moves === undefined) return write
        const spends = write.moves.spends.map((one) => ({ ...one, amount: '4' }))
        return { ...write, moves: { ...write.moves, spends } }
      }
    })),
    fails: ['W15: takes']
  },
  {
    fault: 'says that another is given it',
    driver: altered((right) => ({
      send: (transfer) => {
        const write = right.send(transfer)
        if (!write.ok || write.moves === undefined) return write
        const receivers = [{ chain: 'solana:fake', address: 'others' }]
        return { ...write, moves: { ...write.moves, receivers } }
      }
    })),
    fails: ['W15: takes']
  },
  {
    fault: 'says that another takes it',
    driver: altered((right) => ({
      send: (transfer) => {
        const write = right.send(transfer)
        if (!write.ok || write.moves === undefined) return write
        const spends = write.moves.spends.map((one) => ({ ...one, to: 'others' }))
        return { ...write, moves: { ...write.moves, spends } }
      }
    })),
    fails: ['W15: takes']
  },
  {
    fault: 'says what it moves, and shows no balances',
    driver: () => async () => {
      const { balance: _, ...test } = await openFakeBridge()
      return test
    },
    fails: ['W15: takes']
  }
]

describe('a bridge is found wrong that', () => {
  it.each(wrong)('$fault', async ({ driver, fails }) => {
    expect(await failingChecks(bridgeConformance, driver, fails)).toEqual(fails)
  })
})

it('each check of the suite for bridges fails for a wrong bridge', () => {
  expect(neverFailed(bridgeConformance, wrong)).toEqual([])
})

describe('the executor of a bridge', () => {
  it('is refused without an executor for each of its chains', () => {
    const fake = new FakeBridge()
    const [evm] = fake.executors()
    const open = () => bridgeExecutor({ bridge: fake.bridge, executors: evm ? [evm] : [] })
    expect(open).toThrow(TallyError)
    expect(open).toThrow('solana:fake')
  })
})
