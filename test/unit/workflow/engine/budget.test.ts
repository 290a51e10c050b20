import { describe, expect, it } from 'vitest'
import type { JournalEntry } from '../../../../src/block/index.js'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { createRuntime, MEMORY_LOCATION } from '../../../../src/runtime/index.js'
import { RunBudgets, SPEND_EFFECT } from '../../../../src/workflow/engine/budget.js'
import { aisText } from '../../../support/ais.js'
import { TestChain } from '../../../support/ais-chain.js'
import { asset, flow, transfer } from '../../../support/ais-flows.js'
import { LedgerOnDisk } from '../../../support/ledger-on-disk.js'

/** What a run may spend, all its nodes together. Each transfer of these tests gives 5. */

const token = `eip155:1/erc20:${asset.lit.address}`
const packOf = (hard_constraints_defaults: JsonObject): Json => ({
  schema: 'ais-pack/0.0.2',
  meta: { name: 'p', version: '1.0.0' },
  includes: [{ protocol: 'erc20', version: '0.0.2' }],
  policy: { hard_constraints_defaults }
})
const hostOf = (most: Json) =>
  ({
    protocols: [aisText('erc20')],
    packs: [packOf({ max_spend_per_run: most })],
    writes: 'broadcast',
    policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
  }) as const

const ids = ['a', 'b', 'c', 'd']
const parallel = (more: JsonObject = {}) => ids.map((id) => transfer(id, more))
const inTurn = ids.map((id, index) =>
  transfer(id, index === 0 ? {} : { deps: [ids[index - 1] ?? ''] })
)

describe('W15: what a run spends', () => {
  for (const [name, nodes] of [
    ['beside each other', parallel()],
    ['one after the other', inTurn]
  ] as const) {
    it(`is bounded over all its nodes, which are ${name}`, async () => {
      for (const [most, sent] of [
        ['20', 4],
        ['19', 3],
        ['5', 1],
        [{ [token]: '14' }, 2],
        [{ 'eip155:1/native': '1' }, 4]
      ] as const) {
        const chain = new TestChain()
        await using tally = await createRuntime({
          location: MEMORY_LOCATION,
          providers: chain.providers,
          workflow: { ...hostOf(most as Json), onError: 'stop' }
        })
        const run = tally.begin(flow(nodes), { id: 'one', inputs: {} })
        const { status, response } = await run.result
        expect([most, chain.functions.length, status]).toEqual([
          most,
          sent,
          sent === 4 ? 'done' : 'failed'
        ])
        if (sent < 4) expect(JSON.stringify(response)).toContain('the run would spend')
        expect(await tally.verify()).toMatchObject({ ok: true })
      }
    })
  }

  it('is known to a process that resumes the run', async () => {
    const ledger = await LedgerOnDisk.create()
    const chain = new TestChain()
    const options = { providers: chain.providers, workflow: hostOf('10') }
    const held = inTurn.slice(0, 3).map((node, index) =>
      // The second one fails until it is tried again.
      index === 1 ? { ...node, condition: { cel: 'inputs.go' } } : node
    )
    const document = flow(held, { inputs: { go: { type: 'bool', required: true } } })
    const first = await ledger.open(options)
    const begun = first.begin(document, { id: 'one', inputs: {} })
    for await (const event of begun) if (event.type === 'run.parked') break
    expect(chain.functions).toHaveLength(1)
    await first.close()
    const second = await ledger.open(options)
    const run = await second.attach('one')
    const [wait] = await run.waits()
    await run.resume(wait?.token ?? '', {
      digest: wait?.digest ?? '',
      value: { 'inputs.go': true }
    })
    for await (const event of run) if (event.type === 'run.parked') break
    expect(chain.functions).toHaveLength(2)
    await run.cancel('enough')
    await second.close()
    await ledger.remove()
  })

  it('is counted once for an execution that is tried again', async () => {
    const budgets = new RunBudgets()
    const take = async (place: string, amount: string) => {
      const request = { place, amounts: { x: amount }, bounds: { x: '10' } }
      const signal = new AbortController().signal
      const call = { request, signal, key: 'k', runId: 'r' as never }
      return ((await budgets.provider.perform(call)) as JsonObject)['granted']
    }
    expect([await take('a', '6'), await take('a', '6'), await take('b', '5')]).toEqual([
      true,
      true,
      false
    ])
    expect([await take('a', '5'), await take('b', '5'), await take('c', '1')]).toEqual([
      true,
      true,
      false
    ])
    // A run that has left memory is read back; what was refused took nothing.
    const sealed = (place: string, granted: boolean) => ({
      k: 'sealed',
      effect: SPEND_EFFECT,
      ok: true,
      body: { granted, place, amounts: { x: '4' } }
    })
    const entries = [sealed('a', true), sealed('b', false), sealed('a', true)]
    budgets.useJournals(async () => entries as unknown as readonly JournalEntry[])
    budgets.forget('r' as never)
    expect([await take('c', '7'), await take('c', '6')]).toEqual([false, true])
  })
})
