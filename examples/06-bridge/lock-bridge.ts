import { type Address, createAddressWithSeed, getAddressEncoder, isAddress } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { Bridge, BridgeTransfer, BridgeWrite } from 'tallystick/bridge'

/**
 * The driver of the example's bridge: it locks on an EVM chain, and on a Solana chain a relayer
 * mints. What it sends and asks is carried out by the executors of the chains.
 */

const SYSTEM_PROGRAM = '11111111111111111111111111111111' as Address
const SEED_LENGTH = 32
const MESSAGE_ID = /^0x[0-9a-f]{64}$/

export interface LockBridgeOptions {
  /** CAIP-2 ids. */
  readonly evm: string
  readonly solana: string
  /** Address of the contract `BridgeLock`. */
  readonly lock: string
  /** Who mints on Solana. */
  readonly relayer: Address
}

/** Fields of a transfer: `token`, `amount` in smallest units, `to` as a Solana address. */
export function lockBridge({ evm, solana, lock, relayer }: LockBridgeOptions): Bridge {
  return {
    from: [evm],
    to: [solana],
    // What has to be there before anything is sent: the lock, and what the relayer mints with.
    contracts: { [evm]: [lock], [solana]: [TOKEN_PROGRAM_ADDRESS] },
    send: (transfer) => sendOf(transfer, { lock, toChain: solana }),
    messageId: (_, { receipt }) => lockedId(receipt),
    status: async ({ chain, messageId }, read) => {
      // Whoever writes a workflow says which message: it may be no id of this bridge.
      if (!MESSAGE_ID.test(messageId)) return { sent: false, arrived: false }
      if (chain === evm) {
        const execution = { type: 'evm_read', to: lock, abi: sentAbi, args: { messageId } }
        const { isSent } = await read({ chain, execution })
        return { sent: isSent === true, arrived: false }
      }
      const params = { address: await markerOf(relayer, messageId) }
      const execution = { type: 'solana_read', method: 'getAccountInfo', params }
      const { exists } = await read({ chain, execution })
      return { sent: false, arrived: exists === true }
    }
  }
}

/** The account that a message leaves behind: replay guard of the relayer, and sign of arrival. */
export function markerOf(relayer: Address, messageId: string): Promise<Address> {
  return createAddressWithSeed({
    baseAddress: relayer,
    programAddress: SYSTEM_PROGRAM,
    seed: seedOf(messageId)
  })
}

/** A seed has at most 32 bytes: the first half of the id, which nobody can choose. */
export function seedOf(messageId: string): string {
  return messageId.slice(2, 2 + SEED_LENGTH)
}

function sendOf(
  { execution }: BridgeTransfer,
  { lock, toChain }: { readonly lock: string; readonly toChain: string }
): BridgeWrite {
  const { token, amount, to } = execution
  if (typeof to !== 'string' || !isAddress(to)) {
    return { ok: false, problem: 'to: is not an address of Solana' }
  }
  if (token === undefined || amount === undefined) {
    return { ok: false, problem: 'token and amount: one of them is missing' }
  }
  const bytes = Buffer.from(getAddressEncoder().encode(to)).toString('hex')
  const args = { token, amount, toChain, to: `0x${bytes}` }
  const events = [lockedEvent]
  // No policy knows the contract's function, so the driver says what it takes and for whom.
  const spends = [{ token: String(token), amount: String(amount), to: lock }]
  const moves = { spends, receivers: [{ chain: toChain, address: to }] }
  return { ok: true, execution: { type: 'evm_call', to: lock, abi: sendAbi, args, events }, moves }
}

/** The id in the event of a receipt. */
function lockedId(receipt: unknown): string | undefined {
  const { logs = [] } = (receipt ?? {}) as { readonly logs?: readonly Locked[] }
  return logs.find(({ event }) => event === 'Locked')?.args?.messageId
}

interface Locked {
  readonly event?: string
  readonly args?: { readonly messageId?: string }
}

const bytes32 = { name: 'messageId', type: 'bytes32' }
const sendAbi = {
  type: 'function',
  name: 'send',
  inputs: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint256' },
    { name: 'toChain', type: 'string' },
    { name: 'to', type: 'bytes32' }
  ],
  outputs: [bytes32]
}
const sentAbi = {
  type: 'function',
  name: 'sent',
  inputs: [bytes32],
  outputs: [{ name: 'isSent', type: 'bool' }]
}
const lockedEvent = {
  type: 'event',
  name: 'Locked',
  inputs: [
    { ...bytes32, indexed: true },
    { name: 'sender', type: 'address', indexed: true },
    {
      name: 'message',
      type: 'tuple',
      components: [
        { name: 'token', type: 'address' },
        { name: 'amount', type: 'uint256' },
        { name: 'toChain', type: 'string' },
        { name: 'to', type: 'bytes32' }
      ]
    }
  ]
}
