import { describe, expect, it } from 'vitest'
import type { OpenWait } from '../../../../src/block/index.js'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { chainProviders, type Executor } from '../../../../src/executor/index.js'
import { createRuntime, MEMORY_LOCATION, type RunHandle } from '../../../../src/runtime/index.js'
import { FakeChain, fakeExecutor } from '../../../../src/testing/index.js'
import { troublesOf } from '../../../../src/workflow/engine/diagnose.js'
import type { WorkflowHost } from '../../../../src/workflow/index.js'
import { aisText } from '../../../support/ais.js'
import { flow, transfer } from '../../../support/ais-flows.js'

/** What a node whose transaction is stuck takes for an answer, and what a replacement comes to. */

const id = 'eip155:1'

async function stuck(
  host: WorkflowHost['policy'] = {},
  over: (right: Executor) => Partial<Executor> = () => ({})
) {
  const chain = new FakeChain({ id })
  chain.holds = ({ fee = 0 }) => fee < 125
  const accounts = { default: `0x${'1'.repeat(40)}` }
  const right = fakeExecutor({ chains: [chain], accounts, terms: { pollMs: 1, timeoutMs: 3 } })
  const names = ['account', 'broadcast', 'check', 'look', 'prepare', 'read', 'simulate'] as const
  const bound = Object.fromEntries(names.map((name) => [name, right[name].bind(right)]))
  const { namespace = 'eip155', chains, executions } = right
  const recover: Executor['recover'] = (all) => right.recover(all)
  const executor = { namespace, chains, executions, recover, ...bound, ...over(right) } as Executor
  const tally = await createRuntime({
    location: MEMORY_LOCATION,
    providers: chainProviders([executor]),
    workflow: {
      protocols: [aisText('erc20')],
      writes: 'broadcast',
      policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6, ...host }
    }
  })
  const run = tally.begin(flow([transfer('pay')]), { id: 'one', inputs: {} })
  return { chain, tally, run }
}

async function parked(run: RunHandle): Promise<OpenWait | undefined> {
  for await (const event of run) {
    if (event.type === 'run.finished') return undefined
    const waits = event.type === 'run.parked' ? await run.waits() : []
    if (waits.length === 1) return waits[0]
  }
  return undefined
}

function diagnosticOf(wait: OpenWait | undefined): JsonObject {
  const [trouble] = troublesOf({ waits: wait === undefined ? [] : [wait], response: null })
  return (trouble?.diagnostic ?? {}) as unknown as JsonObject
}

function hashIn(wait: OpenWait | undefined): string {
  return String((diagnosticOf(wait)['transaction'] as JsonObject)['hash'])
}

function answer(run: RunHandle, wait: OpenWait | undefined, value: Json) {
  const { token = '', digest = '' } = wait ?? {}
  return run.resume(token, { digest, action: 'patch', value })
}

describe('W14: a node whose transaction is stuck', () => {
  const refused: readonly [string, (hash: string) => Json][] = [
    ['other arguments', () => ({ patches: [{ path: 'inputs.amount', value: '6' }] })],
    ['another hash', () => ({ replace: { '0xother': 25 } })],
    ['a second hash beside', (hash) => ({ replace: { [hash]: 25, '0xother': 25 } })],
    ['too little more', (hash) => ({ replace: { [hash]: 9 } })],
    ['far too much more', (hash) => ({ replace: { [hash]: 1_001 } })],
    ['a part of a percent', (hash) => ({ replace: { [hash]: 12.5 } })],
    ['text', (hash) => ({ replace: { [hash]: '25' } })],
    ['nothing', () => ({ replace: {} })],
    ['a patch beside', (hash) => ({ replace: { [hash]: 25 }, patches: [] })]
  ]
  it('refuses all but how much more a replacement of it pays', async () => {
    const { chain, tally, run } = await stuck()
    await using _ = tally
    const wait = await parked(run)
    for (const [what, valueFor] of refused) {
      const taken = await answer(run, wait, valueFor(hashIn(wait)))
      expect([what, taken]).toMatchObject([what, { accepted: false, reason: 'answer_refused' }])
    }
    expect(chain.pool).toHaveLength(1)
    const taken = await answer(run, wait, { replace: { [hashIn(wait)]: 25 } })
    expect(taken).toMatchObject({ accepted: true })
    expect((await run.result).status).toBe('done')
    expect(chain.effective()).toHaveLength(1)
    expect(await tally.verify()).toMatchObject({ ok: true })
  })

  it('takes no replacement once nothing is stuck', async () => {
    const { chain, tally, run } = await stuck()
    await using _ = tally
    const first = await parked(run)
    chain.holds = () => false
    chain.mine()
    const { token = '', digest = '' } = first ?? {}
    await run.resume(token, { digest, action: 'retry' })
    expect((await run.result).status).toBe('done')
    const late = await answer(run, first, { replace: { [hashIn(first)]: 25 } })
    expect(late).toMatchObject({ accepted: false })
    expect(chain.effective().map(({ fee }) => fee)).toEqual([100])
  })
})

describe('W15: what would replace a stuck transaction', () => {
  it('is not signed above the ceiling, and can pay less instead', async () => {
    const { chain, tally, run } = await stuck({
      constraints: { max_fee: { [`${id}/native`]: '130' } }
    } as never)
    await using _ = tally
    const first = await parked(run)
    await answer(run, first, { replace: { [hashIn(first)]: 50 } })
    const second = await parked(run)
    expect(diagnosticOf(second)).toMatchObject({
      code: 'timed_out',
      phase: 'send',
      transaction: { hash: hashIn(first), refused: 'fee_too_high' },
      actions: ['retry', 'patch', 'ask_user', 'abort']
    })
    expect(chain.pool).toHaveLength(1)
    await answer(run, second, { replace: { [hashIn(second)]: 25 } })
    expect((await run.result).status).toBe('done')
    expect(chain.effective().map(({ fee }) => fee)).toEqual([125])
  })

  it('is not sent where the executor has prepared another payment instead', async () => {
    const { chain, tally, run } = await stuck({}, (right) => ({
      prepare: ({ replaces: _, ...request }, options) => right.prepare(request, options)
    }))
    await using _ = tally
    const first = await parked(run)
    await answer(run, first, { replace: { [hashIn(first)]: 25 } })
    const second = await parked(run)
    expect(diagnosticOf(second)).toMatchObject({ code: 'timed_out', phase: 'send' })
    expect(chain.pool.map(({ nonce }) => nonce)).toEqual([0])
    await run.cancel('enough')
  })
})
