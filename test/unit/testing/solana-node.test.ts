import {
  getAddressDecoder,
  isSolanaError,
  type KeyPairSigner,
  lamports,
  SOLANA_ERROR__INSTRUCTION_ERROR__CUSTOM,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  SOLANA_ERROR__TRANSACTION_ERROR__ALREADY_PROCESSED,
  SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND
} from '@solana/kit'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstructionAsync,
  getInitializeMint2Instruction,
  getMintSize,
  getMintToInstruction,
  getTransferCheckedInstruction,
  isTokenError,
  TOKEN_ERROR__INSUFFICIENT_FUNDS,
  TOKEN_PROGRAM_ADDRESS
} from '@solana-program/token'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type SolanaNode, startSolanaNode } from '../../../src/testing/solana-node/index.js'
import {
  clientOf,
  createAccountOf,
  signerOf,
  transferOf
} from '../../support/solana-node-under-test.js'

const SOL = 1_000_000_000n

let node: SolanaNode
let alice: KeyPairSigner
let bob: KeyPairSigner
beforeEach(async () => {
  alice = await signerOf(1)
  bob = await signerOf(2)
  node = await startSolanaNode({ balances: { [alice.address]: 10n * SOL, [bob.address]: SOL } })
})
afterEach(() => node.close())

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => new Error('it did not fail'),
    (error: unknown) => error
  )

describe("a Solana node of tests, seen by kit's client", () => {
  it('moves lamports, and its statuses pass from processed to finalized by slots', async () => {
    const { rpc, signed, send, statusOf } = clientOf(node)
    const sent = await signed(alice, [transferOf(alice, bob.address, 3n * SOL)])
    expect(await statusOf(sent.signature)).toBeNull()
    expect(await send(sent)).toBe(sent.signature)
    expect(await statusOf(sent.signature)).toMatchObject({
      confirmationStatus: 'processed',
      confirmations: 1n,
      err: null
    })
    expect(await statusOf(sent.signature)).toMatchObject({ confirmationStatus: 'confirmed' })
    node.advance(30)
    expect(await statusOf(sent.signature)).toMatchObject({
      confirmationStatus: 'finalized',
      confirmations: null
    })
    expect((await rpc.getBalance(bob.address).send()).value).toBe(4n * SOL)
    expect(node.lamports(alice.address)).toBe(7n * SOL - 5_000n)
    const found = await rpc
      .getTransaction(sent.signature, { encoding: 'json', maxSupportedTransactionVersion: 0 })
      .send()
    expect(found?.meta).toMatchObject({ fee: 5_000n, err: null, computeUnitsConsumed: 150n })
    expect(found?.meta?.preBalances[1]).toBe(SOL)
    expect(found?.meta?.postBalances[1]).toBe(4n * SOL)
    expect(found?.transaction.message.accountKeys.slice(0, 2)).toEqual([alice.address, bob.address])
    const listed = await rpc
      .getSignaturesForAddress(bob.address, { commitment: 'confirmed' })
      .send()
    expect(listed.map(({ signature }) => signature)).toEqual([sent.signature])
  })

  it('creates a mint and token accounts, and moves tokens', async () => {
    const { rpc, signed, send } = clientOf(node)
    const mint = await signerOf(3)
    const space = BigInt(getMintSize())
    const rent = await rpc.getMinimumBalanceForRentExemption(space).send()
    const ofMint = { mint: mint.address, tokenProgram: TOKEN_PROGRAM_ADDRESS }
    const [alices] = await findAssociatedTokenPda({ owner: alice.address, ...ofMint })
    const [bobs] = await findAssociatedTokenPda({ owner: bob.address, ...ofMint })
    const accountFor = (owner: KeyPairSigner) =>
      getCreateAssociatedTokenIdempotentInstructionAsync({
        payer: alice,
        owner: owner.address,
        mint: mint.address
      })
    await send(
      await signed(alice, [
        createAccountOf(alice, mint, { lamports: rent, space, owner: TOKEN_PROGRAM_ADDRESS }),
        getInitializeMint2Instruction({
          mint: mint.address,
          decimals: 6,
          mintAuthority: alice.address
        }),
        await accountFor(alice),
        await accountFor(bob),
        getMintToInstruction({
          mint: mint.address,
          token: alices,
          mintAuthority: alice,
          amount: 5_000_000n
        })
      ])
    )
    const moving = (amount: bigint) =>
      getTransferCheckedInstruction({
        source: alices,
        mint: mint.address,
        destination: bobs,
        authority: alice,
        amount,
        decimals: 6
      })
    const moved = await signed(alice, [moving(1_250_000n)])
    await send(moved)
    expect((await rpc.getTokenAccountBalance(bobs).send()).value).toEqual({
      amount: '1250000',
      decimals: 6,
      uiAmount: 1.25,
      uiAmountString: '1.25'
    })
    expect(node.tokens(alices)).toBe(3_750_000n)
    expect((await rpc.getTokenSupply(mint.address).send()).value.amount).toBe('5000000')
    const { value: account } = await rpc.getAccountInfo(bobs, { encoding: 'base64' }).send()
    expect(account?.owner).toBe(TOKEN_PROGRAM_ADDRESS)
    const bytes = Buffer.from(account?.data[0] ?? '', 'base64')
    expect(getAddressDecoder().decode(bytes)).toBe(mint.address)
    node.advance(2)
    const found = await rpc
      .getTransaction(moved.signature, {
        encoding: 'json',
        maxSupportedTransactionVersion: 0,
        commitment: 'confirmed'
      })
      .send()
    const amounts = found?.meta?.postTokenBalances?.map(({ uiTokenAmount }) => uiTokenAmount.amount)
    expect(amounts?.toSorted()).toEqual(['1250000', '3750000'])
    const tooMuch = await signed(alice, [moving(3_750_001n)])
    const failure = await failureOf(send(tooMuch))
    const preflight = SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE
    if (!isSolanaError(failure, preflight)) throw failure
    expect(failure.context.unitsConsumed).toBeGreaterThan(0n)
    expect(failure.context.logs?.join()).toContain('insufficient funds')
    const { cause } = failure
    expect(isSolanaError(cause, SOLANA_ERROR__INSTRUCTION_ERROR__CUSTOM)).toBe(true)
    const message = { instructions: { 0: { programAddress: TOKEN_PROGRAM_ADDRESS } } }
    expect(isTokenError(cause, message, TOKEN_ERROR__INSUFFICIENT_FUNDS)).toBe(true)
    expect(node.transactions).toHaveLength(2)
  })

  it('refuses the same bytes twice, and those whose blockhash has expired', async () => {
    const { rpc, signed, send, statusOf } = clientOf(node)
    const landed = await signed(alice, [transferOf(alice, bob.address, 1n)])
    const late = await signed(alice, [transferOf(alice, bob.address, 2n)])
    await send(landed)
    expect(await failureOf(send(landed))).toMatchObject({
      cause: { context: { __code: SOLANA_ERROR__TRANSACTION_ERROR__ALREADY_PROCESSED } }
    })
    node.slotsPerRequest = 0
    const { lastValidBlockHeight, blockhash } = late.lifetime
    node.advance(Number(lastValidBlockHeight) - node.blockHeight)
    expect(await rpc.getBlockHeight({ commitment: 'processed' }).send()).toBe(lastValidBlockHeight)
    const isValid = () => rpc.isBlockhashValid(blockhash, { commitment: 'processed' }).send()
    expect((await isValid()).value).toBe(true)
    node.advance()
    expect((await isValid()).value).toBe(false)
    for (const one of [late, landed]) {
      expect(await failureOf(send(one, { preflightCommitment: 'processed' }))).toMatchObject({
        cause: { context: { __code: SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND } }
      })
    }
    // Without a preflight a node takes anything; it never lands.
    expect(await send(late, { skipPreflight: true })).toBe(late.signature)
    node.advance(2)
    expect(await statusOf(late.signature)).toBeNull()
    // A status leaves the memory of nodes, and stays in their history.
    node.advance(300)
    expect(await statusOf(landed.signature)).toBeNull()
    const searching = { searchTransactionHistory: true }
    const { value } = await rpc.getSignatureStatuses([landed.signature], searching).send()
    expect(value[0]?.confirmationStatus).toBe('finalized')
  })

  it('holds transactions back, forgets them, and includes them by hand', async () => {
    const { signed, send, statusOf } = clientOf(node)
    const stuck = await signed(alice, [transferOf(alice, bob.address, 1n)])
    const other = await signed(alice, [transferOf(alice, bob.address, 2n)])
    node.holds = (signature) => signature === stuck.signature
    for (const one of [stuck, other, stuck]) await send(one)
    expect(node.pool).toEqual([stuck.signature])
    expect(await statusOf(stuck.signature)).toBeNull()
    expect(await statusOf(other.signature)).not.toBeNull()
    node.holds = () => false
    node.advance()
    expect(await statusOf(stuck.signature)).toMatchObject({ err: null })
    node.mining = false
    const { slot } = node
    const lost = await signed(alice, [transferOf(alice, bob.address, 3n)])
    const kept = await signed(alice, [transferOf(alice, bob.address, 4n)])
    await send(lost)
    node.forgetPool()
    await send(kept)
    expect(node.slot).toBe(slot)
    node.advance()
    expect(await statusOf(lost.signature)).toBeNull()
    expect(await statusOf(kept.signature)).toMatchObject({ slot: BigInt(slot + 1) })
    // What expires while it is held never lands.
    node.holds = () => true
    await send(lost)
    node.advance(160)
    node.holds = () => false
    node.advance()
    expect({ pool: node.pool, lost: await statusOf(lost.signature) }).toEqual({
      pool: [],
      lost: null
    })
  })

  it('is the same chain after it was stopped, and in another process', async () => {
    const { signed, send } = clientOf(node)
    const landed = await signed(alice, [transferOf(alice, bob.address, 1n)])
    const late = await signed(alice, [transferOf(alice, bob.address, 2n)])
    await send(landed)
    await node.stop()
    expect(String(await failureOf(send(late)))).toContain('fetch failed')
    await node.start()
    await send(late)
    await using other = await startSolanaNode({ state: node.save() })
    expect({ id: other.id, slot: other.slot }).toEqual({ id: node.id, slot: node.slot })
    expect(other.transactions).toEqual(node.transactions)
    expect(other.lamports(bob.address)).toBe(SOL + 3n)
    const there = clientOf(other)
    expect(await there.statusOf(landed.signature)).toMatchObject({ err: null })
    expect(await failureOf(there.send(landed))).toMatchObject({
      cause: { context: { __code: SOLANA_ERROR__TRANSACTION_ERROR__ALREADY_PROCESSED } }
    })
    await there.send(await there.signed(alice, [transferOf(alice, bob.address, 3n)]))
    expect(other.lamports(bob.address) - node.lamports(bob.address)).toBe(3n)
  })

  it('gives money and tokens to whom a test wants', async () => {
    const { rpc } = clientOf(node)
    const { address } = await signerOf(9)
    const signature = await rpc.requestAirdrop(address, lamports(SOL)).send()
    const again = await rpc.requestAirdrop(address, lamports(SOL)).send()
    expect(again).not.toBe(signature)
    expect((await rpc.getBalance(address).send()).value).toBe(2n * SOL)
    node.fund(address, 1n)
    expect(node.lamports(address)).toBe(2n * SOL + 1n)
    const mint = (await signerOf(8)).address
    await node.makeMint({ address: mint, decimals: 2, balances: { [address]: 7n } })
    const account = await node.giveTokens(mint, address, 5n)
    expect(account).toBe(await node.tokenAccount(mint, address))
    expect((await rpc.getTokenSupply(mint).send()).value.uiAmountString).toBe('0.12')
    const held = await rpc.getTokenAccountsByOwner(address, { mint }, { encoding: 'base64' }).send()
    expect(held.value.map(({ pubkey }) => pubkey)).toEqual([account])
    expect(() => node.fund('nobody', 1n)).toThrow('nobody is no address')
    await expect(node.giveTokens(alice.address, address, 1n)).rejects.toThrow('is no mint')
    expect(() => node.advance(-1)).toThrow('no number of slots')
    await expect(startSolanaNode({ state: new Uint8Array(3) })).rejects.toThrow('cannot be read')
  })
})

describe('a Solana node of tests that fails as its script says', () => {
  it('carries a sending out, and loses its answer', async () => {
    const { signed, send, statusOf } = clientOf(node)
    const sent = await signed(alice, [transferOf(alice, bob.address, 1n)])
    node.script = ({ method }) => (method === 'sendTransaction' ? { breaks: 'after' } : undefined)
    expect(String(await failureOf(send(sent)))).toContain('fetch failed')
    expect(await statusOf(sent.signature)).toMatchObject({ err: null })
  })

  it('carries a sending out twice, and gives the second answer', async () => {
    const { signed, send } = clientOf(node)
    const sent = await signed(alice, [transferOf(alice, bob.address, 1n)])
    node.script = ({ method }) => (method === 'sendTransaction' ? { repeats: true } : undefined)
    expect(await failureOf(send(sent))).toMatchObject({
      cause: { context: { __code: SOLANA_ERROR__TRANSACTION_ERROR__ALREADY_PROCESSED } }
    })
    expect(node.transactions.map(({ ok }) => ok)).toEqual([true])
  })

  it('refuses by HTTP and by JSON-RPC, and answers again', async () => {
    const { rpc } = clientOf(node)
    const faults = [
      { status: 429, headers: { 'retry-after': '7' } },
      { error: { code: -32_005, message: 'Node is behind by 42 slots' } },
      { breaks: 'before' },
      { breaks: 'malformed' }
    ] as const
    node.script = ({ nth }) => faults[nth]
    for (const _ of faults) await expect(rpc.getSlot().send()).rejects.toThrow()
    expect(await rpc.getSlot().send()).toBeGreaterThan(0n)
    expect(node.calls.map(({ method }) => method)).toEqual(Array(5).fill('getSlot'))
  })
})
