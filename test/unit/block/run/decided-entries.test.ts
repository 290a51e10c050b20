import { describe, expect, it } from 'vitest'
import {
  decide,
  type Given,
  keptEvent,
  type RunFact,
  requestedDraft,
  rewoundDraft,
  settledDraft
} from '../../../../src/block/run/decide.js'
import type { EntryDraft } from '../../../../src/block/run/entries.js'
import type { OpenAttempt } from '../../../../src/block/run/run-state.js'
import { callWait, confirmationWait, decisionWait } from '../../../../src/block/run/wait-drafts.js'
import { effectKey } from '../../../../src/code/calls.js'
import { type Json, sha256Hex } from '../../../../src/core/index.js'
import { signed, twoOfThree } from '../../../support/approvers.js'
import { failed, succeeded } from '../../../support/fake-pump.js'
import { place, RunOfTest, runId } from '../../../support/run-of-test.js'

/** D10: the entries of a fact, member by member: what stands in them is what a replay reads. */

const requestHash = sha256Hex('request')
const request = { to: 'alice' }
const call = { seq: 1, effect: 'pay', requestHash, request }
const { path } = place
const salt = sha256Hex('salt')
const given: Given = {
  at: 7,
  seal: (unitId, seq, bodyText) => ({ salt, hash: sha256Hex(`${unitId} ${seq} ${bodyText}`) }),
  compensation: () => undefined
}

function sealedOf({ unitId }: OpenAttempt, seq: number, body: string, more: object = {}) {
  const responseHash = sha256Hex(`${unitId} ${seq} ${body}`)
  const answer = { seq, effect: 'pay', requestHash, responseHash, salt, ok: true }
  return { k: 'sealed', at: 7, ...place, ...answer, body: JSON.parse(body), ...more }
}

const performed = (attempt: OpenAttempt, result: object) =>
  ({ kind: 'performed', attempt, call, performed: result }) as RunFact

/** A run with an attempt and a wait that a draft has opened. */
function opened(draft: (run: RunOfTest, attempt: OpenAttempt) => EntryDraft) {
  const run = new RunOfTest()
  const attempt = run.open(path, 1, { deadline: 9 })
  const wait = run.apply(draft(run, attempt))
  if (wait.k !== 'wait') throw new Error('no wait')
  const answer = (action: string, more: object = {}) => {
    const { token, digest } = wait
    const message = { token, digest, action, by: { kind: 'owner', id: 'o' }, ...more }
    return decide(run.state, { kind: 'message', message } as RunFact, given)
  }
  return { run, attempt, wait, answer }
}

const by = { kind: 'owner', id: 'o' }
const waitCall = (more: object) =>
  ({ kind: 'wait', seq: 2, request, requestHash, reason: 'external', ...more }) as never

describe('the entry of a result', () => {
  it('D10: has the call, the seal and the body, whatever it says', () => {
    const run = new RunOfTest()
    const attempt = run.open()
    const done = (text: string) =>
      decide(run.state, performed(attempt, { kind: 'done', text }), given)
    expect(done('{"b":1,"a":[null]}')).toEqual([
      // The seal is over the canonical text.
      sealedOf(attempt, 1, '{"a":[null],"b":1}')
    ])
    const failure = { reason: 'down', definite: true, details: { a: 1 } }
    const failed = decide(run.state, performed(attempt, { kind: 'failed', failure }), given)
    const body = '{"definite":true,"details":{"a":1},"reason":"down"}'
    expect(failed).toEqual([sealedOf(attempt, 1, body, { ok: false })])
  })

  it('L7: is that of an earlier attempt, as it was kept', () => {
    const run = new RunOfTest()
    const attempt = run.open()
    const kept = { ...call, body: { paid: 1 } } as never
    expect(keptEvent(attempt, kept)).toEqual({
      kind: 'performed',
      attempt,
      call: { ...call, request: null },
      performed: { kind: 'done', text: '{"paid":1}' }
    })
    expect(keptEvent(attempt, kept, request).call.request).toEqual(request)
  })

  it('C4: says how a write inside an overlay is undone, or that it is not', () => {
    const run = new RunOfTest()
    run.openScope('root')
    const attempt = run.open()
    const write = { ...call, kind: 'effect', sideEffects: 'non_idempotent' } as never
    run.apply(requestedDraft(run.state, attempt, write, 7))
    const result = { kind: 'done', text: '{"id":1}' }
    const landed = { effect: 'pay', request, response: { id: 1 } }
    const undo = { effect: 'refund', request: landed, sideEffects: 'non_idempotent' }
    const undone = (one: OpenAttempt, compensation?: Given['compensation']) =>
      decide(run.state, performed(one, result), {
        ...given,
        ...(compensation === undefined ? {} : { compensation })
      })
    expect(undone(attempt)).toEqual([sealedOf(attempt, 1, '{"id":1}', { undo })])
    const { compensate: _, ...bare } = attempt.block
    const other = { ...attempt, block: bare as OpenAttempt['block'] }
    expect(undone(other)).toEqual([sealedOf(attempt, 1, '{"id":1}', { undo: null })])
    const provided = undone(other, (effect) => (effect === 'pay' ? 'give.back' : undefined))
    expect(provided).toMatchObject([{ undo: { ...undo, effect: 'give.back' } }])
    const failure = { reason: 'down', definite: true, details: null }
    const failed = decide(run.state, performed(attempt, { kind: 'failed', failure }), given)
    expect(failed[0]).not.toHaveProperty('undo')
  })
})

describe('the entry of a wait', () => {
  it('L7: says what is not known of an effect', () => {
    const failure = { reason: 'lost', definite: false, details: null }
    const { wait, attempt, answer } = opened((run, one) => {
      const [draft] = decide(run.state, performed(one, { kind: 'unknown', failure }), given)
      return draft as EntryDraft
    })
    const shown = { unknown_outcome: 'pay', request, failure }
    expect(wait).toMatchObject({
      ...place,
      k: 'wait',
      at: 7,
      seq: 1,
      reason: 'decision',
      request: shown,
      requestHash,
      actions: ['retry', 'resume', 'abort'],
      due: null,
      blockHash: attempt.block.codeHash
    })
    const entry = { k: 'answered', at: 7, ...place, seq: 1, token: wait.token, by }
    expect(answer('retry')).toEqual([{ ...entry, action: 'retry' }])
    expect(answer('resume', { value: { id: 2 } })).toEqual([
      { ...entry, action: 'resume' },
      sealedOf(attempt, 1, '{"id":2}')
    ])
    const details = '{"decided_by":{"id":"o","kind":"owner"}}'
    const body = `{"definite":false,"details":${details},"reason":"unknown_outcome"}`
    expect(answer('abort')).toEqual([
      { ...entry, action: 'abort' },
      sealedOf(attempt, 1, body, { ok: false })
    ])
  })

  it.each<[object, object]>([
    [{}, { reason: 'external', actions: ['resume', 'deny'], due: null }],
    [{ timeoutMs: 0 }, { reason: 'external', actions: ['resume', 'deny'], due: 5 }],
    [
      { reason: 'confirmation', timeoutMs: 3 },
      { reason: 'confirmation', actions: ['approve', 'deny'], due: 8 }
    ],
    [
      { reason: 'permission', approvers: twoOfThree },
      { reason: 'permission', actions: ['approve', 'deny'], due: null, approvers: twoOfThree }
    ],
    [
      { kind: 'sleep', ms: 4 },
      { reason: 'poll', actions: [], due: 9 }
    ],
    [
      { kind: 'sleep', ms: -4 },
      { reason: 'poll', actions: [], due: 5 }
    ]
  ])('B3: is that of the call: %j', (more, expected) => {
    const { wait, attempt } = opened((run, one) => callWait(run.state, one, waitCall(more), 5))
    const { codeHash: blockHash } = attempt.block
    const { token, digest, n: _, run: __, ...rest } = wait
    const named = { k: 'wait', at: 5, ...place, seq: 2, request, requestHash, blockHash }
    expect(rest).toEqual({ ...named, ...expected })
    expect([token.length, digest.length]).toEqual([32, 64])
  })

  it('W7: is that of a confirmation, which is due at the deadline of its attempt', () => {
    const asked = { request, requestHash, approvers: twoOfThree } as never
    const { wait, answer } = opened((run, one) => confirmationWait(run.state, one, asked, 5))
    expect(wait).toMatchObject({
      seq: 0,
      reason: 'confirmation',
      request,
      actions: ['approve', 'deny'],
      due: 9,
      approvers: twoOfThree
    })
    const run = new RunOfTest()
    expect(confirmationWait(run.state, run.open(), asked, 5)).toMatchObject({ due: null })
    const response = { success: false, reason: 'denied', details: { by, at: 7 } }
    expect(answer('deny')).toMatchObject([{ k: 'settled', at: 7, sent: false, response }])
  })

  it('B5: is that of a failure, which is of the definition and of no call', () => {
    const shown = { reason: 'decision', request, actions: ['retry', 'patch'], due: 8 } as const
    const ask = { kind: 'decision', ...place, response: failed('boom'), wait: shown } as const
    const { run, wait, answer } = opened(
      (one) => decisionWait(one.state, ask, 5)?.draft as EntryDraft
    )
    const { definitionHash } = run.state.root
    const hashes = { requestHash: definitionHash, blockHash: definitionHash }
    expect(wait).toMatchObject({ at: 5, ...place, ...shown, ...hashes, seq: null })
    const { due: _, ...undated } = shown
    const other = new RunOfTest()
    expect(decisionWait(other.state, { ...ask, wait: undated }, 5)?.draft).toMatchObject({
      due: null
    })
    const made = { k: 'decision', at: 7, path, step: 1, token: wait.token, by }
    expect(answer('retry')).toEqual([{ ...made, action: 'retry', patch: null }])
    expect(answer('patch', { value: { a: 1 } })).toEqual([
      { ...made, action: 'patch', patch: { a: 1 } }
    ])
    // Another path, and a wait of a call at the same one, are no such wait.
    expect(decisionWait(run.state, { ...ask, path: 'root/b' }, 6)).toBeDefined()
    const calls = opened((one, attempt) => callWait(one.state, attempt, waitCall({}), 5))
    expect(decisionWait(calls.run.state, ask, 6)).toBeDefined()
  })

  it('W7: has its number from the second asking on, if a person is asked', () => {
    const { run, attempt, wait } = opened((one, attempt) =>
      callWait(one.state, attempt, waitCall({}), 5)
    )
    expect(wait).not.toHaveProperty('asking')
    expect(callWait(run.state, attempt, waitCall({}), 6)).toMatchObject({ asking: 2 })
    const slept = opened((one, attempt) =>
      callWait(one.state, attempt, waitCall({ kind: 'sleep', ms: 1 }), 5)
    )
    const again = callWait(slept.run.state, slept.attempt, waitCall({ kind: 'sleep', ms: 1 }), 6)
    expect(again).not.toHaveProperty('asking')
  })
})

describe('the answer to a wait', () => {
  it('W7: is what a person said, with what was shown', () => {
    const { attempt, wait, answer } = opened((run, one) =>
      callWait(run.state, one, waitCall({}), 5)
    )
    const body = (value: Json, action = 'resume') =>
      JSON.stringify({ action, at: 7, by: { id: 'o', kind: 'owner' }, digest: wait.digest, value })
    const more = { effect: 'wait' }
    expect(answer('resume')).toEqual([sealedOf(attempt, 2, body(null), more)])
    expect(answer('resume', { value: { a: 1 } })).toEqual([
      sealedOf(attempt, 2, body({ a: 1 }), more)
    ])
    expect(answer('deny')).toEqual([sealedOf(attempt, 2, body(null, 'deny'), more)])
    expect(answer('resume', { token: 'other' })).toEqual([])
  })

  it('K13: is given once enough approvers have signed it, and names them', () => {
    const { run, wait, answer } = opened((one, attempt) =>
      callWait(one.state, attempt, waitCall({ reason: 'confirmation', approvers: twoOfThree }), 5)
    )
    const [one, other] = [signed(wait as never, 'ada'), signed(wait as never, 'ben')]
    const { token, digest } = wait
    const kept = (approval: object) => ({
      ...{ action: 'approve', digest, token, value: null },
      ...approval
    })
    const first = answer('approve', { approval: one })
    const entry = { k: 'approval', at: 7, ...place, seq: 2, token, approval: kept(one), by }
    expect(first).toEqual([entry])
    run.apply(first[0] as EntryDraft)
    expect(answer('approve', { approval: one })).toMatchObject([{ k: 'approval' }])
    expect(answer('approve', { approval: other })).toMatchObject([
      { k: 'sealed', body: { by: { ...by, approvals: [kept(one), kept(other)] } } }
    ])
    const denial = signed(wait as never, 'ben', { action: 'deny' })
    expect(answer('deny', { approval: denial })).toMatchObject([
      { k: 'sealed', body: { action: 'deny', by: { approvals: [{ ...denial, action: 'deny' }] } } }
    ])
  })

  it('B3: is of time: a timer of a node, the end of an attempt, or a result', () => {
    const due = (run: RunOfTest, token: string) => decide(run.state, { kind: 'due', token }, given)
    const calls = opened((run, one) => callWait(run.state, one, waitCall({ timeoutMs: 1 }), 5))
    const body = '{"action":"timeout","by":null,"value":null}'
    expect(due(calls.run, calls.wait.token)).toEqual([
      sealedOf(calls.attempt, 2, body, { effect: 'wait' })
    ])
    const slept = opened((run, one) =>
      callWait(run.state, one, waitCall({ kind: 'sleep', ms: 1 }), 5)
    )
    expect(due(slept.run, slept.wait.token)).toEqual([
      sealedOf(slept.attempt, 2, 'null', { effect: 'timer' })
    ])
    slept.run.state.attempts.clear()
    expect(due(slept.run, slept.wait.token)).toEqual([])
    const shown = { reason: 'decision', request, actions: ['retry'], due: 8 } as const
    const ask = { kind: 'decision', ...place, response: failed('boom'), wait: shown } as const
    const asked = opened((one) => decisionWait(one.state, ask, 5)?.draft as EntryDraft)
    expect(due(asked.run, asked.wait.token)).toEqual([{ k: 'timer', at: 7, path, step: 1 }])
  })
})

describe('the entries of an attempt', () => {
  it('D10: say what was sent before it is sent, under its key', () => {
    const run = new RunOfTest()
    const write = { ...call, kind: 'effect', sideEffects: 'idempotent' } as never
    expect(requestedDraft(run.state, run.open(), write, 3)).toEqual({
      k: 'requested',
      at: 3,
      ...place,
      seq: 1,
      effect: 'pay',
      sideEffects: 'idempotent',
      requestHash,
      key: effectKey(runId, path, 1, 1, requestHash)
    })
  })

  it('L10: say which results were dropped, and whether a write was among them', () => {
    const run = new RunOfTest()
    const attempt = run.open()
    const write = { ...call, kind: 'effect', sideEffects: 'idempotent' } as never
    run.apply(requestedDraft(run.state, attempt, write, 3))
    const entry = { k: 'rewound', at: 4, ...place }
    expect(rewoundDraft(attempt, [2, 3], 4)).toEqual({ ...entry, dropped: [2, 3] })
    expect(rewoundDraft(attempt, [1, 2], 4)).toEqual({ ...entry, dropped: [1, 2], outside: true })
    expect(rewoundDraft(attempt, [], 4)).toEqual({ ...entry, dropped: [] })
  })

  it('D10: say how it has ended, who did it, and what it did to the overlay around it', () => {
    const run = new RunOfTest()
    const attempt = run.open()
    const entry = { k: 'settled', at: 4, ...place, response: succeeded(1) }
    expect(settledDraft(attempt, succeeded(1), 4)).toEqual({ ...entry, sent: false })
    const write = { ...call, kind: 'effect', sideEffects: 'idempotent' } as never
    run.apply(requestedDraft(run.state, attempt, write, 3))
    const provider = { id: 'wallet@1', codeHash: requestHash }
    const overlay = { writes: [], reads: [], used: [] }
    const done = { ...attempt, attribution: { provider } as never }
    expect(settledDraft(done, succeeded(1), 4, overlay)).toEqual({
      ...entry,
      sent: true,
      provider,
      overlay
    })
  })

  it('W5: end it by its deadline, with a doubt where it has sent something', () => {
    const run = new RunOfTest()
    const attempt = run.open()
    const ended = () => decide(run.state, { kind: 'deadline', attempt }, given)
    expect(ended()).toMatchObject([{ k: 'settled', at: 7, response: { reason: 'timed_out' } }])
    const write = { ...call, kind: 'effect', sideEffects: 'idempotent' } as never
    run.apply(requestedDraft(run.state, attempt, write, 3))
    const response = { reason: 'unknown_outcome', details: { timed_out: true } }
    expect(ended()).toMatchObject([{ k: 'settled', sent: true, response }])
  })
})
