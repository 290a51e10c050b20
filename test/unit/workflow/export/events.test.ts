import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { createRuntime, MEMORY_LOCATION } from '../../../../src/runtime/index.js'
import { engineCheckpoint, engineEvents } from '../../../../src/workflow/index.js'
import { aisText } from '../../../support/ais.js'
import { TestChain } from '../../../support/ais-chain.js'
import { asset, balance, flow, owner, transfer } from '../../../support/ais-flows.js'

/** The events and checkpoints of AIS, from the journal of a run alone. */

const asked = { token: asset, to: owner, amount: { ref: 'inputs.n' } }
const document = flow(
  [
    balance('poll', {
      retry: { interval_ms: 1, max_attempts: 2 },
      until: { cel: 'nodes.poll.outputs.balance > 5' }
    }),
    balance('never', { condition: { lit: false } }),
    transfer('pay'),
    transfer('ask', { args: asked })
  ],
  { inputs: { n: { type: 'uint256', required: true } } }
)

/** Journals of a run: when it first waits, and at its end. */
async function journals(): Promise<{ readonly waiting: Json[]; readonly ended: Json[] }> {
  const chain = new TestChain({ read: () => ({ balance: '1' }) })
  const tally = await createRuntime({
    location: MEMORY_LOCATION,
    providers: chain.providers,
    workflow: { protocols: [aisText('erc20')] }
  })
  const read = async () => {
    const found: Json[] = []
    for await (const { value } of tally.journal('one')) found.push(value as Json)
    return found
  }
  let waiting: Json[] = []
  const answers: Readonly<Record<string, JsonObject>> = {
    external: { action: 'resume', value: { patches: [{ path: 'inputs.n', value: '3' }] } },
    confirmation: { action: 'approve' },
    decision: { action: 'skip' }
  }
  try {
    const run = tally.begin(document, { id: 'one', inputs: {} })
    for await (const event of run) {
      if (event.type === 'run.finished') break
      if (event.type !== 'run.parked') continue
      const waits = await run.waits()
      const open = waits.filter(({ reason }) => reason in answers)
      // Nothing else may move: while one still polls, others are not answered.
      if (open.length < waits.length) continue
      if (waiting.length === 0) waiting = await read()
      const [first] = open
      if (first === undefined) continue
      const { token, digest, reason } = first
      const answer = { digest, ...answers[reason] }
      expect(await run.resume(token, answer as never)).toMatchObject({ accepted: true })
    }
    return { waiting, ended: await read() }
  } finally {
    await tally.close()
  }
}

const { waiting, ended } = await journals()
const typesOf = (entries: readonly Json[], node: string) =>
  engineEvents(entries).flatMap(({ event }) => (event.node_id === node ? [event.type] : []))

describe('events of AIS', () => {
  it('are numbered records of the run, in the order of its journal', () => {
    const records = engineEvents(ended)
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index))
    const times = records.map(({ ts }) => ts)
    expect(times).toEqual([...times].sort())
    for (const { schema, run_id: run, ts } of records) {
      expect([schema, run]).toEqual(['ais-engine-event/0.0.3', 'one'])
      expect(ts).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    }
    expect(records[0]?.event.type).toBe('plan_ready')
  })

  it('are the same for the same journal, and grow with it', () => {
    expect(engineEvents(ended)).toEqual(engineEvents(ended))
    const before = engineEvents(waiting)
    expect(engineEvents(ended).slice(0, before.length)).toEqual(before)
  })

  it('tell of each node what it did', () => {
    expect(typesOf(waiting, 'poll')).toEqual(['node_ready', 'node_waiting', 'error', 'node_paused'])
    expect(typesOf(waiting, 'never')).toEqual(['skipped'])
    expect(typesOf(ended, 'poll').slice(-2)).toEqual(['command_accepted', 'skipped'])
    expect(typesOf(ended, 'pay')).toEqual([
      'node_ready',
      'need_user_confirm',
      'command_accepted',
      'tx_prepared',
      'tx_sent',
      'tx_confirmed'
    ])
    expect(typesOf(ended, 'ask')).toEqual(
      expect.arrayContaining(['node_blocked', 'patch_applied', 'need_user_confirm', 'tx_confirmed'])
    )
  })

  it('have every type of the least set', () => {
    const found = new Set(engineEvents(ended).map(({ event }) => event.type))
    expect([...found]).toEqual(
      expect.arrayContaining([
        ...['plan_ready', 'node_ready', 'node_blocked', 'need_user_confirm'],
        ...['tx_prepared', 'tx_sent', 'tx_confirmed', 'node_waiting'],
        ...['checkpoint_saved', 'engine_paused', 'error']
      ])
    )
  })

  it('say what a confirmation is about', () => {
    const event = engineEvents(waiting).find(({ event: { type } }) => type === 'need_user_confirm')
    expect(event?.event.data).toMatchObject({
      details: {
        node_id: 'pay',
        action_ref: 'erc20@0.0.2/transfer',
        hit_reasons: expect.any(Array),
        chain: 'eip155:1',
        execution_type: 'evm_call',
        confirmation_hash: expect.stringMatching(/^[0-9a-f]{64}$/)
      }
    })
  })

  it('hide secrets, and leave signed bytes out', () => {
    const text = JSON.stringify(engineEvents(ended))
    expect(text).not.toContain('"raw"')
    const [first, ...others] = structuredClone(waiting) as JsonObject[]
    const started = {
      ...first,
      definition: null,
      input: { ctx: { private_key: `0x${'5ec2e7'.repeat(8)}` } }
    }
    const checkpoint = JSON.stringify(engineCheckpoint([started as Json, ...others]))
    expect(checkpoint).toContain('"private_key":"[REDACTED]"')
    expect(checkpoint).not.toContain('5ec2e7')
  })
})

describe('checkpoints of AIS', () => {
  it('say what is done, what polls and what is paused', () => {
    const checkpoint = engineCheckpoint(waiting, { events: true })
    expect(checkpoint).toMatchObject({
      schema: 'ais-engine-checkpoint/0.0.2',
      completed_node_ids: ['never'],
      poll_state_by_node_id: { poll: { attempts: 1 } },
      paused_by_node_id: {
        ask: { reason: 'external' },
        pay: { reason: 'confirmation' },
        poll: { reason: 'decision' }
      },
      events: expect.any(Array)
    })
    const end = engineCheckpoint(ended)
    expect(end).toMatchObject({
      completed_node_ids: ['ask', 'never', 'pay', 'poll'],
      runtime: { nodes: { pay: { outputs: { tx_hash: expect.any(String) } } } }
    })
    expect(end).not.toHaveProperty('events')
  })

  it('hold a plan that is valid under the schema of AIS', () => {
    const text = readFileSync(
      new URL('../../../vectors/ais/ais-plan-0.0.3.schema.json', import.meta.url),
      'utf8'
    )
    const { plan } = engineCheckpoint(waiting)
    expect(z.fromJSONSchema(JSON.parse(text)).safeParse(plan).error?.issues ?? []).toEqual([])
  })
})
