import { describe, expect, it } from 'vitest'
import type { OpenWait, Provider } from '../../../../src/block/index.js'
import { type Clock, type Json, type JsonObject, systemClock } from '../../../../src/core/index.js'
import { chainEffects, chainProviders } from '../../../../src/executor/index.js'
import type { RunHandle } from '../../../../src/runtime/index.js'
import { FakeChain, type FakeTransaction, fakeExecutor } from '../../../../src/testing/index.js'
import { aisText } from '../../../support/ais.js'
import { asset, flow, owner, transfer } from '../../../support/ais-flows.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../../../support/ledger-on-disk.js'

/** Writes that are tried again while they may have taken effect. */

const id = 'eip155:1'

let disk: LedgerOnDisk
ledgerForEachTest((made) => {
  disk = made
})

/** Every look at it is an hour later. */
function hastyClock(): Clock {
  let hours = 0
  return {
    now: () => {
      hours += 1
      return 1_700_000_000_000 + hours * 3_600_000
    },
    schedule: (_, due) => systemClock.schedule(systemClock.now(), due)
  }
}

function open(chain: FakeChain, clock: Clock, wraps: (one: Provider) => Provider = (one) => one) {
  const accounts = { default: `0x${'1'.repeat(40)}` }
  const terms = { pollMs: 1, timeoutMs: 3 }
  return disk.open({
    clock,
    providers: chainProviders([fakeExecutor({ chains: [chain], accounts, terms })]).map(wraps),
    workflow: {
      protocols: [aisText('erc20')],
      writes: 'broadcast',
      policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
    }
  })
}

const args = { token: asset, to: owner, amount: { cel: 'ctx.now' } }
const document = flow([transfer('pay', { args })])

async function parked(run: RunHandle): Promise<OpenWait | undefined> {
  for await (const { type } of run) {
    if (type === 'run.finished') return undefined
    const waits = type === 'run.parked' ? await run.waits() : []
    if (waits.length === 1) return waits[0]
  }
  return undefined
}

/** Why patches were not used, until the run has ended. */
async function refusedPatches(run: RunHandle): Promise<readonly unknown[]> {
  const problems: unknown[] = []
  for await (const event of run) {
    if (event.type === 'run.finished') break
    if (event.type !== 'log' || event.message !== 'patch_rejected') continue
    problems.push((event.data as JsonObject)['problem'])
  }
  return problems
}

function decide(
  run: RunHandle,
  wait: OpenWait | undefined,
  action: 'retry' | 'patch',
  value?: Json
) {
  const { token = '', digest = '' } = wait ?? {}
  return run.resume(token, { digest, action, ...(value === undefined ? {} : { value }) })
}

describe('a write whose arguments tell the time', () => {
  it('W11: is not sent a second time by retries while the first may take effect', async () => {
    const chain = new FakeChain({ id })
    chain.holds = () => true
    const clock = hastyClock()
    let run = (await open(chain, clock)).begin(document, { id: 'one', inputs: {} })
    for (let retry = 0; retry < 3; retry += 1) {
      const wait = await parked(run)
      expect(chain.pool).toHaveLength(1)
      if (retry === 1) {
        // Another process has nothing but the journal.
        await disk.close()
        run = await (await open(chain, clock)).attach('one')
      }
      if (retry === 2) {
        chain.holds = () => false
        chain.mine()
      }
      expect(await decide(run, wait, 'retry')).toMatchObject({ accepted: true })
    }
    expect((await run.result).status).toBe('done')
    expect(chain.effective()).toHaveLength(1)
  })

  it('W14: is sent with another time that a person gives once nothing is in doubt', async () => {
    const isLate = (value: unknown) => Number(value) < 2_000_000_000
    const chain = new FakeChain({
      id,
      write: ({ args: sent }) =>
        isLate((sent as JsonObject)['value'])
          ? { ok: false, name: 'Late' }
          : { ok: true, outputs: {} }
    })
    const tally = await open(chain, hastyClock())
    const run = tally.begin(document, { id: 'one', inputs: {} })
    const again = await parked(run)
    await decide(run, again, 'retry')
    const wait = await parked(run)
    const value = { patches: [{ path: 'ctx.now', value: 2_000_000_000 }] }
    expect(await decide(run, wait, 'patch', value)).toMatchObject({ accepted: true })
    expect((await run.result).status).toBe('done')
    expect(chain.effective()).toHaveLength(1)
  })
})

describe('a write that fails before it is prepared, in a later attempt', () => {
  it('W11: is not sent a second time by the attempt after that', async () => {
    const chain = new FakeChain({ id })
    chain.holds = () => true
    const accounts = { default: `0x${'1'.repeat(40)}` }
    const terms = { pollMs: 1, timeoutMs: 3 }
    let isPaused = false
    const revert = { name: 'Error', reason: 'it is paused', data: null }
    const all = chainProviders([fakeExecutor({ chains: [chain], accounts, terms })])
    const providers = all.map((provider) => ({
      ...provider,
      perform: (call: Parameters<typeof provider.perform>[0]) =>
        provider.name === chainEffects.simulate && isPaused
          ? { ok: false, revert }
          : provider.perform(call)
    }))
    const tally = await disk.open({
      providers,
      workflow: {
        protocols: [aisText('erc20')],
        writes: 'broadcast',
        policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
      }
    })
    const simulated = flow([transfer('pay')], { preflight: { simulate: { pay: true } } })
    const run = tally.begin(simulated, { id: 'one', inputs: {} })
    for (let retry = 0; retry < 3; retry += 1) {
      const wait = await parked(run)
      expect(chain.pool).toHaveLength(1)
      isPaused = retry === 0
      expect(await decide(run, wait, 'retry')).toMatchObject({ accepted: true })
    }
    await parked(run)
    expect(chain.pool).toHaveLength(1)
    await run.cancel('enough')
  })
})

describe('a write that a wallet outside sends', () => {
  it('W11: is asked for once, though its arguments tell another time by now', async () => {
    const chain = new FakeChain({ id })
    chain.holds = () => true
    const account = `0x${'2'.repeat(40)}`
    const terms = { pollMs: 1, timeoutMs: 3 }
    const clock = hastyClock()
    const tally = await disk.open({
      clock,
      providers: chainProviders([fakeExecutor({ chains: [chain], terms })]),
      workflow: {
        protocols: [aisText('erc20')],
        writes: 'broadcast',
        policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
      }
    })
    const run = tally.begin(document, { id: 'one', inputs: { inputs: {}, ctx: { account } } })
    const asked: string[] = []
    for (let wait = await parked(run); wait !== undefined; wait = await parked(run)) {
      const { token, digest, reason, request } = wait
      asked.push(reason)
      expect(asked.length).toBeLessThan(5)
      if (reason === 'decision') {
        if (asked.length > 2) {
          chain.holds = () => false
          chain.mine()
        }
        await run.resume(token, { digest, action: 'retry' })
        continue
      }
      const { transaction } = (request as JsonObject)['request'] as JsonObject
      const { execution } = transaction as { readonly execution: FakeTransaction['execution'] }
      const hash = `0x${String(asked.length).repeat(64)}`
      chain.receive({ hash, from: account, nonce: 0, validUntil: null, execution })
      await run.resume(token, { digest, action: 'resume', value: { hash } })
    }
    expect(asked).toEqual(['external', 'decision', 'decision'])
    expect((await run.result).status).toBe('done')
    expect(chain.effective()).toHaveLength(1)
    expect(await tally.verify()).toMatchObject({ ok: true })
  })
})

describe('a wallet outside that answers without a hash', () => {
  it('W14: is refused, and its question stays', async () => {
    const chain = new FakeChain({ id })
    const account = `0x${'2'.repeat(40)}`
    const terms = { pollMs: 1, timeoutMs: 3 }
    const tally = await disk.open({
      providers: chainProviders([fakeExecutor({ chains: [chain], terms })]),
      workflow: {
        protocols: [aisText('erc20')],
        writes: 'broadcast',
        policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
      }
    })
    const inputs = { inputs: {}, ctx: { account } }
    const run = tally.begin(flow([transfer('pay')]), { id: 'one', inputs })
    const wait = await parked(run)
    if (wait === undefined) throw new Error('it does not wait')
    const { token, digest, request } = wait
    const answer = (value: Json) => run.resume(token, { digest, action: 'resume', value })
    for (const value of ['yes', {}, { hash: '0x1' }]) {
      expect(await answer(value)).toMatchObject({ reason: 'answer_refused' })
    }
    const { transaction } = (request as JsonObject)['request'] as JsonObject
    const { execution } = transaction as { readonly execution: FakeTransaction['execution'] }
    const hash = `0x${'1'.repeat(64)}`
    chain.receive({ hash, from: account, nonce: 0, validUntil: null, execution })
    expect(await answer({ hash })).toMatchObject({ accepted: true })
    expect((await run.result).status).toBe('done')
  })
})

describe('a patch after what was sent seemed to have had no effect', () => {
  const inputs = {
    amount: { type: 'uint256', default: '5' },
    fine: { type: 'bool', default: true }
  }
  const paid = (read: Json, more: JsonObject = {}) =>
    flow([transfer('pay', { args: { token: asset, to: owner, amount: read }, ...more })], {
      inputs
    })
  const rows = [
    {
      what: 'is said to be passed over where it was for the execution',
      document: paid({ ref: 'inputs.amount' }),
      patches: [{ path: 'inputs.amount', value: '7' }],
      told: 'before the change of inputs.amount, and has taken effect'
    },
    {
      what: 'is not, where only what is checked behind it reads it',
      document: paid({ cel: 'ctx.now' }, { assert: { cel: 'inputs.fine' } }),
      patches: [{ path: 'inputs.fine', value: true }],
      told: undefined
    }
  ]
  it.each(rows)('W11: $what', async ({ document, patches, told }) => {
    let [isPaused, isFirst] = [false, true]
    const chain = new FakeChain({
      id,
      write: () => (isPaused ? { ok: false, name: 'Paused' } : { ok: true, outputs: {} })
    })
    // It is simulated with success, and included without effect.
    const wraps = (provider: Provider): Provider => ({
      ...provider,
      perform: async (call) => {
        isPaused = isFirst && provider.name === chainEffects.broadcast
        if (isPaused) isFirst = false
        const answer = await provider.perform(call)
        isPaused = false
        return answer
      }
    })
    const tally = await open(chain, hastyClock(), wraps)
    const run = tally.begin(document, { id: 'one', inputs: {} })
    const wait = await parked(run)
    expect(chain.effective()).toHaveLength(0)
    // The block goes, and the same bytes are included again, with effect.
    chain.reorg(1)
    chain.mine()
    const refused = refusedPatches(run)
    expect(await decide(run, wait, 'patch', { patches })).toMatchObject({ accepted: true })
    const problems = await refused
    expect((await run.result).status).toBe('done')
    expect(chain.effective()).toHaveLength(1)
    expect(problems).toEqual(told === undefined ? [] : [expect.stringContaining(told)])
    expect(await tally.verify()).toMatchObject({ ok: true })
  })
})
