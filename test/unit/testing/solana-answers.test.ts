import {
  AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  compileTransaction,
  createTransactionMessage,
  getAddressDecoder,
  getAddressEncoder,
  getBase64EncodedWireTransaction,
  type KeyPairSigner,
  type Nonce,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingDurableNonce,
  signTransactionMessageWithSigners
} from '@solana/kit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../../../src/core/index.js'
import { type SolanaNode, startSolanaNode } from '../../../src/testing/solana-node/index.js'
import { rustValue } from '../../../src/testing/solana-node/rust-debug.js'
import {
  clientOf,
  createAccountOf,
  SYSTEM_PROGRAM,
  signerOf,
  transferOf
} from '../../support/solana-node-under-test.js'

/** Answers as they are on the wire, against the pages of solana.com/docs/rpc and Agave's texts. */

const SOL = 1_000_000_000n
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const BLOCKHASHES = 'SysvarRecentB1ockHashes11111111111111111111' as Address
const RENT = 'SysvarRent111111111111111111111111111111111' as Address
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as Address

let node: SolanaNode
let alice: KeyPairSigner
let bob: KeyPairSigner
beforeEach(async () => {
  alice = await signerOf(1)
  bob = await signerOf(2)
  const balances = { [alice.address]: 10n * SOL, [bob.address]: SOL }
  node = await startSolanaNode({ balances, slotsPerRequest: 0 })
})
afterEach(() => node.close())

/** What stands in the answer: of a result, of an error. */
async function asked(method: string, ...params: readonly unknown[]): Promise<Json> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(node.url, { method: 'POST', body })
  const { result, error } = (await response.json()) as { result?: Json; error?: Json }
  return error === undefined ? (result ?? null) : { error }
}

const refused = (code: number, message: string | RegExp, data?: Json) => ({
  error: {
    code,
    message: typeof message === 'string' ? message : expect.stringMatching(message),
    ...(data === undefined ? {} : { data })
  }
})

describe('a Solana node of tests', () => {
  it('refuses parameters as nodes do', async () => {
    const { address } = alice
    const mint = (await signerOf(8)).address
    await node.makeMint({ address: mint })
    const held = await node.giveTokens(mint, address, 1n)
    const cases: readonly (readonly [Json, ReturnType<typeof refused>])[] = [
      [await asked('getDance'), refused(-32_601, 'Method not found')],
      [await asked('getBalance', 'abc'), refused(-32_602, 'Invalid param: WrongSize')],
      [await asked('getBalance', '0x12'), refused(-32_602, 'Invalid param: Invalid')],
      [await asked('getTransaction', 'abc'), refused(-32_602, 'Invalid param: WrongSize')],
      [
        await asked('getSignatureStatuses', Array(257).fill('1')),
        refused(-32_602, 'Too many inputs provided; max 256')
      ],
      [
        await asked('getSignaturesForAddress', address, { commitment: 'processed' }),
        refused(-32_602, 'Method does not support commitment below `confirmed`')
      ],
      [
        await asked('getSlot', { minContextSlot: node.slot + 1, commitment: 'processed' }),
        refused(-32_016, 'Minimum context slot has not been reached', { contextSlot: node.slot })
      ],
      [
        await asked('getTokenAccountBalance', bob.address),
        refused(-32_602, 'Invalid param: not a Token account')
      ],
      [
        await asked('getTokenAccountBalance', (await signerOf(7)).address),
        refused(-32_602, 'Invalid param: could not find account')
      ],
      [
        await asked('getAccountInfo', held, { encoding: 'base58' }),
        refused(-32_600, /should be less than 128 bytes, please use Base64 encoding/)
      ],
      [
        await asked('sendTransaction', 'A'.repeat(1_648), { encoding: 'base64' }),
        refused(
          -32_602,
          /VersionedTransaction too large: 1648 bytes \(max: encoded\/raw 1644\/1232\)/
        )
      ],
      [
        await asked('sendTransaction', 'AQID', { encoding: 'base64' }),
        refused(-32_602, /^failed to deserialize/)
      ]
    ]
    for (const [answer, expected] of cases) expect(answer).toEqual(expected)
  })

  it('refuses a transaction with the whole result of its simulation', async () => {
    const { signed } = clientOf(node)
    const { wire } = await signed(alice, [transferOf(alice, bob.address, 100n * SOL)])
    const options = { encoding: 'base64', preflightCommitment: 'confirmed' }
    expect(await asked('sendTransaction', wire, options)).toEqual(
      refused(
        -32_002,
        'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
        {
          accounts: null,
          err: { InstructionError: [0, { Custom: 1 }] },
          innerInstructions: null,
          logs: [
            `Program ${SYSTEM_PROGRAM} invoke [1]`,
            'Transfer: insufficient lamports 9999995000, need 100000000000',
            `Program ${SYSTEM_PROGRAM} failed: custom program error: 0x1`
          ],
          replacementBlockhash: null,
          returnData: null,
          unitsConsumed: 150
        }
      )
    )
    // Its blockhash is not known where the preflight looks by default: at the finalized block.
    expect(await asked('sendTransaction', wire, { encoding: 'base64' })).toMatchObject(
      refused(-32_002, 'Transaction simulation failed: Blockhash not found')
    )
    const bytes = Buffer.from(wire, 'base64')
    bytes.writeUInt8(bytes.readUInt8(5) ^ 1, 5)
    expect(await asked('sendTransaction', bytes.toString('base64'), options)).toEqual(
      refused(-32_003, 'Transaction signature verification failure')
    )
    expect(node.transactions).toEqual([])
    // Sent without a preflight it is included, fails there, and costs its fee.
    await asked('sendTransaction', wire, { encoding: 'base64', skipPreflight: true })
    expect(node.transactions.map(({ ok }) => ok)).toEqual([false])
    expect(node.lamports(alice.address)).toBe(10n * SOL - 5_000n)
  })

  it('simulates what is not signed, and shows accounts as they would be', async () => {
    const { lifetime } = await clientOf(node).signed(alice, [])
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (one) => setTransactionMessageFeePayerSigner(alice, one),
      (one) => ({ ...one, lifetimeConstraint: lifetime }),
      (one) => appendTransactionMessageInstructions([transferOf(alice, bob.address, 7n)], one)
    )
    const wire = getBase64EncodedWireTransaction(compileTransaction(message))
    const accounts = { encoding: 'base64', addresses: [bob.address] }
    const options = { encoding: 'base64', replaceRecentBlockhash: true, accounts }
    expect(await asked('simulateTransaction', wire, options)).toMatchObject({
      value: {
        err: null,
        unitsConsumed: 150,
        innerInstructions: null,
        accounts: [{ lamports: Number(SOL) + 7, owner: SYSTEM_PROGRAM }],
        replacementBlockhash: { blockhash: expect.any(String) }
      }
    })
    expect(node.lamports(bob.address)).toBe(SOL)
    expect(await asked('simulateTransaction', wire, { ...options, sigVerify: true })).toEqual(
      refused(-32_602, 'sigVerify may not be used with replaceRecentBlockhash')
    )
  })

  it('shows transactions with memo, fee and version, and tells what a message costs', async () => {
    const { signed, send } = clientOf(node)
    const memo = { programAddress: MEMO, data: new TextEncoder().encode('für Bob') }
    const sent = await signed(alice, [transferOf(alice, bob.address, 1n), memo])
    const bytes = Buffer.from(sent.wire, 'base64').subarray(65)
    const fee = () =>
      asked('getFeeForMessage', bytes.toString('base64'), { commitment: 'processed' })
    expect(await fee()).toMatchObject({ value: 5_000 })
    await send(sent)
    node.advance(2)
    const confirmed = { commitment: 'confirmed' }
    expect(await asked('getSignaturesForAddress', alice.address, confirmed)).toEqual([
      expect.objectContaining({ signature: sent.signature, memo: '[8] für Bob', err: null })
    ])
    const { signature } = sent
    expect(await asked('getTransaction', signature, confirmed)).toEqual(
      refused(-32_015, /^Transaction version \(0\) is not supported by the requesting client\. /)
    )
    const options = { ...confirmed, maxSupportedTransactionVersion: 0, encoding: 'base64' }
    expect(await asked('getTransaction', signature, options)).toMatchObject({
      version: 0,
      transaction: [sent.wire, 'base64'],
      meta: { fee: 5_000, err: null, status: { Ok: null } }
    })
    node.advance(150)
    expect(await fee()).toMatchObject({ value: null })
  })

  it('finds accounts of a program by their size and bytes', async () => {
    const mint = (await signerOf(8)).address
    await node.makeMint({ address: mint, balances: { [alice.address]: 1n, [bob.address]: 2n } })
    const owner = { memcmp: { offset: 32, bytes: bob.address } }
    const filters = [{ dataSize: 165 }, owner]
    const account = await node.tokenAccount(mint, bob.address)
    expect(await asked('getProgramAccounts', TOKEN, { encoding: 'base64', filters })).toEqual([
      { pubkey: account, account: expect.objectContaining({ owner: TOKEN, space: 165 }) }
    ])
    const all = await asked('getProgramAccounts', TOKEN, { encoding: 'base64' })
    expect(all).toHaveLength(3)
  })

  it('takes a transaction that lives as long as the value of a nonce account', async () => {
    const { signed, send, rpc } = clientOf(node)
    const account = await signerOf(5)
    const lamports = await rpc.getMinimumBalanceForRentExemption(80n).send()
    const begin = {
      programAddress: SYSTEM_PROGRAM,
      accounts: [
        { address: account.address, role: AccountRole.WRITABLE },
        { address: BLOCKHASHES, role: AccountRole.READONLY },
        { address: RENT, role: AccountRole.READONLY }
      ],
      data: new Uint8Array([6, 0, 0, 0, ...getAddressEncoder().encode(alice.address)])
    }
    const create = createAccountOf(alice, account, { lamports, space: 80n, owner: SYSTEM_PROGRAM })
    await send(await signed(alice, [create, begin]))
    const nonce = async () => {
      const { value } = await rpc.getAccountInfo(account.address, { encoding: 'base64' }).send()
      const bytes = Buffer.from(value?.data[0] ?? '', 'base64').subarray(40, 72)
      return getAddressDecoder().decode(bytes) as string as Nonce
    }
    const durable = async (amount: bigint) => {
      const message = pipe(
        createTransactionMessage({ version: 0 }),
        (one) => setTransactionMessageFeePayerSigner(alice, one),
        (one) => appendTransactionMessageInstructions([transferOf(alice, bob.address, amount)], one)
      )
      const lifetime = {
        nonce: await nonce(),
        nonceAccountAddress: account.address,
        nonceAuthorityAddress: alice.address
      }
      const living = setTransactionMessageLifetimeUsingDurableNonce(lifetime, message)
      return {
        wire: getBase64EncodedWireTransaction(await signTransactionMessageWithSigners(living))
      }
    }
    node.advance()
    const [late, beside] = [await durable(3n), await durable(4n)]
    node.advance(1_000)
    await send(late)
    expect(node.lamports(bob.address)).toBe(SOL + 3n)
    // Its nonce is used up: neither the same bytes nor others with this value can land.
    for (const one of [late, beside]) {
      await expect(send(one)).rejects.toThrow()
      await send(one, { skipPreflight: true })
    }
    node.advance(3)
    expect(node.lamports(bob.address)).toBe(SOL + 3n)
    // A failure uses it up as well.
    const [failing, other] = [await durable(100n * SOL), await durable(5n)]
    await send(failing, { skipPreflight: true })
    await send(other, { skipPreflight: true })
    expect(node.transactions.map(({ ok }) => ok)).toEqual([true, true, false])
  })
})

describe('a text that Rust wrote for its programmers', () => {
  it.each<readonly [string, unknown]>([
    ['AlreadyProcessed', 'AlreadyProcessed'],
    ['InstructionError(0, Custom(1)), meta: {', { InstructionError: [0, { Custom: 1 }] }],
    ['InstructionError(3, InvalidAccountData)', { InstructionError: [3, 'InvalidAccountData'] }],
    [
      'InsufficientFundsForRent { account_index: 1 }',
      { InsufficientFundsForRent: { account_index: 1 } }
    ],
    ['DuplicateInstruction(2)', { DuplicateInstruction: 2 }],
    [
      'InstructionError(1, BorshIoError("a \\"b\\", c"))',
      { InstructionError: [1, { BorshIoError: 'a "b", c' }] }
    ],
    [
      'Two { one: [1, -2], other: Some(18446744073709551615) }',
      { Two: { one: [1, -2], other: { Some: 2n ** 64n - 1n } } }
    ]
  ])('%s is JSON as the RPC has it', (text, expected) => {
    expect(rustValue(text)).toEqual(expected)
  })
})
