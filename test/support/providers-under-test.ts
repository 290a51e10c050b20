import type { Provider } from '../../src/block/index.js'
import { EffectFailure } from '../../src/code/index.js'
import { chainEffects, chainProviders, type Executor } from '../../src/executor/index.js'
import {
  type ExecutorDriver,
  FakeService,
  type ProviderUnderTest
} from '../../src/testing/index.js'

/** The documented fake, which refuses what is marked. */
export function openFakeService(honoursKeys = true): ProviderUnderTest & {
  readonly service: FakeService
} {
  const service = new FakeService({
    name: 'bank.transfer',
    honoursKeys,
    answer: (request, count) => {
      if (request === 'refused') throw new EffectFailure('refused', { definite: true })
      return { reference: `T-${count}` }
    }
  })
  return {
    service,
    provider: service.provider(),
    restart: async () => service.provider(),
    sideEffects: 'idempotent',
    request: (number) => ({ cents: number }),
    refused: () => 'refused',
    effects: async () => service.deeds.length,
    trouble: async (trouble) => void service.troubles.push(trouble),
    arrive: async () => service.arrive(),
    close: async () => undefined
  }
}

/** What sends transactions, in front of the chain of an executor under test. */
export function broadcasting({ open }: ExecutorDriver): () => Promise<ProviderUnderTest> {
  return async () => {
    const test = await open()
    const { chain } = test
    const calling = new AbortController()
    const prepared = async (number: number) => {
      const options = { key: `prepare ${number}`, signal: calling.signal }
      const request = { chain, execution: test.write(number) }
      const result = await test.executor.prepare(request, options)
      if (result.kind !== 'signed') throw new Error('it is not signed')
      return { transaction: { ...result.transaction } }
    }
    return {
      provider: broadcastOf(test.executor),
      restart: async () => broadcastOf(test.restart()),
      sideEffects: 'idempotent',
      tellsApartBy: 'request',
      request: prepared,
      effects: () => test.effective(),
      close: async () => {
        calling.abort()
        await test.close()
      }
    }
  }
}

function broadcastOf(executor: Executor): Provider {
  const provider = chainProviders([executor]).find(({ name }) => name === chainEffects.broadcast)
  if (provider === undefined) throw new Error('nothing sends transactions')
  return provider
}
