import {
  AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  type Commitment,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
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
import type { SolanaNode } from '../../src/testing/solana-node/index.js'

/** The same key for the same number, which holds nothing anywhere. */
export function signerOf(number: number): Promise<KeyPairSigner> {
  return createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(number))
}

export const SYSTEM_PROGRAM = '11111111111111111111111111111111' as Address

/** Moves lamports. */
export function transferOf(from: KeyPairSigner, to: Address, lamports: bigint): Instruction {
  const data = new Uint8Array(12)
  new DataView(data.buffer).setUint32(0, 2, true)
  new DataView(data.buffer).setBigUint64(4, lamports, true)
  const accounts = [
    { address: from.address, role: AccountRole.WRITABLE_SIGNER, signer: from },
    { address: to, role: AccountRole.WRITABLE }
  ]
  return { programAddress: SYSTEM_PROGRAM, accounts, data }
}

/** A client of kit, which shares no code with the executor. */
export function clientOf(node: SolanaNode) {
  const rpc = createSolanaRpc(node.url as 'http://127.0.0.1')
  const signed = async (
    payer: KeyPairSigner,
    instructions: readonly Instruction[],
    commitment: Commitment = 'confirmed'
  ) => {
    const { value: lifetime } = await rpc.getLatestBlockhash({ commitment }).send()
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (one) => setTransactionMessageFeePayerSigner(payer, one),
      (one) => setTransactionMessageLifetimeUsingBlockhash(lifetime, one),
      (one) => appendTransactionMessageInstructions(instructions, one)
    )
    const transaction = await signTransactionMessageWithSigners(message)
    const wire = getBase64EncodedWireTransaction(transaction)
    return { wire, signature: getSignatureFromTransaction(transaction), lifetime }
  }
  const send = (
    { wire }: { readonly wire: Awaited<ReturnType<typeof signed>>['wire'] },
    options: object = {}
  ) =>
    rpc
      .sendTransaction(wire, {
        encoding: 'base64',
        preflightCommitment: 'confirmed',
        ...options
      })
      .send()
  const statusOf = async (signature: Awaited<ReturnType<typeof signed>>['signature']) =>
    (await rpc.getSignatureStatuses([signature]).send()).value[0] ?? null
  return { rpc, signed, send, statusOf }
}

/** Creates an account at an address that signs for it. */
export function createAccountOf(
  payer: KeyPairSigner,
  account: KeyPairSigner,
  fields: { readonly lamports: bigint; readonly space: bigint; readonly owner: Address }
): Instruction {
  const data = new Uint8Array(52)
  const view = new DataView(data.buffer)
  view.setBigUint64(4, fields.lamports, true)
  view.setBigUint64(12, fields.space, true)
  data.set(getAddressEncoder().encode(fields.owner), 20)
  const accounts = [payer, account].map((signer) => ({
    address: signer.address,
    role: AccountRole.WRITABLE_SIGNER,
    signer
  }))
  return { programAddress: SYSTEM_PROGRAM, accounts, data }
}
