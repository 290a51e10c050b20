import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { evmExecutor } from '../../../../src/executor/evm/index.js'
import type { Executor, SendOptions } from '../../../../src/executor/index.js'
import { openMemoryStore } from '../../../../src/ledger/stores/memory.js'
import type { RunResult, WiredRuntime } from '../../../../src/runtime/index.js'
import {
  anvilKeys,
  artifact,
  call,
  fragment,
  mempool,
  namedOutputs,
  other,
  owner,
  startChain,
  type TestChain,
  third
} from '../../../support/anvil.js'
import { openSending, sending, sendOnce } from '../../../support/anvil-send.js'

const bridge = artifact('BridgeLock')
let chain: TestChain
let evm: Executor
let runtime: WiredRuntime
let bridgeAt: string

beforeAll(async () => {
  chain = await startChain()
  bridgeAt = await chain.deploy(bridge, [])
  evm = evmExecutor(settings())
  runtime = await openSending([evm])
})
afterAll(async () => {
  await runtime.close()
  await chain.anvil.stop()
})

function settings() {
  return {
    chains: {
      [chain.id]: {
        rpc: [chain.url],
        signer: 'env:OWNER_KEY',
        signers: { other: 'env:OTHER_KEY' },
        pollMs: 10,
        timeoutMs: 1_500
      }
    },
    environment: { OWNER_KEY: anvilKeys[0], OTHER_KEY: anvilKeys[1] }
  }
}

/** What is reported from now on of transactions that were lost. */
function toldOf({ events }: WiredRuntime): readonly JsonObject[] {
  const told: JsonObject[] = []
  events.on('event', (event) => {
    if (event.type !== 'log' || event.message !== 'tx_reorged_out') return
    const { runId, path, data } = event
    const { diagnostic = data } = data as JsonObject
    told.push({ runId, path, data: diagnostic })
  })
  return told
}

async function withoutMining(work: () => Promise<void>): Promise<void> {
  await chain.rpc('evm_setAutomine', [false])
  try {
    await work()
  } finally {
    await chain.rpc('evm_setAutomine', [true])
  }
}

function note(value: number, more: Partial<SendOptions> = {}): SendOptions {
  const execution = call(bridgeAt, bridge, 'note', { value: String(value) })
  return { chain: chain.id, execution, ...more }
}

async function notes(): Promise<number> {
  const execution = { type: 'evm_read', to: bridgeAt, abi: fragment(bridge, 'noteCount') }
  const signal = new AbortController().signal
  return Number((await evm.read({ chain: chain.id, execution }, { key: 'k', signal }))['count'])
}

function details({ status, response }: RunResult): JsonObject {
  expect(status).toBe('failed')
  return response.details as JsonObject
}

/** Another transaction of the account with the nonce of the one that waits, and a better price. */
function outbid(from: typeof owner, nonce: number) {
  return chain.wallet.sendTransaction({
    account: from,
    chain: chain.wallet.chain as NonNullable<typeof chain.wallet.chain>,
    to: third.address,
    value: 1n,
    nonce,
    maxFeePerGas: 100_000_000_000n,
    maxPriorityFeePerGas: 50_000_000_000n
  })
}

describe('what becomes of a transaction', () => {
  it('is reported as replaced, with the transaction in its place', async () => {
    await withoutMining(async () => {
      const before = await notes()
      const nonce = await chain.client.getTransactionCount({ address: owner.address })
      const sent = sendOnce(runtime, note(1))
      await mempool(chain, 1)
      const by = await outbid(owner, nonce)
      await chain.rpc('evm_mine', [])
      expect(details(await sent)).toMatchObject({
        code: 'replaced',
        phase: 'confirm',
        retryable: false,
        sent: true,
        transaction: { from: owner.address, nonce, by }
      })
      expect(await notes()).toBe(before)
    })
  })

  it('is sent again after a reorg, and confirmed on the chain that stays', async () => {
    await withoutMining(async () => {
      const before = await notes()
      const sent = sendOnce(runtime, note(2, { confirmations: 3 }), { id: 'reorged' })
      await mempool(chain, 1)
      await chain.rpc('evm_mine', [])
      await looks('reorged', (body) => body['status'] === 'included')
      // The block is gone, and with it the transaction: no node remembers it.
      await chain.rpc('anvil_reorg', [1, []])
      await looks('reorged', (body) => body['status'] === 'unknown')
      await mempool(chain, 1)
      await chain.rpc('anvil_mine', ['0x3'])
      expect((await sent).response.data).toMatchObject({ confirmations: 3 })
      expect(await notes()).toBe(before + 1)
    })
  })

  it('is reported as reorged out when it does not come back', async () => {
    await withoutMining(async () => {
      const options = note(3, { confirmations: 3, timeoutMs: 500 })
      const sent = sendOnce(runtime, options, { id: 'reorged-out' })
      await mempool(chain, 1)
      await chain.rpc('evm_mine', [])
      await looks('reorged-out', (body) => body['status'] === 'included')
      await chain.rpc('anvil_reorg', [1, []])
      const failure = details(await sent)
      expect(failure).toMatchObject({ code: 'reorged_out', sent: true, retryable: true })
      await chain.rpc('evm_mine', [])
    })
  })

  it('W11: is brought back by the next write of the account, which tells that it was lost', async () => {
    const before = await notes()
    const confirmed = await sendOnce(runtime, note(11), { id: 'deep' })
    expect(confirmed).toMatchObject({ status: 'done', response: { data: { confirmations: 1 } } })
    const { hash } = confirmed.response.data as { readonly hash: string }
    const told = toldOf(runtime)
    await withoutMining(async () => {
      // Deeper than the one confirmation that was asked for.
      await chain.rpc('anvil_reorg', [1, []])
      expect(await notes()).toBe(before)
      expect(runtime.run('deep')?.status).toBe('done')
      // Its nonce is free again: a write of the account sends the same bytes before its own.
      const next = sendOnce(runtime, note(12), { id: 'next' })
      await mempool(chain, 2)
      await chain.rpc('evm_mine', [])
      expect((await next).status).toBe('done')
    })
    expect(await notes()).toBe(before + 2)
    const transaction = { hash, from: owner.address, found: { status: 'sent_again' } }
    expect(told).toMatchObject([
      { runId: 'next', path: 'root/send', data: { code: 'reorged_out', sent: true, transaction } }
    ])
    // It is reported once.
    expect((await sendOnce(runtime, note(13))).status).toBe('done')
    expect(told).toHaveLength(1)
    expect(await runtime.verify()).toMatchObject({ ok: true })
  })

  it('W10: is looked up again once confirmed, and what is lost is reported with what to do', async () => {
    const store = openMemoryStore()
    const open = async () => openSending([evmExecutor(settings())], store)
    const first = await open()
    const before = await notes()
    const { status, response } = await sendOnce(first, note(20), { id: 'paid' })
    const { hash } = response.data as { readonly hash: string }
    expect(status).toBe('done')
    // As another process, which knows the transaction from the journal alone.
    await using later = await open()
    const told = toldOf(later)
    const [stands] = await later.recheck('paid')
    expect(stands).toMatchObject({ hash, found: { status: 'in_place' }, diagnostic: null })
    const { recorded } = stands ?? {}
    await withoutMining(async () => {
      await chain.rpc('anvil_reorg', [1, []])
      const about = { hash, from: owner.address, block: recorded?.blockNumber }
      const lost = {
        path: 'root/send',
        found: { status: 'gone' },
        recorded: recorded ?? {},
        diagnostic: {
          code: 'reorged_out',
          nodeId: 'send',
          chain: chain.id,
          phase: 'confirm',
          actions: ['retry', 'ask_user'],
          transaction: { ...about, blockHash: recorded?.blockHash, found: { status: 'gone' } }
        }
      }
      expect(await later.recheck('paid')).toMatchObject([{ ...lost, sentAgain: null }])
      expect(await later.recheck('paid', { sendAgain: true })).toMatchObject([
        { ...lost, sentAgain: 'accepted' }
      ])
      expect(told).toMatchObject([0, 1].map(() => ({ runId: 'paid', data: lost.diagnostic })))
      const waits = { found: { status: 'pending' }, diagnostic: { actions: ['ask_user'] } }
      expect(await later.recheck('paid', { sendAgain: true })).toMatchObject([
        { ...waits, sentAgain: null }
      ])
      await chain.rpc('evm_mine', [])
    })
    expect(await notes()).toBe(before + 1)
    expect(await later.recheck('paid')).toMatchObject([
      { found: { status: 'elsewhere', success: true }, diagnostic: { code: 'reorged_out' } }
    ])
    // What was recorded stays as it is.
    expect(later.run('paid')?.status).toBe('done')
    expect(await later.verify()).toMatchObject({ ok: true })
    await expect(later.recheck('none')).rejects.toMatchObject({ code: 'run.not_found' })
  })

  it('W10: is reported as replaced when another took its nonce after it was confirmed', async () => {
    await withoutMining(async () => {
      const nonce = await chain.client.getTransactionCount({ address: owner.address })
      const sent = sendOnce(runtime, note(21), { id: 'outbid' })
      await mempool(chain, 1)
      await chain.rpc('evm_mine', [])
      expect((await sent).status).toBe('done')
      await chain.rpc('anvil_reorg', [1, []])
      const by = await outbid(owner, nonce)
      await chain.rpc('evm_mine', [])
      const found = { status: 'replaced', by }
      expect(await runtime.recheck('outbid', { sendAgain: true })).toMatchObject([
        {
          found,
          sentAgain: null,
          diagnostic: { code: 'reorged_out', actions: ['ask_user'], transaction: { found } }
        }
      ])
    })
  })

  it('W10: is not called lost while no endpoint answers', async () => {
    const store = openMemoryStore()
    const first = await openSending([evm], store)
    await sendOnce(first, note(22), { id: 'paid' })
    const dead = { ...settings().chains[chain.id], rpc: ['http://127.0.0.1:1'] }
    const later = await openSending([evmExecutor({ chains: { [chain.id]: dead } })], store)
    expect(await later.recheck('paid', { sendAgain: true })).toMatchObject([
      {
        found: null,
        sentAgain: null,
        diagnostic: { code: 'rpc_down', actions: ['retry', 'ask_user'] }
      }
    ])
    await using none = await openSending([], store)
    expect(await none.recheck('paid')).toMatchObject([{ diagnostic: { code: 'unknown_chain' } }])
  })

  it('W5: is unknown when time is over; a retry looks on and sends nothing new', async () => {
    await withoutMining(async () => {
      const before = await notes()
      const node = { recovery: [{ retry: { max_attempts: 5, interval_ms: 20 } }] }
      const id = 'waits-long'
      const sent = sendOnce(runtime, note(4, { timeoutMs: 100 }), { id, node: node as Json })
      await mempool(chain, 1)
      await settled('waits-long', 1)
      await chain.rpc('evm_mine', [])
      expect((await sent).status).toBe('done')
      expect(await notes()).toBe(before + 1)
      const prepared = (await journal('waits-long')).filter(
        ({ k, effect }) => k === 'sealed' && effect === 'chain.prepare'
      )
      // What is kept from an earlier try is sealed again, and is the same.
      expect(new Set(prepared.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    })
  })

  it('is timed out without a retry, and says that it may still be included', async () => {
    await withoutMining(async () => {
      const sent = await sendOnce(runtime, note(5, { timeoutMs: 60 }))
      expect(details(sent)).toMatchObject({ code: 'timed_out', phase: 'confirm', sent: true })
      await chain.rpc('evm_mine', [])
    })
  })

  it('W11: is refused and prepared anew when its node will not take it', async () => {
    const before = await notes()
    // A transaction of another sender with this nonce and a higher price is in the pool.
    await withoutMining(async () => {
      const nonce = await chain.client.getTransactionCount({ address: other.address })
      await outbid(other, nonce)
      const sent = sendOnce(runtime, note(6, { account: 'other' }))
      await mempool(chain, 2)
      await chain.rpc('evm_mine', [])
      expect((await sent).status).toBe('done')
    })
    expect(await notes()).toBe(before + 1)
  })
})

describe('unsigned mode', () => {
  const watched = () => ({ account: third.address })

  it('hands the transaction to a wallet and takes its hash back', async () => {
    const before = await notes()
    const run = runtime.begin(sending(), { id: 'wallet', inputs: note(7, watched()) as never })
    const wait = await waiting(run)
    const { transaction } = asked(wait)
    expect(asked(wait)).toMatchObject({ kind: 'sign_and_send', chain: chain.id })
    expect(transaction).toMatchObject({ from: third.address, to: bridgeAt, value: '0x0' })
    const hash = await walletSends(transaction)
    await run.resume(wait.token, { digest: wait.digest, value: { hash } })
    expect((await run.result).response.data).toMatchObject({ hash })
    expect(await notes()).toBe(before + 1)
  })

  it('notices a wallet that sends something else', async () => {
    const run = runtime.begin(sending(), { id: 'liar', inputs: note(8, watched()) as never })
    const wait = await waiting(run)
    const { transaction } = asked(wait)
    const hash = await walletSends({ ...transaction, to: other.address })
    await run.resume(wait.token, { digest: wait.digest, value: { tx_hash: hash } })
    expect(details(await run.result)).toMatchObject({
      code: 'wallet_mismatch',
      message: expect.stringContaining('to differ')
    })
  })

  it('ends as denied, or as a mismatch when the answer is no hash', async () => {
    const denied = runtime.begin(sending(), { id: 'denied', inputs: note(9, watched()) as never })
    const first = await waiting(denied)
    await denied.deny(first.token, { digest: first.digest })
    expect(details(await denied.result)).toMatchObject({ code: 'denied', sent: false })
    const odd = runtime.begin(sending(), { id: 'odd', inputs: note(10, watched()) as never })
    const second = await waiting(odd)
    await odd.resume(second.token, { digest: second.digest, value: 'done!' })
    expect(details(await odd.result)).toMatchObject({ code: 'wallet_mismatch' })
  })

  async function walletSends(transaction: JsonObject): Promise<string> {
    return chain.wallet.sendTransaction({
      account: third,
      chain: chain.wallet.chain as NonNullable<typeof chain.wallet.chain>,
      to: String(transaction['to']) as `0x${string}`,
      data: String(transaction['data']) as `0x${string}`
    })
  }
})

describe('a simulation', () => {
  it('tells what a write would give, and changes nothing', async () => {
    const call = { key: 'k', signal: new AbortController().signal }
    const abi = namedOutputs(fragment(bridge, 'note'))
    const execution = { type: 'evm_call', to: bridgeAt, abi, args: { value: '1' } }
    const before = await notes()
    expect(await evm.simulate({ chain: chain.id, execution }, call)).toEqual({
      ok: true,
      outputs: {}
    })
    const errors = [fragment(bridge, 'ZeroAmount')]
    const args = { token: other.address, amount: '0', toChain: 'x', to: `0x${'00'.repeat(32)}` }
    const failing = { type: 'evm_call', to: bridgeAt, abi: fragment(bridge, 'send'), args, errors }
    expect(await evm.simulate({ chain: chain.id, execution: failing }, call)).toMatchObject({
      ok: false,
      revert: { name: 'ZeroAmount', args: { token: other.address } }
    })
    expect(await notes()).toBe(before)
  })
})

function asked({ request }: { readonly request: Json }) {
  return (request as { readonly request: JsonObject & { readonly transaction: JsonObject } })
    .request
}

async function journal(id: string): Promise<readonly JsonObject[]> {
  const entries: JsonObject[] = []
  for await (const { value } of runtime.journal(id)) entries.push(value as JsonObject)
  return entries
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < 400; looks += 1) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error('it did not happen')
}

function looks(id: string, isWanted: (body: JsonObject) => boolean): Promise<void> {
  return until(async () =>
    (await journal(id)).some(
      ({ effect, body }) => effect === 'chain.look' && isWanted((body ?? {}) as JsonObject)
    )
  )
}

/** Waits until so many tries of a run have ended. */
function settled(id: string, tries: number): Promise<void> {
  return until(async () => (await journal(id)).filter(({ k }) => k === 'settled').length >= tries)
}

async function waiting(run: ReturnType<WiredRuntime['begin']>) {
  await until(async () => runtime.run(run.id) !== undefined && (await run.waits()).length > 0)
  const [wait] = await run.waits()
  if (wait === undefined) throw new Error('it does not wait')
  return wait
}
