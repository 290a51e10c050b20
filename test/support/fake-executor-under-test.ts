import {
  type ExecutorDriver,
  FakeChain,
  type FakeChainOptions,
  fakeExecutor
} from '../../src/testing/index.js'

/** The documented fake, as an EVM-like chain and as a Solana-like one. */
export const fakeWithNonces = fakeDriver({ id: 'eip155:7' }, 'evm_call', [
  'nonces',
  'reorganisations',
  'replacement',
  'readiness',
  'pool'
])
export const fakeWithoutNonces = fakeDriver(
  { id: 'solana:fake', showsPool: false },
  'solana_instruction',
  ['expiry', 'readiness']
)
/** Of a chain whose nodes have a pool, and which can take blocks back. */
export const fakeWithExpiry = fakeDriver(
  { id: 'other:fake', hasNonces: false, validityBlocks: 20 },
  'evm_call',
  ['expiry', 'pool', 'reorganisations', 'readiness']
)

function fakeDriver(
  options: FakeChainOptions,
  type: string,
  has: ExecutorDriver['has']
): ExecutorDriver {
  const open: ExecutorDriver['open'] = async () => {
    const fake = new FakeChain({
      ...options,
      read: (_, state) => ({ count: String(state.size) }),
      write: ({ value }, state) => {
        if (value === 'refused') return { ok: false, name: 'Refused' }
        state.set(`note ${state.size}`, value ?? null)
        return { ok: true, outputs: {} }
      }
    })
    fake.canPay = (account) => account !== '0xnone'
    fake.hasCode = (address) => address !== '0xnone'
    const restart = () => fakeExecutor({ chains: [fake], accounts: { default: '0xme' } })
    return {
      executor: restart(),
      restart,
      chain: fake.id,
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
      height: async () => fake.height,
      places: { code: '0xcode', empty: '0xnone' },
      close: async () => undefined
    }
  }
  return { has, open }
}
