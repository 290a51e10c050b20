import {
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getSignatureFromTransaction,
  getTransactionDecoder
} from '@solana/kit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lookRequest, type SignedTransaction } from '../../../../src/executor/index.js'
import type { SolanaNode } from '../../../../src/testing/solana-node/index.js'
import { nonceAccounts } from '../../../support/solana-accounts.js'
import {
  alice,
  bob,
  executorOf,
  LAMPORTS,
  LEAST,
  startSolana,
  transfer
} from '../../../support/solana-executor.js'
import { clientOf, transferOf } from '../../../support/solana-node-under-test.js'

let node: SolanaNode
const call = { key: 'k', signal: new AbortController().signal }

beforeEach(async () => {
  node = await startSolana()
})
afterEach(() => node.close())

type Own = ReturnType<typeof executorOf>

async function prepared(executor: Own, lamports: bigint, key = 'k'): Promise<SignedTransaction> {
  const request = { chain: node.id, execution: transfer(lamports) }
  const made = await executor.prepare(request, { ...call, key })
  if (made.kind !== 'signed') throw new Error(made.kind)
  return made.transaction
}

describe('durable nonces of a Solana chain', () => {
  it('L7: are taken one after the other, so that writes do not wait for each other', async () => {
    const durableNonces = await nonceAccounts(node, alice, 3)
    const executor = executorOf(node, { durableNonces })
    const all: SignedTransaction[] = []
    for (let number = 1; number <= 3; number += 1) {
      all.push(await prepared(executor, BigInt(LEAST + number), `${number}`))
    }
    const accounts = all.map(({ lifetime }) => lifetime?.['nonce_account'])
    expect(accounts.toSorted()).toEqual(durableNonces.toSorted())
    const held = node.lamports(bob.address)
    node.advance(1_000)
    for (const one of all.toReversed()) await executor.broadcast(one, call)
    expect(node.lamports(bob.address) - held).toBe(BigInt(3 * LEAST + 6))
  })

  it('are refused where none is of the account that pays', async () => {
    const executor = executorOf(node, { durableNonces: await nonceAccounts(node, bob, 1) })
    await expect(prepared(executor, BigInt(LEAST))).rejects.toMatchObject({
      details: { code: 'unknown_account', sent: false }
    })
    const others = executorOf(node, { durableNonces: [alice.address] })
    await expect(prepared(others, BigInt(LEAST))).rejects.toMatchObject({
      details: { code: 'unknown_account' }
    })
  })

  it('W10: explain a failure as without them, though another program comes first', async () => {
    const reverts: unknown[] = []
    for (const durableNonces of [[], await nonceAccounts(node, alice, 1)]) {
      const executor = executorOf(node, { durableNonces })
      node.fund(alice.address, LAMPORTS - node.lamports(alice.address))
      const transaction = await prepared(executor, LAMPORTS / 2n)
      const { signed, send } = clientOf(node)
      await send(await signed(alice, [transferOf(alice, bob.address, LAMPORTS / 2n)]))
      await executor.broadcast(transaction, call)
      node.advance(3)
      const standing = await executor.look(lookRequest(transaction, transfer(LAMPORTS / 2n)), call)
      expect(standing).toMatchObject({ status: 'included', success: false })
      reverts.push(standing.status === 'included' ? standing.revert : null)
    }
    const [without, durable] = reverts as Record<string, unknown>[]
    for (const field of ['name', 'reason', 'programError']) {
      expect([field, durable?.[field]]).toEqual([field, without?.[field]])
    }
  })

  it('leave a wallet outside as much time as it wants', async () => {
    const durableNonces = await nonceAccounts(node, bob, 1)
    const executor = executorOf(node, { durableNonces })
    const execution = transfer(LEAST, bob.address)
    const request = { chain: node.id, execution, account: bob.address }
    const made = await executor.prepare(request, call)
    if (made.kind !== 'unsigned') throw new Error(made.kind)
    const { payload } = made.transaction
    expect(payload).toMatchObject({ nonce_account: durableNonces[0] })
    node.advance(5_000)
    const wire = getBase64Encoder().encode(String(payload['transaction']))
    const decoded = getTransactionDecoder().decode(wire)
    const [signatures] = await bob.signTransactions([decoded as never])
    const signed = { ...decoded, signatures: { ...decoded.signatures, ...signatures } }
    const { rpc } = clientOf(node)
    await rpc
      .sendTransaction(getBase64EncodedWireTransaction(signed as never), {
        encoding: 'base64',
        skipPreflight: true
      })
      .send()
    node.advance(3)
    const look = {
      chain: node.id,
      hash: getSignatureFromTransaction(signed as never),
      from: bob.address,
      nonce: null,
      validUntil: null,
      execution,
      expected: payload
    }
    expect(await executor.look(look, call)).toMatchObject({ status: 'included', success: true })
    const other = { ...payload, instructions: [] }
    expect(await executor.look({ ...look, expected: other }, call)).toMatchObject({
      status: 'mismatch'
    })
  })
})
