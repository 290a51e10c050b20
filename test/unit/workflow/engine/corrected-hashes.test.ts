import {
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getSignatureFromTransaction,
  getTransactionDecoder
} from '@solana/kit'
import { describe, expect, it } from 'vitest'
import type { JournalEntry, OpenWait } from '../../../../src/block/index.js'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { evmExecutor } from '../../../../src/executor/evm/index.js'
import { chainProviders, type Executor, transactionsIn } from '../../../../src/executor/index.js'
import { solanaExecutor } from '../../../../src/executor/solana/index.js'
import {
  createRuntime,
  MEMORY_LOCATION,
  type RunHandle,
  type WiredRuntime
} from '../../../../src/runtime/index.js'
import { FakeChain, fakeExecutor } from '../../../../src/testing/index.js'
import { type NodeTrouble, troublesOf } from '../../../../src/workflow/engine/diagnose.js'
import { aisText } from '../../../support/ais.js'
import { flow, transfer } from '../../../support/ais-flows.js'
import { artifact, other, owner, startChain, third } from '../../../support/anvil.js'
import {
  account,
  askedOf,
  type ChainId,
  chains,
  hashes,
  paying,
  policy,
  sentBy,
  till
} from '../../../support/outside-wallets.js'
import { bob, LEAST, startSolana } from '../../../support/solana-executor.js'
import { clientOf, SYSTEM_PROGRAM, transferOf } from '../../../support/solana-node-under-test.js'

/** What a node takes for an answer after a wallet outside has named a hash. */

function opened(executor: Executor, protocols: readonly (string | Json)[] = [till]) {
  return createRuntime({
    location: MEMORY_LOCATION,
    providers: chainProviders([executor]),
    workflow: { protocols: protocols as readonly string[], writes: 'broadcast', policy }
  })
}

async function parked(run: RunHandle): Promise<OpenWait> {
  for await (const event of run) {
    const waits = event.type === 'run.parked' ? await run.waits() : []
    const [wait] = waits
    if (wait !== undefined) return wait
    if (event.type === 'run.finished') break
  }
  throw new Error('it does not wait')
}

function answer(run: RunHandle, { token, digest }: OpenWait, action: 'resume' | 'patch' | 'retry') {
  return (value: Json = null) => run.resume(token, { digest, action, value })
}

/** What `tally diagnose` shows of a wait, by the journal of its run. */
async function troubleOf(tally: WiredRuntime, wait: OpenWait): Promise<NodeTrouble | undefined> {
  const entries: JournalEntry[] = []
  for await (const { value } of tally.journal('one')) entries.push(value as never)
  const { unconfirmed } = transactionsIn(entries)
  const sent = new Map(unconfirmed.map(({ path, ...one }) => [path, one as unknown as JsonObject]))
  const started = entries.find(({ k }) => k === 'run.started') as { readonly definition?: Json }
  return troublesOf({
    waits: [wait],
    response: null,
    definition: started.definition ?? null,
    sent
  })[0]
}

async function named(id: ChainId, digit: '1' | '3') {
  const chain = new FakeChain({ id })
  const terms = { pollMs: 1, timeoutMs: 3 }
  const tally = await opened(fakeExecutor({ chains: [chain], terms }))
  const run = tally.begin(paying(id), { id: 'one', inputs: { inputs: {}, ctx: { account } } })
  const asked = await parked(run)
  sentBy(asked, chain, hashes[id]('1'))
  return {
    tally,
    run,
    asked,
    taken: await answer(run, asked, 'resume')({ hash: hashes[id](digit) })
  }
}

describe.each(chains)('W14: a node on %s that looks for what a wallet has named', (id) => {
  const hashOf = hashes[id]
  const foreign = chains.find((one) => one !== id) ?? id

  it('offers the change that works, and refuses every other', async () => {
    const { tally, run } = await named(id, '3')
    await using _ = tally
    const wait = await parked(run)
    const trouble = await troubleOf(tally, wait)
    expect(trouble).toMatchObject({
      actions: ['retry', 'patch', 'skip', 'abort'],
      patches: [`transaction_hash.${hashOf('3')}`]
    })
    const to = (hash: Json) => ({ transaction_hash: { [hashOf('3')]: hash } })
    const refused: readonly Json[] = [
      { patches: [{ path: 'inputs.amount', value: '6' }] },
      { replace: { [hashOf('3')]: 25 } },
      { transaction_hash: {} },
      { transaction_hash: hashOf('1') },
      { transaction_hash: { [hashOf('2')]: hashOf('1') } },
      { transaction_hash: { [hashOf('3')]: hashOf('1'), [hashOf('2')]: hashOf('1') } },
      { ...to(hashOf('1')), patches: [] },
      to(hashOf('3')),
      to(hashes[foreign]('1')),
      to({ hash: hashOf('1') }),
      to('0x1'),
      to(1)
    ]
    for (const value of refused) {
      const outcome = await answer(run, wait, 'patch')(value)
      expect([value, outcome]).toMatchObject([value, { reason: 'answer_refused' }])
    }
    expect(await answer(run, wait, 'patch')(to(hashOf('1')))).toMatchObject({ accepted: true })
    expect(await run.result).toMatchObject({
      status: 'done',
      response: { data: { hash: hashOf('1') } }
    })
    const late = await answer(run, wait, 'patch')(to(hashOf('2')))
    expect(late).toMatchObject({ accepted: false })
    expect(await tally.verify()).toMatchObject({ ok: true })
  })

  it('refuses the hash of another kind of chain at once', async () => {
    const chain = new FakeChain({ id })
    await using tally = await opened(fakeExecutor({ chains: [chain] }))
    const run = tally.begin(paying(id), { id: 'one', inputs: { inputs: {}, ctx: { account } } })
    const asked = await parked(run)
    const outcome = await answer(run, asked, 'resume')({ hash: hashes[foreign]('1') })
    expect(outcome).toMatchObject({ reason: 'answer_refused' })
    await run.cancel('enough')
  })

  it('has nothing to correct where the process itself has signed', async () => {
    const chain = new FakeChain({ id })
    chain.holds = () => true
    const terms = { pollMs: 1, timeoutMs: 3 }
    const accounts = { default: account }
    await using tally = await opened(fakeExecutor({ chains: [chain], terms, accounts }))
    const run = tally.begin(paying(id), { id: 'one', inputs: {} })
    const wait = await parked(run)
    const [{ hash } = { hash: '' }] = chain.pool
    const outcome = await answer(run, wait, 'patch')({ transaction_hash: { [hash]: hashOf('1') } })
    expect(outcome).toMatchObject({ reason: 'answer_refused' })
    await run.cancel('enough')
  })
})

describe('W13: what a wallet has sent is found by its right hash', () => {
  it('on anvil, after hashes of another transfer and of another sender', async () => {
    await using chain = await startChain()
    const token = await chain.deploy(artifact('ExampleToken'), ['Example', 'EXT', 6, 100n])
    const evm = evmExecutor({
      chains: { [chain.id]: { rpc: [chain.url], pollMs: 5, timeoutMs: 50 } },
      environment: {}
    })
    await using tally = await opened(evm, [aisText('erc20')])
    const asset = { chain_id: chain.id, address: token, decimals: 6 }
    const args = { token: { lit: asset }, to: { lit: third.address }, amount: { lit: '5' } }
    const outputs = { hash: { ref: 'nodes.pay.outputs.tx_hash' } }
    const document = flow([transfer('pay', { args })], { default_chain: chain.id, outputs })
    const given = { inputs: {}, ctx: { account: owner.address } }
    const run = tally.begin(document as Json, { id: 'one', inputs: given })
    const asked = await parked(run)
    const send = (to: unknown, data: unknown, sender: typeof owner) =>
      chain.wallet.sendTransaction({
        account: sender,
        chain: null,
        to: String(to) as `0x${string}`,
        data: String(data) as `0x${string}`
      })
    const { to, data } = askedOf(asked)
    const right = await send(to, data, owner)
    const wrong = await send(other.address, '0x', owner)
    const foreign = await send(other.address, '0x', other)
    await answer(run, asked, 'resume')({ hash: wrong })
    for (const hash of [foreign, right]) {
      const wait = await parked(run)
      const trouble = await troubleOf(tally, wait)
      const fields = hash === foreign ? 'to, data differ' : 'to, data, from differ'
      expect(trouble?.diagnostic).toMatchObject({ code: 'wallet_mismatch' })
      expect(trouble?.diagnostic?.message).toContain(fields)
      await answer(run, wait, 'patch')({ transaction_hash: { [wrong]: hash } })
    }
    expect(await run.result).toMatchObject({ status: 'done', response: { data: { hash: right } } })
    expect(await tally.verify()).toMatchObject({ ok: true })
  })

  it('on Solana, after the signature of another transfer', async () => {
    const node = await startSolana()
    try {
      const solana = solanaExecutor({
        chains: { [node.id]: { rpc: [node.url], pollMs: 1, timeoutMs: 20 } },
        environment: {}
      })
      const receiver = { lit: bob.address }
      const protocol: JsonObject = {
        schema: 'ais/0.0.2',
        meta: { protocol: 'till', version: '0.0.2' },
        deployments: [{ chain: node.id, contracts: {} }],
        actions: {
          pay: {
            risk_level: 1,
            execution: {
              'solana:*': {
                type: 'solana_instruction',
                program: { lit: SYSTEM_PROGRAM },
                instruction: 'transfer',
                accounts: [
                  { name: 'from', pubkey: receiver, signer: true, writable: true },
                  { name: 'to', pubkey: receiver, signer: false, writable: true }
                ],
                data: { lit: [{ u32: 2 }, { u64: String(LEAST) }] }
              }
            }
          }
        }
      }
      await using tally = await opened(solana, [protocol])
      const given = { inputs: {}, ctx: { account: bob.address } }
      const document = paying(node.id as ChainId)
      const run = tally.begin(document, { id: 'one', inputs: given })
      const asked = await parked(run)
      const wire = getBase64Encoder().encode(String(askedOf(asked)['transaction']))
      const unsigned = getTransactionDecoder().decode(wire)
      const [signatures] = await bob.signTransactions([unsigned as never])
      const signed = { ...unsigned, signatures: { ...unsigned.signatures, ...signatures } } as never
      const { rpc, signed: signedBy, send } = clientOf(node)
      await rpc
        .sendTransaction(getBase64EncodedWireTransaction(signed), { encoding: 'base64' })
        .send()
      const right = getSignatureFromTransaction(signed)
      const another = await signedBy(bob, [transferOf(bob, bob.address, BigInt(2 * LEAST))])
      await send(another)
      node.advance(3)
      await answer(run, asked, 'resume')({ signature: another.signature })
      const wait = await parked(run)
      expect((await troubleOf(tally, wait))?.diagnostic).toMatchObject({ code: 'wallet_mismatch' })
      await answer(run, wait, 'patch')({ transaction_hash: { [another.signature]: right } })
      expect(await run.result).toMatchObject({
        status: 'done',
        response: { data: { hash: right } }
      })
      expect(await tally.verify()).toMatchObject({ ok: true })
    } finally {
      await node.close()
    }
  })
})
