import { describe, expect, it } from 'vitest'
import type { EntryDraft, JournalEntry } from '../../../../src/block/run/entries.js'
import { eventOf } from '../../../../src/block/run/events.js'
import type { Hash } from '../../../../src/core/index.js'
import { sha256Hex } from '../../../../src/core/index.js'
import { failed, succeeded } from '../../../support/fake-pump.js'
import { identity, place, RunOfTest, runId } from '../../../support/run-of-test.js'

/** What those who watch a run hear of each entry, before it is applied. */

const receiptHash = sha256Hex('receipt')
const hash = sha256Hex('hash')
const { path } = place
const named = { runId, at: 7 }

/** The event of an entry, which is counted and not applied. */
function heard(draft: EntryDraft, { run = new RunOfTest(), receipt = false } = {}) {
  const entry = { run: runId, n: run.state.entries, ...draft } as JournalEntry
  run.state.take(entry, hash, receipt ? (receiptHash as Hash) : undefined)
  return eventOf(run.state, entry)
}

const started = {
  k: 'run.started',
  at: 7,
  status: 'running',
  name: 'pay',
  definition: {},
  definitionHash: hash,
  input: null,
  inputHash: hash,
  base: 'GENESIS',
  principal: null
} as const

describe('those who watch a run', () => {
  it('hear that it has begun, with what its caller called it', () => {
    const event = { type: 'run.started', ...named, name: 'pay', definitionHash: hash }
    expect(heard(started)).toEqual(event)
    const trace = { traceId: 'trace', spanId: 'span' }
    expect(heard({ ...started, trace })).toEqual({ ...event, trace })
  })

  it('hear that it is resumed, and not that it is parked', () => {
    const status = { at: 7, waits: [], due: null }
    const resumed = { k: 'run.resumed', status: 'running', ...status } as const
    expect(heard(resumed)).toEqual({ type: 'run.resumed', ...named })
    expect(heard({ k: 'run.waiting', status: 'waiting', ...status })).toBeUndefined()
  })

  it('hear that an effect was answered, and not with what', () => {
    const answer = { seq: 2, effect: 'pay', requestHash: hash, responseHash: hash, salt: hash }
    const sealed = { k: 'sealed', at: 7, ...place, ...answer, ok: false, body: 'a secret' } as const
    expect(heard(sealed)).toEqual({
      ...{ type: 'effect.sealed', ...named, path, step: 1, seq: 2, effect: 'pay', ok: false }
    })
  })

  it('hear of a wait that a message can end, as it is shown', () => {
    const asked = { reason: 'external', request: { a: 1 }, requestHash: hash, actions: ['resume'] }
    const wait = {
      k: 'wait',
      at: 7,
      ...place,
      seq: 1,
      token: 'one',
      ...asked,
      digest: hash
    } as const
    const shown = { path, step: 1, token: 'one', digest: hash, reason: 'external' }
    const open = { ...shown, request: { a: 1 }, actions: ['resume'], due: 9 }
    expect(heard({ ...wait, due: 9 })).toEqual({ type: 'waiting', ...named, ...open })
    const bound = { blockHash: hash, chain: null, identity, policyHash: null, signer: null }
    const approvers = { threshold: 1, keys: ['k'] } as never
    expect(heard({ ...wait, due: 9, asking: 2, blockHash: hash, approvers })).toEqual({
      ...{ type: 'waiting', ...named, ...open, asking: 2, ...bound, approvers }
    })
    expect(heard({ ...wait, due: 9, actions: [] })).toBeUndefined()
  })

  it('K13: hear which key has signed what', () => {
    const approval = { action: 'approve', digest: hash, token: 'one', value: null, key: 'a key' }
    const given = { k: 'approval', at: 7, ...place, seq: 1, token: 'one', by: null } as const
    expect(heard({ ...given, approval: approval as never })).toEqual({
      ...{ type: 'approved', ...named, path, token: 'one', action: 'approve', key: 'a key' }
    })
  })

  it('hear how an open attempt has ended, with its receipt', () => {
    const response = succeeded(1)
    const settled = { k: 'settled', at: 7, ...place, response, sent: true } as const
    expect(heard(settled)).toBeUndefined()
    const run = new RunOfTest()
    const attempt = run.open()
    const event = { type: 'block.settled', ...named, ...place, block: 'pay', response }
    expect(heard(settled, { run })).toEqual(event)
    expect(heard(settled, { run, receipt: true })).toEqual({ ...event, receiptHash })
    const attribution = { dappId: 'wallet@1' } as never
    run.state.attempts.set(path, { ...attempt, attribution })
    expect(heard(settled, { run })).toEqual({ ...event, dappId: 'wallet@1' })
    expect(heard({ ...settled, attempt: 2 }, { run })).toBeUndefined()
  })

  it.each([
    ['committed', true, false],
    ['aborted', true, true],
    ['conflict', false, false],
    ['aborting', false, false],
    ['released', false, false]
  ] as const)('C4: hear of an overlay that ends: %s', (outcome, isHeard, isHeardInside) => {
    const response = failed('boom')
    const end = { k: 'scope', at: 7, step: 1, attempt: 1, outcome, response } as const
    expect(heard({ ...end, path: 'root' })).toBeUndefined()
    const run = new RunOfTest()
    run.openScope('root')
    run.openScope('root/all')
    const event = { type: 'block.settled', ...named, step: 1, attempt: 1, block: 'all', response }
    expect(heard({ ...end, path: 'root' }, { run, receipt: true })).toEqual(
      isHeard ? { ...event, path: 'root', receiptHash } : undefined
    )
    expect(heard({ ...end, path: 'root/all' }, { run })).toEqual(
      isHeardInside ? { ...event, path: 'root/all' } : undefined
    )
  })

  it('hear how it has ended, with the receipt of the whole', () => {
    const end = { k: 'run.finished', at: 7, journalHash: hash } as const
    const done = { ...end, status: 'done', response: succeeded(1) } as const
    const event = { type: 'run.finished', ...named, status: 'done', response: succeeded(1) }
    expect(heard(done, { receipt: true })).toEqual({ ...event, receiptHash })
    const lost = { status: 'failed', response: failed('boom') } as const
    expect(heard({ ...end, ...lost })).toEqual({ type: 'run.finished', ...named, ...lost })
  })

  it('hear nothing of what is kept for the run itself', () => {
    const requested = { seq: 1, effect: 'pay', sideEffects: 'none', requestHash: hash, key: hash }
    const drafts: readonly EntryDraft[] = [
      { k: 'requested', at: 7, ...place, ...requested } as never,
      { k: 'waiting', at: 7, ...place, token: 'one' },
      { k: 'rewound', at: 7, ...place, dropped: [1] },
      { k: 'timer', at: 7, path, step: 1 },
      { k: 'cancel', at: 7, reason: 'stop', by: null }
    ]
    for (const draft of drafts) expect(heard(draft)).toBeUndefined()
  })
})
