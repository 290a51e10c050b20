import { describe, expect, it } from 'vitest'
import type { JournalEntry } from '../../../src/block/index.js'
import { type Json, TallyError } from '../../../src/core/index.js'
import {
  chainEffects,
  chainProviders,
  type Executor,
  lookFor,
  type SignedTransaction
} from '../../../src/executor/index.js'
import { FakeChain, fakeExecutor } from '../../../src/testing/index.js'

const chain = 'eip155:7'
const signal = new AbortController().signal

/** An executor that writes down what it was asked for. */
function listening(asked: string[], name: string, of: Executor): Executor {
  const noted = (method: string, about: string) => asked.push(`${name} ${method} ${about}`)
  return {
    ...(of.namespace === undefined ? {} : { namespace: of.namespace }),
    chains: of.chains,
    executions: of.executions,
    check: (execution) => of.check(execution),
    account: async (request, options) => {
      noted('account', request.chain)
      return of.account(request, options)
    },
    read: async (request, options) => {
      noted('read', request.execution.type)
      return of.read(request, options)
    },
    simulate: async (request, options) => {
      noted('simulate', request.execution.type)
      return of.simulate(request, options)
    },
    prepare: async (request, options) => {
      noted('prepare', request.execution.type)
      return of.prepare(request, options)
    },
    broadcast: async (transaction, options) => {
      noted('broadcast', String(transaction.nonce))
      return of.broadcast(transaction, options)
    },
    look: async (request, options) => {
      noted('look', request.execution.type)
      return of.look(request, options)
    },
    recover: (transactions) => {
      noted('recover', transactions.map(({ transaction }) => transaction.hash).join(' '))
      of.recover(transactions)
    }
  }
}

const sends = { bridge_send: 'write', bridge_status: 'read' } as const

function two() {
  const asked: string[] = []
  const own = new FakeChain({ id: chain })
  const accounts = { default: '0xme' }
  const evm = listening(asked, 'evm', fakeExecutor({ chains: [own], accounts }))
  const aside = { executions: sends, isBeside: true, accounts: { default: '0xbridge' } }
  const bridge = listening(asked, 'bridge', fakeExecutor({ chains: [own], ...aside }))
  return { asked, evm, bridge, own }
}

function performer(executors: readonly Executor[]) {
  const providers = chainProviders(executors)
  const found = (name: string) => {
    const provider = providers.find((one) => one.name === name)
    if (provider === undefined) throw new Error(`no provider ${name}`)
    return provider
  }
  const perform = async (name: string, request: object): Promise<Json> =>
    found(name).perform({ request: request as Json, key: 'k', signal } as never)
  return { found, perform }
}

async function prepared(
  perform: ReturnType<typeof performer>['perform'],
  type: string
): Promise<SignedTransaction> {
  const made = await perform(chainEffects.prepare, { chain, execution: { type } })
  return (made as unknown as { readonly transaction: SignedTransaction }).transaction
}

function codeOf(work: () => unknown): string | undefined {
  try {
    work()
  } catch (error) {
    if (error instanceof TallyError) return error.code
    throw error
  }
  return undefined
}

for (const order of ['as given', 'turned round'] as const) {
  describe(`several executors on one chain, ${order}`, () => {
    const opened = () => {
      const { asked, evm, bridge, own } = two()
      const executors = order === 'as given' ? [evm, bridge] : [bridge, evm]
      return { asked, own, ...performer(executors) }
    }

    it('are asked by the execution type, and the own executor for accounts', async () => {
      const { asked, perform } = opened()
      await perform(chainEffects.account, { chain })
      for (const type of ['evm_read', 'bridge_status']) {
        await perform(chainEffects.read, { chain, execution: { type } })
      }
      for (const type of ['evm_call', 'bridge_send']) {
        await perform(chainEffects.simulate, { chain, execution: { type } })
        await perform(chainEffects.prepare, { chain, execution: { type } })
      }
      expect(asked).toEqual([
        `evm account ${chain}`,
        'evm read evm_read',
        'bridge read bridge_status',
        'evm simulate evm_call',
        'evm prepare evm_call',
        'bridge simulate bridge_send',
        'bridge prepare bridge_send'
      ])
    })

    it('L7: what one has prepared is sent, looked for and located by the same one', async () => {
      const { asked, perform, found } = opened()
      for (const [name, type] of [
        ['evm', 'evm_call'],
        ['bridge', 'bridge_send']
      ] as const) {
        const transaction = await prepared(perform, type)
        expect(transaction.executionType).toBe(name === 'evm' ? undefined : type)
        asked.length = 0
        await perform(chainEffects.broadcast, { transaction })
        const call = { request: { transaction }, key: 'k', signal }
        const located = await found(chainEffects.broadcast).locate?.(call as never)
        expect(located).toMatchObject({ found: true })
        const { hash, from } = transaction
        await perform(chainEffects.look, lookFor({ path: 'n', chain, hash, from, transaction }))
        expect(asked).toEqual([
          `${name} broadcast 0`,
          `${name} look broadcast`,
          `${name} look recheck`
        ])
      }
    })

    it('W11: each gets the unfinished transactions that it has prepared', async () => {
      const { asked, perform, found } = opened()
      const entries = [await prepared(perform, 'evm_call'), await prepared(perform, 'bridge_send')]
      asked.length = 0
      const journal = entries.map((transaction, step) => ({
        path: `root/n${step}`,
        step,
        attempt: 1,
        k: 'sealed',
        effect: chainEffects.prepare,
        ok: true,
        body: { kind: 'signed', transaction }
      })) as unknown as readonly JournalEntry[]
      async function* journals() {
        yield journal
      }
      await found(chainEffects.broadcast).recover?.(journals())
      expect(asked.sort()).toEqual([
        `bridge recover ${entries[1]?.hash}`,
        `evm recover ${entries[0]?.hash}`
      ])
    })

    it('a type that none of them knows is refused by the own executor', async () => {
      const { perform } = opened()
      const execution = { type: 'other_send' }
      await expect(perform(chainEffects.prepare, { chain, execution })).rejects.toMatchObject({
        message: expect.stringContaining('invalid_execution')
      })
    })
  })
}

describe('a configuration of executors', () => {
  const other = new FakeChain({ id: 'eip155:8' })

  it('is refused when two know one execution type on the same chain', () => {
    const { evm, bridge, own } = two()
    const second = fakeExecutor({ chains: [own], executions: sends, isBeside: true })
    expect(codeOf(() => chainProviders([evm, bridge, second]))).toBe('executor.duplicate_execution')
    const call = { evm_call: 'write' } as const
    const third = fakeExecutor({ chains: [own], executions: call, isBeside: true })
    expect(codeOf(() => chainProviders([evm, third]))).toBe('executor.duplicate_execution')
    expect(codeOf(() => chainProviders([evm, fakeExecutor({ chains: [other] })]))).toBe(
      'executor.duplicate_namespace'
    )
  })

  it('is taken when two know one execution type on different chains', () => {
    const { evm, bridge } = two()
    const second = fakeExecutor({ chains: [other], executions: sends, isBeside: true })
    expect(codeOf(() => chainProviders([evm, bridge, second]))).toBeUndefined()
  })

  it('without the executor that prepared a transaction refuses to send it', async () => {
    const { evm, bridge, asked } = two()
    const transaction = await prepared(performer([evm, bridge]).perform, 'bridge_send')
    asked.length = 0
    const { perform } = performer([evm])
    await expect(perform(chainEffects.broadcast, { transaction })).rejects.toMatchObject({
      message: expect.stringContaining('unknown_chain')
    })
    expect(asked).toEqual([])
  })

  it('may have one executor alone on a chain, which then has its accounts', async () => {
    const { bridge, asked } = two()
    await performer([bridge]).perform(chainEffects.account, { chain })
    expect(asked).toEqual([`bridge account ${chain}`])
  })
})
