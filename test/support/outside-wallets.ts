import type { OpenWait } from '../../src/block/index.js'
import type { Json, JsonObject } from '../../src/core/index.js'
import type { FakeChain, FakeTransaction } from '../../src/testing/index.js'
import { flow } from './ais-flows.js'

/** Writes of a wallet outside, on chains with and without nonces. */

export const account = `0x${'2'.repeat(40)}`
export const hashes = {
  'eip155:1': (digit: string) => `0x${digit.repeat(64)}`,
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': (digit: string) => digit.repeat(88)
} as const
export type ChainId = keyof typeof hashes
export const chains = Object.keys(hashes) as readonly ChainId[]

const abi = { type: 'function', name: 'pay', inputs: [], outputs: [] }
/** A protocol that both chains have. */
export const till: JsonObject = {
  schema: 'ais/0.0.2',
  meta: { protocol: 'till', version: '0.0.2' },
  deployments: chains.map((chain) => ({ chain, contracts: {} })),
  actions: {
    pay: {
      risk_level: 1,
      execution: {
        'eip155:*': { type: 'evm_call', to: { lit: account }, abi, args: {} },
        'solana:*': {
          type: 'solana_instruction',
          program: { lit: 'PERPHjGBqRHArX4DySjwM6UJHiR3sWAatqfdBS2qQJu' },
          instruction: 'pay',
          accounts: [],
          data: { lit: '0x01' }
        }
      }
    }
  }
}

export const policy = { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }

/** A workflow of one payment that gives the hash of its transaction. */
export function paying(id: ChainId, more: JsonObject = {}): Json {
  const hashName = id.startsWith('solana:') ? 'signature' : 'tx_hash'
  const node = { id: 'pay', type: 'action_ref', protocol: 'till@0.0.2', action: 'pay', ...more }
  const outputs = { hash: { ref: `nodes.pay.outputs.${hashName}` } }
  return flow([node], { default_chain: id, outputs }) as Json
}

/** What a wait asks a wallet to sign. */
export function askedOf({ request }: Pick<OpenWait, 'request'>): JsonObject {
  return (request as { readonly request: JsonObject }).request['transaction'] as JsonObject
}

/** The wallet sends what it is asked to; sent again, it is known. */
export function sentBy(wait: OpenWait, chain: FakeChain, hash: string): void {
  const { execution } = askedOf(wait) as Pick<FakeTransaction, 'execution'>
  const { pending: nonce } = chain.counts(account)
  chain.receive({ hash, from: account, nonce, validUntil: null, execution })
}
