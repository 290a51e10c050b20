import { type ExecutorUnderTest, FakeChain, fakeExecutor } from '../../src/testing/index.js'

/** The documented fake, as an EVM-like chain and as a Solana-like one. */
export function openFakeExecutor(id: string, type: string): () => Promise<ExecutorUnderTest> {
  return async () => {
    const fake = new FakeChain({
      id,
      read: (_, state) => ({ count: String(state.size) }),
      write: ({ value }, state) => {
        if (value === 'refused') return { ok: false, name: 'Refused' }
        state.set(`note ${state.size}`, value ?? null)
        return { ok: true, outputs: {} }
      }
    })
    const restart = () => fakeExecutor({ chains: [fake], accounts: { default: '0xme' } })
    return {
      executor: restart(),
      restart,
      chain: id,
      account: '0xme',
      watched: '0xthem',
      read: { execution: { type: 'evm_read' }, outputs: { count: '0' } },
      write: (number) => ({ type, value: number }),
      refused: { type, value: 'refused' },
      malformed: { type: 'dance' },
      effective: async () => fake.effective().length,
      mining: async (isOn) => {
        fake.mining = isOn
      },
      mine: async (blocks) => fake.mine(blocks),
      reorg: async () => fake.reorg(1),
      close: async () => undefined
    }
  }
}
