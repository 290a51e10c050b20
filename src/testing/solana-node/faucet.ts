import type { Address, KeyPairSigner } from '@solana/kit'
import { sha256Hex } from '../../core/index.js'
import type { SolanaChain } from './chain.js'
import type { SolanaLibraries } from './libraries.js'
import { type SolanaSent, sentOf } from './sent.js'

const SYSTEM_PROGRAM = '11111111111111111111111111111111' as Address
const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as Address
const TRANSFER = 2
const LAMPORTS = 10n ** 18n

/** What airdrops come from: an account with money, which makes real transfers. */
export class Faucet {
  readonly #kit: SolanaLibraries['kit']
  readonly #chain: SolanaChain
  readonly #signer: KeyPairSigner

  private constructor(kit: SolanaLibraries['kit'], chain: SolanaChain, signer: KeyPairSigner) {
    this.#kit = kit
    this.#chain = chain
    this.#signer = signer
  }

  static async open({ kit }: SolanaLibraries, chain: SolanaChain): Promise<Faucet> {
    const seed = Buffer.from(sha256Hex(`faucet of ${chain.genesisHash}`), 'hex')
    const signer = await kit.createKeyPairSignerFromPrivateKeyBytes(Uint8Array.from(seed))
    const { machine } = chain
    if (machine.account(signer.address) === undefined) {
      const fields = { owner: SYSTEM_PROGRAM, data: new Uint8Array(), executable: false }
      machine.put(signer.address, { lamports: LAMPORTS, ...fields })
    }
    return new Faucet(kit, chain, signer)
  }

  /** A signed transfer, which differs from all before it by its memo. */
  async transfer(to: Address, lamports: bigint): Promise<SolanaSent> {
    const kit = this.#kit
    const signer = this.#signer
    const { blockhash, height } = this.#chain.block('processed')
    const data = new Uint8Array(12)
    new DataView(data.buffer).setUint32(0, TRANSFER, true)
    new DataView(data.buffer).setBigUint64(4, lamports, true)
    const memo = new TextEncoder().encode(`airdrop ${this.#chain.records.length}`)
    const message = kit.pipe(
      kit.createTransactionMessage({ version: 0 }),
      (one) => kit.setTransactionMessageFeePayerSigner(signer, one),
      (one) =>
        kit.setTransactionMessageLifetimeUsingBlockhash(
          { blockhash: kit.blockhash(blockhash), lastValidBlockHeight: BigInt(height) },
          one
        ),
      (one) =>
        kit.appendTransactionMessageInstructions(
          [
            {
              programAddress: SYSTEM_PROGRAM,
              accounts: [
                { address: signer.address, role: kit.AccountRole.WRITABLE_SIGNER },
                { address: to, role: kit.AccountRole.WRITABLE }
              ],
              data
            },
            { programAddress: MEMO_PROGRAM, data: memo }
          ],
          one
        )
    )
    const signed = await kit.signTransactionMessageWithSigners(message)
    return sentOf(kit, Uint8Array.from(kit.getTransactionEncoder().encode(signed)))
  }
}
