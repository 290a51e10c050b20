import {
  AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  createTransactionMessage,
  getAddressEncoder,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners
} from '@solana/kit'
import type { Call } from './json-rpc.js'

/** What the programs of this example send to Solana without tallystick. */

const SYSTEM_PROGRAM = '11111111111111111111111111111111' as Address
const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as Address
const CREATE_ACCOUNT_WITH_SEED = 3
const POLL_MS = 20

/** An empty account of the system program, which only its base can make, and only once. */
export function createMarker(
  base: KeyPairSigner,
  marker: { readonly address: Address; readonly seed: string; readonly lamports: bigint }
): Instruction {
  const { address, seed, lamports } = marker
  const letters = Buffer.from(seed)
  const data = Buffer.alloc(4 + 32 + 8 + letters.length + 8 + 8 + 32)
  data.writeUInt32LE(CREATE_ACCOUNT_WITH_SEED, 0)
  data.set(getAddressEncoder().encode(base.address), 4)
  data.writeBigUInt64LE(BigInt(letters.length), 36)
  data.set(letters, 44)
  data.writeBigUInt64LE(lamports, 44 + letters.length)
  // No space, and the owner is the system program: zeros.
  const accounts = [
    { address: base.address, role: AccountRole.WRITABLE_SIGNER, signer: base },
    { address, role: AccountRole.WRITABLE }
  ]
  return { programAddress: SYSTEM_PROGRAM, accounts, data }
}

export function memo(text: string): Instruction {
  return { programAddress: MEMO_PROGRAM, data: Buffer.from(text) }
}

/** Sends instructions as one transaction; resolves with its signature when it is in a block. */
export async function sendAll(
  call: Call,
  payer: KeyPairSigner,
  instructions: readonly Instruction[]
): Promise<string> {
  const { value } = await call<{ readonly value: Latest }>('getLatestBlockhash', confirmed)
  const lifetime = {
    blockhash: value.blockhash as Blockhash,
    lastValidBlockHeight: BigInt(value.lastValidBlockHeight)
  }
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (one) => setTransactionMessageFeePayerSigner(payer, one),
    (one) => setTransactionMessageLifetimeUsingBlockhash(lifetime, one),
    (one) => appendTransactionMessageInstructions(instructions, one)
  )
  const transaction = await signTransactionMessageWithSigners(message)
  const signature = getSignatureFromTransaction(transaction)
  const wire = getBase64EncodedWireTransaction(transaction)
  await call('sendTransaction', wire, { encoding: 'base64', preflightCommitment: 'confirmed' })
  for (;;) {
    const statuses = await call<Statuses>('getSignatureStatuses', [signature])
    const [status = null] = statuses.value
    if (status?.err != null) throw new Error(`${signature}: ${JSON.stringify(status.err)}`)
    if (status !== null && status.confirmationStatus !== 'processed') return signature
    if ((await call<number>('getBlockHeight', confirmed)) > value.lastValidBlockHeight) {
      throw new Error(`${signature} has expired`)
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

export const confirmed = { commitment: 'confirmed' } as const

interface Latest {
  readonly blockhash: string
  readonly lastValidBlockHeight: number
}

interface Statuses {
  readonly value: readonly ({
    readonly err: unknown
    readonly confirmationStatus: string
  } | null)[]
}
