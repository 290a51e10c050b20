import { lockBridge } from '../../../examples/06-bridge/lock-bridge.js'
import { bridgeExecutor } from '../../../src/executor/bridge/index.js'
import { evmExecutor } from '../../../src/executor/evm/index.js'
import type { Execution } from '../../../src/executor/index.js'
import { solanaExecutor } from '../../../src/executor/solana/index.js'
import type { FuzzTarget } from '../target.js'
import { answeringLines, outcomesOf } from './node-lines.js'

/** What nodes on both sides of a bridge say of its messages. */

const genesis = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const evm = 'eip155:1'
const solana = `solana:${genesis}`
const lock = `0x${'11'.repeat(20)}`
const relayer = 'GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB'
const { signal } = new AbortController()

/** The first line is the id of a message as a document has it, the others what nodes answer. */
async function askBridge(input: Buffer): Promise<unknown> {
  const end = Math.max(input.indexOf('\n'), 0)
  const messageId = input.subarray(0, end).toString('utf8')
  const answers = input.subarray(end + 1)
  const [here, there] = [
    answeringLines(answers, { method: 'eth_chainId', answer: '0x1' }),
    answeringLines(answers, { method: 'getGenesisHash', answer: `${genesis}pGc` })
  ]
  const rpc = ['https://node.invalid/']
  const executor = bridgeExecutor({
    bridge: lockBridge({ evm, solana, lock, relayer: relayer as never }),
    executors: [
      evmExecutor({ chains: { [evm]: { rpc } }, transport: here.transport }),
      solanaExecutor({ chains: { [solana]: { rpc } }, transport: there.transport })
    ]
  })
  const options = { key: 'k', signal }
  const status = { type: 'bridge_status', message_id: messageId } as Execution
  const send = { type: 'bridge_send', token: lock, amount: '5', to: relayer } as Execution
  const look = { chain: evm, hash: `0x${'22'.repeat(32)}`, from: lock, nonce: 0, validUntil: null }
  const restart = () => {
    here.restart()
    there.restart()
  }
  return outcomesOf({ transport: here.transport, restart }, [
    () => executor.read({ chain: evm, execution: status }, options),
    () => executor.read({ chain: solana, execution: status }, options),
    () => executor.look({ ...look, execution: send, expected: null }, options)
  ])
}

export const bridgeTargets: Readonly<Record<string, FuzzTarget>> = {
  'bridge-messages': { readers: [], isSlow: true, read: askBridge }
}
