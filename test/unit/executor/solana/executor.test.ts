import {
  type Address,
  getAddressEncoder,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getProgramDerivedAddress,
  getSignatureFromTransaction,
  getStructEncoder,
  getTransactionDecoder,
  getU8Encoder,
  getU64Encoder
} from '@solana/kit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/core/index.js'
import { type Execution, type Executor, lookRequest } from '../../../../src/executor/index.js'
import { solanaExecutor } from '../../../../src/executor/solana/index.js'
import { loadKit } from '../../../../src/executor/solana/kit.js'
import { layoutBytes } from '../../../../src/executor/solana/layout.js'
import type { SolanaNode } from '../../../../src/testing/solana-node/index.js'
import { lookupTable } from '../../../support/solana-accounts.js'
import {
  alice,
  aliceKey,
  bob,
  executorOf,
  LAMPORTS,
  LEAST,
  nothingAt,
  startSolana,
  transfer
} from '../../../support/solana-executor.js'
import { SYSTEM_PROGRAM, signerOf } from '../../../support/solana-node-under-test.js'
import { tallyErrorOf } from '../../../support/tally-error-of.js'

const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const mint = (await signerOf(9)).address
const kit = await loadKit()

let node: SolanaNode
let executor: Executor
const call = { key: 'k', signal: new AbortController().signal }

beforeEach(async () => {
  node = await startSolana({ mints: [{ address: mint, decimals: 6, authority: alice.address }] })
  executor = executorOf(node)
})
afterEach(() => node.close())

const read = (method: string, params: Json = {}) =>
  executor.read({ chain: node.id, execution: { type: 'solana_read', method, params } }, call)

/** Sends a write and gives where it stands, when blocks stand on it. */
async function done(execution: Execution, key = 'k') {
  const prepared = await executor.prepare({ chain: node.id, execution }, { ...call, key })
  if (prepared.kind !== 'signed') throw new Error(prepared.kind)
  await executor.broadcast(prepared.transaction, call)
  node.advance(3)
  return executor.look(lookRequest(prepared.transaction, execution), call)
}

describe('data of an instruction', () => {
  const bytes = (value: Json) => Buffer.from(layoutBytes(value, 'data')).toString('hex')

  it('is bytes as they are written, or fields one after the other', () => {
    const fields = getStructEncoder([
      ['kind', getU8Encoder()],
      ['amount', getU64Encoder()],
      ['to', getAddressEncoder()]
    ]).encode({ kind: 3, amount: 2n ** 64n - 1n, to: bob.address })
    const layout = [{ u8: 3 }, { u64: '18446744073709551615' }, { pubkey: bob.address }]
    expect(bytes(layout)).toBe(Buffer.from(fields).toString('hex'))
    expect(bytes('0x0aff')).toBe('0aff')
    expect(bytes('base64:Cv8=')).toBe('0aff')
    expect(bytes('base58:5Q')).toBe('ff')
    expect(bytes([10, 255])).toBe('0aff')
    expect(bytes([])).toBe('')
    expect(bytes([{ i16: -2 }, { bool: true }])).toBe('feff01')
    expect(bytes([{ string: 'ab' }, { utf8: 'ab' }])).toBe('0200000061626162')
    expect(bytes([{ blob: '0x01' }, { option: null }, { option: { u8: 7 } }])).toBe(
      '0100000001000107'
    )
    expect(bytes([{ vec: [{ u16: 1 }, { u16: 2 }] }])).toBe('0200000001000200')
  })

  it.each([
    ['deadbeef', 'data: is neither'],
    [[{ u8: 256 }], 'data.0.u8: does not fit u8'],
    [[{ u64: '-1' }], 'data.0.u64: does not fit u64'],
    [[{ u64: '1.5' }], 'data.0.u64: is not a whole number'],
    [[{ u64: '1', u8: 1 }], 'data.0: is not an item'],
    [{ amount: '5' }, 'data: has the unknown type amount'],
    [[1, 300], 'data: holds a number that is no byte'],
    [[{ pubkey: 'x' }], 'data.0.pubkey: is not an address'],
    ['base58:0OIl', 'data: is not base58']
  ])('is refused as %j', async (data, problem) => {
    expect(await executor.check({ ...transfer(1), data } as never)).toContain(problem)
  })
})

describe('reads of a Solana chain', () => {
  it('have the names that AIS gives them', async () => {
    await node.giveTokens(mint, bob.address, 1_500_000n)
    const held = await node.tokenAccount(mint, bob.address)
    expect(await read('getBalance', { address: bob.address })).toEqual({
      lamports: String(LAMPORTS)
    })
    expect(await read('getAccountInfo', [nothingAt])).toMatchObject({
      exists: false,
      lamports: '0'
    })
    expect(await read('getAccountInfo', { pubkey: bob.address })).toMatchObject({
      exists: true,
      lamports: String(LAMPORTS),
      owner: SYSTEM_PROGRAM,
      executable: false,
      data_base64: '',
      data_len: 0
    })
    expect(await read('getTokenAccountBalance', { address: held })).toMatchObject({
      result: { amount: '1500000', decimals: 6, uiAmountString: '1.5' }
    })
    expect(await read('getSignatureStatuses', [['1'.repeat(64)]])).toEqual({ statuses: [null] })
    const rent = await read('getMinimumBalanceForRentExemption', { data_len: '165' })
    expect(rent).toEqual({ result: 2_039_280 })
  })

  it('derive addresses without asking', async () => {
    const before = node.calls.length
    const ata = await read('derive_ata', { owner: bob.address, mint })
    expect(ata).toMatchObject({ address: await node.tokenAccount(mint, bob.address) })
    const [address, bump] = await getProgramDerivedAddress({
      programAddress: TOKEN as Address,
      seeds: ['vault', getAddressEncoder().encode(bob.address)]
    })
    const seeds = [[{ utf8: 'vault' }], [{ pubkey: bob.address }]]
    expect(await read('derive_pda', { program: TOKEN, seeds })).toEqual({ address, bump })
    expect(node.calls.length).toBe(before)
  })

  it('are refused when they would change something, or ask for what is not there', async () => {
    for (const [method, params] of [
      ['requestAirdrop', [bob.address, 1]],
      ['getBalance', {}],
      ['getBalance', { adress: bob.address }],
      ['derive_ata', { owner: 'x', mint }]
    ] as const) {
      const execution = { type: 'solana_read', method, params } as unknown as Execution
      expect(await executor.check(execution), method).toBeTypeOf('string')
    }
  })
})

describe('instructions', () => {
  it('reach accounts by what they are derived from', async () => {
    await node.giveTokens(mint, alice.address, 1_000n)
    await node.giveTokens(mint, bob.address, 1n)
    const execution = {
      type: 'solana_instruction',
      program: TOKEN,
      instruction: 'transfer',
      discriminator: '0x03',
      accounts: [
        {
          name: 'source',
          pubkey: { derive_ata: { owner: alice.address, mint } },
          signer: false,
          writable: true
        },
        {
          name: 'target',
          pubkey: { derive_ata: { owner: bob.address, mint } },
          signer: false,
          writable: true
        },
        { name: 'owner', pubkey: alice.address, signer: true, writable: false }
      ],
      data: [{ u64: '250' }]
    }
    expect(await done(execution)).toMatchObject({ status: 'included', success: true })
    expect(node.tokens(await node.tokenAccount(mint, bob.address))).toBe(251n)
    const refused = await executor.simulate(
      { chain: node.id, execution: { ...execution, data: [{ u64: '5000' }] } },
      call
    )
    expect(refused).toMatchObject({
      ok: false,
      revert: { programError: { program: TOKEN, name: 'InsufficientFunds', code: '1' } }
    })
  })

  it('pay the price that recent blocks took, and never more than the bound', async () => {
    await node.close()
    node = await startSolana({ prioritizationFee: 1_000_000 })
    for (const [lamportsMax, most] of [
      [1_000_000, 5_000n + 1_000n],
      [3, 5_000n + 3n]
    ] as const) {
      executor = executorOf(node, { priorityFee: { microLamports: 'recent', lamportsMax } })
      const before = node.lamports(alice.address)
      expect(
        await done({ ...transfer(LEAST), compute_units: 1_000 }, `${lamportsMax}`)
      ).toMatchObject({
        success: true
      })
      expect(before - node.lamports(alice.address) - BigInt(LEAST)).toBe(most)
    }
  })

  it('W15: cost what was known before they were signed, and are not signed for more', async () => {
    const priorityFee = { microLamports: 1_500_001, lamportsMax: 100_000 }
    executor = executorOf(node, { priorityFee })
    const execution = { ...transfer(LEAST), compute_units: 1_000 }
    // An instruction that sets its price by itself, where the configuration sets none.
    const data: Json = [{ u8: 3 }, { u64: '9000000' }]
    const program = 'ComputeBudget111111111111111111111111111111'
    const pricing = { ...execution, program, accounts: [], data }
    const prepare = (of: Execution, maxFee: number, account: string = alice.address) =>
      executor.prepare(
        { chain: node.id, execution: of, account, maxFee: String(maxFee) },
        { ...call, key: String(maxFee) }
      )
    // 5,000 for the signature, and 1,500.001 rounded up.
    for (const [of, cost, moved] of [
      [execution, 5_000 + 1_501, LEAST],
      [pricing, 5_000 + 9_000, 0]
    ] as const) {
      const refused = { details: { code: 'fee_too_high', sent: false, retryable: true } }
      await expect(prepare(of, cost - 1)).rejects.toMatchObject(refused)
      const prepared = await prepare(of, cost)
      if (prepared.kind !== 'signed') throw new Error(prepared.kind)
      const before = node.lamports(alice.address)
      await executor.broadcast(prepared.transaction, call)
      expect(before - node.lamports(alice.address)).toBe(BigInt(cost + moved))
      executor = executorOf(node)
    }
    const outside = await prepare(execution, 1, bob.address)
    expect(outside).toMatchObject({ kind: 'unsigned', transaction: { maxFee: '1' } })
  })

  it('are shortened by lookup tables', async () => {
    const accounts = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => (await signerOf(60 + index)).address)
    )
    const long = {
      ...transfer(LEAST),
      accounts: [
        ...(transfer(LEAST)['accounts'] as readonly Json[]),
        ...accounts.map((pubkey, index) => ({
          name: `a${index}`,
          pubkey,
          signer: false,
          writable: false
        }))
      ]
    } as Execution
    const refused = await executor
      .prepare({ chain: node.id, execution: long }, call)
      .catch((one) => one)
    expect(refused.details).toMatchObject({ code: 'invalid_execution' })
    const table = await lookupTable(node, alice, accounts)
    const short = { ...long, lookup_tables: [table] }
    const prepared = await executor.prepare({ chain: node.id, execution: short }, call)
    if (prepared.kind !== 'signed') throw new Error(prepared.kind)
    const wire = getBase64Encoder().encode(prepared.transaction.raw)
    const { messageBytes } = getTransactionDecoder().decode(wire)
    const message = getCompiledTransactionMessageDecoder().decode(messageBytes)
    // Bob is in none, and neither is who signs.
    expect(message).toMatchObject({
      version: 0,
      addressTableLookups: [{ lookupTableAddress: table, readonlyIndexes: { length: 40 } }]
    })
    const held = node.lamports(bob.address)
    await executor.broadcast(prepared.transaction, call)
    node.advance()
    expect(node.lamports(bob.address)).toBe(held + BigInt(LEAST))
    const { raw: _, ...sent } = prepared.transaction
    const look = { ...sent, execution: short, expected: { instructions: [] } }
    // What wallets have sent is read with the addresses of tables, too.
    expect(await executor.look(look, call)).toMatchObject({ status: 'mismatch' })
    expect(await executor.look({ ...look, expected: null }, call)).toMatchObject({
      status: 'included',
      success: true
    })
    const closing = { ...short, lookup_tables: [SYSTEM_PROGRAM] }
    const other = await executor
      .prepare({ chain: node.id, execution: closing }, call)
      .catch((one) => one)
    expect(other.details).toMatchObject({ message: 'lookup_tables.0: is no lookup table' })
  })
})

describe('unsigned mode', () => {
  /** A wallet as it works: it may take another blockhash, here it signs what it is given. */
  async function signedBy(
    wire: string,
    signer: typeof bob
  ): Promise<{ wire: string; signature: string }> {
    const decoded = getTransactionDecoder().decode(getBase64Encoder().encode(wire))
    const [signatures] = await signer.signTransactions([decoded as never])
    const signed = { ...decoded, signatures: { ...decoded.signatures, ...signatures } }
    return {
      wire: getBase64EncodedWireTransaction(signed as never),
      signature: getSignatureFromTransaction(signed as never)
    }
  }

  it('gives a wallet the transaction, and finds what it has sent', async () => {
    const execution = transfer(LEAST, bob.address)
    const request = { chain: node.id, execution, account: bob.address }
    const prepared = await executor.prepare(request, call)
    if (prepared.kind !== 'unsigned') throw new Error(prepared.kind)
    const { payload } = prepared.transaction
    const { wire, signature } = await signedBy(String(payload['transaction']), bob)
    const look = (hash: string, expected = payload) =>
      executor.look(
        {
          chain: node.id,
          hash,
          from: bob.address,
          nonce: null,
          validUntil: null,
          execution,
          expected
        },
        call
      )
    expect(await look(signature)).toEqual({ status: 'unknown' })
    await fetch(node.url, {
      method: 'POST',
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'sendTransaction',
        params: [wire, { encoding: 'base64', skipPreflight: true }]
      })
    })
    node.advance(3)
    expect(await look(signature)).toMatchObject({ status: 'included', success: true })
    const other = { ...payload, instructions: [{ program: TOKEN, accounts: [], data: '' }] }
    expect(await look(signature, other)).toEqual({ status: 'mismatch', fields: ['instructions'] })
  })

  it('lists the instructions where no account is known', async () => {
    const unsigned = solanaExecutor({ chains: { [node.id]: { rpc: [node.url] } } })
    const prepared = await unsigned.prepare({ chain: node.id, execution: transfer(LEAST) }, call)
    expect(prepared).toMatchObject({
      kind: 'unsigned',
      transaction: {
        from: null,
        payload: {
          transaction: null,
          instructions: [{ program: SYSTEM_PROGRAM, accounts: [alice.address, bob.address] }]
        }
      }
    })
  })
})

describe('signers of a Solana chain', () => {
  const accountWith = (key: string) =>
    solanaExecutor({
      chains: { [node.id]: { rpc: [node.url], signer: 'env:KEY' } },
      environment: { KEY: key }
    }).account({ chain: node.id }, call)

  it('are keys as the Solana CLI writes them, or in base58', async () => {
    const bytes = Uint8Array.from(JSON.parse(aliceKey) as number[])
    for (const key of [aliceKey, ` ${aliceKey}\n`, kit.getBase58Decoder().decode(bytes)]) {
      expect(await accountWith(key)).toEqual({ address: alice.address, canSign: true })
    }
  })

  it('are refused when they are no keys, or the halves of two', async () => {
    const numbers = JSON.parse(aliceKey) as number[]
    const halves = JSON.stringify([...numbers.slice(0, 63), ((numbers[63] ?? 0) + 1) % 256])
    for (const key of ['[]', '[1,2', 'text', JSON.stringify(numbers.slice(1)), halves, '0x11']) {
      expect((await tallyErrorOf(accountWith(key))).code, key).toBe('executor.invalid_solana_key')
    }
  })

  it('may stand outside, and are held to their signatures', async () => {
    const sign = async (message: Uint8Array) =>
      Uint8Array.from(await kit.signBytes(alice.keyPair.privateKey, message))
    const withSigner = (signMessage: typeof sign) =>
      executorOf(node, { signer: { address: alice.address, signMessage } })
    executor = withSigner(sign)
    expect(await done(transfer(LEAST))).toMatchObject({ success: true })
    executor = withSigner(async () => new Uint8Array(64))
    const request = { chain: node.id, execution: transfer(LEAST) }
    const error = await executor.prepare(request, call).catch((one) => one)
    expect(error.details).toMatchObject({ code: 'unknown_account', sent: false })
  })
})

describe('the configuration of a Solana chain', () => {
  const rpc = ['http://127.0.0.1:1']

  it.each([
    ['solana:5eyk', { rpc }],
    ['eip155:1', { rpc }],
    [`solana:${'1'.repeat(32)}`, { rpc: [] }],
    [`solana:${'1'.repeat(32)}`, { rpc: ['https://a.b/?key=1'] }],
    [`solana:${'1'.repeat(32)}`, { rpc, signer: aliceKey }],
    [`solana:${'1'.repeat(32)}`, { rpc, commitment: 'max' }],
    [`solana:${'1'.repeat(32)}`, { rpc, priorityFee: { microLamports: -1, lamportsMax: 0 } }]
  ])('is refused for %s as %j', async (chain, config) => {
    const made = async () => solanaExecutor({ chains: { [chain]: config as never } })
    expect((await tallyErrorOf(made())).code).toBe('executor.invalid_configuration')
  })
})
