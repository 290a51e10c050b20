import { readFile, rename, writeFile } from 'node:fs/promises'
import {
  type Address,
  address,
  getAddressDecoder,
  getBase58Encoder,
  type KeyPairSigner
} from '@solana/kit'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getMintToCheckedInstruction,
  parseBurnCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS
} from '@solana-program/token'
import { type Abi, decodeEventLog, encodeFunctionData, type Hex, keccak256, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { callerOf, type Post } from './json-rpc.js'
import { markerOf, seedOf } from './lock-bridge.js'
import { confirmed, createMarker, memo, sendAll } from './solana.js'

/**
 * The relayer of the example: it carries locks of the EVM chain to Solana, and burns on Solana
 * back. It may die at any point: what it has carried over stands on the chains (the marker, and
 * `processed` of the contract), and its checkpoint only says where to begin to look.
 */
export interface RelayerOptions {
  readonly evmUrl: string
  readonly solanaUrl: string
  readonly lock: Hex
  readonly lockAbi: Abi
  /** What is locked, and what stands for it on Solana. */
  readonly token: Hex
  readonly mint: Address
  readonly decimals: number
  readonly evmKey: Hex
  readonly signer: KeyPairSigner
  /** A file of its own. */
  readonly checkpoint: string
  readonly say?: (words: string) => void
  readonly post?: Post
}

/** Where to begin to look. */
interface Checkpoint {
  /** Number of a block of the EVM chain. */
  readonly block: number
  /** Signature of the last transaction of Solana that was looked at. */
  readonly signature: string | null
}

/** Carries over what there is, in both directions. */
export async function relayOnce(options: RelayerOptions): Promise<void> {
  const before = await readCheckpoint(options.checkpoint)
  const block = await relayLocks(options, before.block)
  const signature = await relayBurns(options, before.signature)
  // Renaming replaces a file whole.
  await writeFile(`${options.checkpoint}.new`, JSON.stringify({ block, signature }))
  await rename(`${options.checkpoint}.new`, options.checkpoint)
}

async function readCheckpoint(path: string): Promise<Checkpoint> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text === '' ? { block: 0, signature: null } : (JSON.parse(text) as Checkpoint)
}

interface Log {
  readonly topics: [Hex, ...Hex[]]
  readonly data: Hex
}

async function relayLocks(options: RelayerOptions, fromBlock: number): Promise<number> {
  const call = callerOf(options.evmUrl, options.post)
  const head = Number(await call<Hex>('eth_blockNumber'))
  if (head < fromBlock) return fromBlock
  const range = { fromBlock: toHex(fromBlock), toBlock: toHex(head) }
  const logs = await call<readonly Log[]>('eth_getLogs', { address: options.lock, ...range })
  for (const { topics, data } of logs) {
    const { eventName, args } = decodeEventLog({ abi: options.lockAbi, topics, data })
    if (eventName === 'Locked') await mint(options, args as unknown as Lock)
  }
  return head + 1
}

interface Lock {
  readonly messageId: Hex
  readonly message: { readonly token: Hex; readonly amount: bigint; readonly to: Hex }
}

/** Marker, account, tokens and memo in one transaction: all of it happens, or nothing. */
async function mint(options: RelayerOptions, { messageId, message }: Lock): Promise<void> {
  const { signer, decimals, say } = options
  if (message.token.toLowerCase() !== options.token.toLowerCase()) return
  const call = callerOf(options.solanaUrl, options.post)
  const marker = await markerOf(signer.address, messageId)
  const found = await call<{ readonly value: unknown }>('getAccountInfo', marker, confirmed)
  if (found.value !== null) return
  say?.(`minting ${message.amount} for ${messageId.slice(0, 10)}`)
  const owner = getAddressDecoder().decode(Buffer.from(message.to.slice(2), 'hex'))
  const token = { mint: options.mint, owner, tokenProgram: TOKEN_PROGRAM_ADDRESS }
  const [ata] = await findAssociatedTokenPda(token)
  const lamports = BigInt(await call<number>('getMinimumBalanceForRentExemption', 0))
  await sendAll(call, signer, [
    createMarker(signer, { address: marker, seed: seedOf(messageId), lamports }),
    getCreateAssociatedTokenIdempotentInstruction({ payer: signer, ata, ...token }),
    getMintToCheckedInstruction({
      mint: options.mint,
      token: ata,
      mintAuthority: signer,
      amount: message.amount,
      decimals
    }),
    memo(messageId)
  ])
  say?.(`minted ${message.amount} for ${messageId.slice(0, 10)}`)
}

interface Seen {
  readonly signature: string
  readonly err: unknown
}

const PAGE = 100

async function relayBurns(options: RelayerOptions, until: string | null): Promise<string | null> {
  const call = callerOf(options.solanaUrl, options.post)
  const asked = { ...confirmed, limit: PAGE, ...(until === null ? {} : { until }) }
  // The newest comes first. More of them at once than a page has: a real relayer would turn pages.
  const seen = await call<readonly Seen[]>('getSignaturesForAddress', options.mint, asked)
  for (const { signature, err } of [...seen].reverse()) {
    if (err !== null) continue
    const transaction = await call<Landed | null>('getTransaction', signature, landedOptions)
    const burn = transaction === null ? undefined : burnIn(transaction, options.mint)
    if (burn !== undefined) await unlock(options, signature, burn)
  }
  return seen[0]?.signature ?? until
}

const landedOptions = { ...confirmed, encoding: 'json', maxSupportedTransactionVersion: 0 } as const

interface Landed {
  readonly transaction: {
    readonly message: {
      readonly accountKeys: readonly string[]
      readonly instructions: readonly {
        readonly programIdIndex: number
        readonly accounts: readonly number[]
        readonly data: string
      }[]
    }
  }
}

interface Burn {
  readonly amount: bigint
  readonly to: Hex
}

const BURN_CHECKED = 15

/** A burn of the mint, and a memo `unlock 0x...` beside it. */
function burnIn({ transaction }: Landed, ours: Address): Burn | undefined {
  const { accountKeys, instructions } = transaction.message
  let amount: bigint | undefined
  let to: Hex | undefined
  for (const { programIdIndex, accounts, data: letters } of instructions) {
    const data = Uint8Array.from(getBase58Encoder().encode(letters))
    const text = Buffer.from(data).toString()
    const found = /^unlock (0x[0-9a-fA-F]{40})$/.exec(text)
    if (found !== null) to = found[1] as Hex
    const program = accountKeys[programIdIndex]
    if (program !== TOKEN_PROGRAM_ADDRESS || data[0] !== BURN_CHECKED) continue
    const keys = accounts.map((index) => ({ address: address(accountKeys[index] ?? ''), role: 0 }))
    const parsed = parseBurnCheckedInstruction({
      programAddress: TOKEN_PROGRAM_ADDRESS,
      accounts: keys,
      data
    })
    if (parsed.accounts.mint.address === ours) amount = parsed.data.amount
  }
  return amount === undefined || to === undefined ? undefined : { amount, to }
}

/** Id of the message that a transaction of Solana has sent. */
export function burnId(signature: string): Hex {
  return keccak256(Uint8Array.from(getBase58Encoder().encode(signature)))
}

async function unlock(options: RelayerOptions, signature: string, burn: Burn): Promise<void> {
  const { lock, lockAbi: abi, token, say } = options
  const call = callerOf(options.evmUrl, options.post)
  const messageId = burnId(signature)
  const asking = encodeFunctionData({ abi, functionName: 'processed', args: [messageId] })
  const processed = await call<Hex>('eth_call', { to: lock, data: asking }, 'latest')
  if (BigInt(processed) !== 0n) return
  say?.(`unlocking ${burn.amount} for ${messageId.slice(0, 10)}`)
  const args = [messageId, token, burn.amount, burn.to]
  const data = encodeFunctionData({ abi, functionName: 'unlock', args })
  const account = privateKeyToAccount(options.evmKey)
  const { address: from } = account
  const [chainId, nonce, price] = await Promise.all([
    call<Hex>('eth_chainId'),
    // Not `pending`: a transaction of a process that died is replaced, or refused as known.
    call<Hex>('eth_getTransactionCount', from, 'latest'),
    call<Hex>('eth_gasPrice')
  ])
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId: Number(chainId),
    nonce: Number(nonce),
    to: lock,
    data,
    gas: UNLOCK_GAS,
    maxFeePerGas: 2n * BigInt(price),
    maxPriorityFeePerGas: 1n
  })
  const hash = await call<Hex>('eth_sendRawTransaction', raw)
  for (;;) {
    const receipt = await call<{ readonly status: Hex } | null>('eth_getTransactionReceipt', hash)
    if (receipt !== null) {
      if (receipt.status !== '0x1') throw new Error(`${hash} had no effect`)
      say?.(`unlocked ${burn.amount} for ${messageId.slice(0, 10)}`)
      return
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

const UNLOCK_GAS = 200_000n
const POLL_MS = 20
