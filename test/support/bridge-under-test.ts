import { bridgeExecutor } from '../../src/executor/bridge/index.js'
import {
  type BridgeUnderTest,
  type ExecutorDriver,
  type ExecutorUnderTest,
  FakeBridge
} from '../../src/testing/index.js'

const from = 'eip155:7'

/** The documented fake, for the suite of bridges. */
export async function openFakeBridge(): Promise<BridgeUnderTest> {
  const fake = new FakeBridge({ from })
  return {
    bridge: fake.bridge,
    executors: () => fake.executors(),
    from,
    to: 'solana:fake',
    transfer: { type: 'bridge_send', token: '0xtoken', amount: '5', to: 'them' },
    malformed: { type: 'bridge_send', amount: 5 },
    unheard: '0xnone',
    relay: async () => fake.relay(),
    taken: async () => fake.sent().length,
    handedOut: async () => fake.arrived().length,
    balance: async (holder) => fake.balance(holder),
    close: async () => undefined
  }
}

/** The same, for the suite of executors: a bridge's executor keeps what those of chains promise. */
async function openBridgeExecutor(): Promise<ExecutorUnderTest> {
  const fake = new FakeBridge({ from })
  fake.from.canPay = (account) => account !== '0xnone'
  fake.from.hasCode = (address) => address !== '0xnone'
  const restart = () => bridgeExecutor({ bridge: fake.bridge, executors: fake.executors() })
  const status = { type: 'bridge_status', message_id: '0xnone' }
  return {
    executor: restart(),
    restart,
    chain: from,
    account: '0xme',
    watched: '0xthem',
    read: {
      execution: status,
      outputs: { message_id: '0xnone', sent: false, arrived: false }
    },
    write: (number) => ({ type: 'bridge_send', amount: String(number) }),
    refused: { type: 'bridge_send', amount: '0' },
    malformed: { type: 'bridge_send', amount: 5 },
    effective: async () => fake.sent().length,
    mining: async (isOn) => {
      fake.from.mining = isOn
    },
    mine: async (blocks) => fake.from.mine(blocks),
    reorg: async () => fake.from.reorg(1),
    places: { code: '0xcode', empty: '0xnone' },
    close: async () => undefined
  }
}

/** The executor of a bridge, on a chain as {@link FakeBridge} has it. */
export const bridgeDriver: ExecutorDriver = {
  has: ['nonces', 'reorganisations', 'pool', 'replacement', 'readiness'],
  open: openBridgeExecutor
}
