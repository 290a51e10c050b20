import { afterAll, beforeAll, describe, it } from 'vitest'
import { evmExecutor } from '../../src/executor/evm/index.js'
import {
  type ExecutorDriver,
  type ExecutorUnderTest,
  executorChecks,
  providerConformance
} from '../../src/testing/index.js'
import {
  anvilKeys,
  artifact,
  call,
  fragment,
  owner,
  startChain,
  type TestChain,
  third
} from '../support/anvil.js'
import { onEvmNode } from '../support/evm-node-under-test.js'
import {
  fakeWithExpiry,
  fakeWithNonces,
  fakeWithoutNonces
} from '../support/fake-executor-under-test.js'
import { broadcasting } from '../support/providers-under-test.js'
import { onSolanaNode, onSolanaWithNonces } from '../support/solana-executor.js'

const bridge = artifact('BridgeLock')
let chain: TestChain
beforeAll(async () => {
  chain = await startChain()
})
afterAll(() => chain.anvil.stop())

/** Real: anvil, put back to where it was after each check. */
async function openEvm(): Promise<ExecutorUnderTest> {
  const snapshot = await chain.rpc('evm_snapshot', [])
  const at = await chain.deploy(bridge, [])
  const restart = () =>
    evmExecutor({
      chains: { [chain.id]: { rpc: [chain.url], signer: 'env:KEY' } },
      environment: { KEY: anvilKeys[0] }
    })
  const count = { type: 'evm_read', to: at, abi: fragment(bridge, 'noteCount') }
  const executor = restart()
  let isMining = true
  return {
    executor,
    restart,
    chain: chain.id,
    account: owner.address,
    watched: third.address,
    read: { execution: count, outputs: { count: '0' } },
    write: (number) => call(at, bridge, 'note', { value: String(number) }),
    refused: call(at, bridge, 'send', {
      token: at,
      amount: '0',
      toChain: 'x',
      to: `0x${'00'.repeat(32)}`
    }),
    malformed: call(at, bridge, 'note', { value: 'many' }),
    effective: async () => {
      if (isMining) await emptied()
      const signal = new AbortController().signal
      const request = { chain: chain.id, execution: count }
      return Number((await executor.read(request, { key: 'k', signal }))['count'])
    },
    mining: async (isOn) => {
      isMining = isOn
      await chain.rpc('evm_setAutomine', [isOn])
    },
    mine: async (blocks) => void (await chain.rpc('anvil_mine', [`0x${blocks.toString(16)}`])),
    reorg: async () => void (await chain.rpc('anvil_reorg', [1, []])),
    places: { code: at, empty: `0x${'7'.repeat(40)}` },
    close: async () => {
      await chain.rpc('evm_setAutomine', [true])
      await chain.rpc('evm_revert', [snapshot])
    }
  }
}

/** Anvil answers before it has mined. */
async function emptied(): Promise<void> {
  for (let looks = 0; looks < 1_000; looks += 1) {
    const { pending } = (await chain.rpc('txpool_status', [])) as { readonly pending: string }
    if (Number(pending) === 0) return
  }
  throw new Error('nothing is mined')
}

const kinds: readonly (readonly [name: string, driver: ExecutorDriver])[] = [
  [
    'evm on anvil',
    { has: ['nonces', 'reorganisations', 'pool', 'replacement', 'readiness'], open: openEvm }
  ],
  ['evm on the fake node', onEvmNode],
  ['solana on litesvm', onSolanaNode],
  ['solana on litesvm, with durable nonces', onSolanaWithNonces],
  ['fake with nonces', fakeWithNonces],
  ['fake without nonces', fakeWithoutNonces],
  ['fake without nonces, with a pool and reorganisations', fakeWithExpiry]
]

for (const [name, driver] of kinds) {
  describe(`executor conformance: ${name}`, () => {
    for (const check of executorChecks(driver)) it(check.name, () => check.run(driver))
  })
}

for (const [name, driver] of kinds.slice(0, 3)) {
  describe(`provider conformance: sending to ${name}`, () => {
    const open = broadcasting(driver)
    for (const check of providerConformance) it(check.name, () => check.run(open))
  })
}
