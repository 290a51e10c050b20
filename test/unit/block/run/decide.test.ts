import { describe, expect, it } from 'vitest'
import { takeCommand } from '../../../../src/block/run/apply.js'
import {
  decide,
  type Given,
  type RunFact,
  requestedDraft
} from '../../../../src/block/run/decide.js'
import { parkedDraft } from '../../../../src/block/run/drafts.js'
import type { OpenAttempt } from '../../../../src/block/run/run-state.js'
import { confirmationWait, decisionWait } from '../../../../src/block/run/wait-drafts.js'
import { type Json, sha256Hex } from '../../../../src/core/index.js'
import { failed } from '../../../support/fake-pump.js'
import { place, RunOfTest } from '../../../support/run-of-test.js'

const requestHash = sha256Hex('request')
const call = { seq: 1, effect: 'pay', requestHash, request: { to: 'alice' } }
const failure = { reason: 'effect_failed', definite: false, details: null }
const given: Given = {
  at: 7,
  seal: (unitId, seq, bodyText) => {
    const hash = sha256Hex(`${unitId} ${seq} ${bodyText}`)
    return { salt: hash, hash }
  },
  compensation: () => undefined
}

function decided(run: RunOfTest, fact: RunFact) {
  const before = JSON.stringify(run.plain())
  const drafts = decide(run.state, fact, given)
  // To decide changes nothing, so the same fact gives the same entries.
  expect(JSON.stringify(run.plain())).toBe(before)
  expect(decide(run.state, fact, given)).toEqual(drafts)
  return drafts
}

function done(attempt: OpenAttempt, result: Json): RunFact {
  const performed = { kind: 'done', text: JSON.stringify(result) } as const
  return { kind: 'performed', attempt, call, performed }
}

/** A run with an attempt and a wait of its call, which the entries of a fact have opened. */
function waiting(fact: (attempt: OpenAttempt) => RunFact): { run: RunOfTest; token: string } {
  const run = new RunOfTest()
  const attempt = run.open()
  for (const draft of decide(run.state, fact(attempt), given)) run.apply(draft)
  return { run, token: run.state.waits.all()[0]?.token ?? '' }
}

const unknown = (attempt: OpenAttempt): RunFact => ({
  kind: 'performed',
  attempt,
  call,
  performed: { kind: 'unknown', failure }
})

function message(run: RunOfTest, token: string, action: string, value: Json = null): RunFact {
  const { digest = '' } = run.state.waits.get(token) ?? {}
  const said = { token, digest, action: action as 'approve', value, by: 'ops' }
  return { kind: 'message', message: said }
}

describe('the entries of a fact', () => {
  it('D2: the result of a call is sealed, also of an attempt that is over', () => {
    const run = new RunOfTest()
    const attempt = run.open()
    const sealed = { k: 'sealed', at: 7, ...place, seq: 1, ok: true, body: { paid: 1 } }
    expect(decided(run, done(attempt, { paid: 1 }))).toMatchObject([sealed])
    run.state.attempts.clear()
    expect(decided(run, done(attempt, { paid: 1 }))).toMatchObject([sealed])
  })

  it('C4: a write inside an overlay says what undoes it', () => {
    const run = new RunOfTest()
    run.openScope('root')
    const attempt = run.open()
    expect(decided(run, done(attempt, 1))[0]).not.toHaveProperty('undo')
    const write = { ...call, kind: 'effect', sideEffects: 'non_idempotent' } as never
    run.apply(requestedDraft(run.state, attempt, write, 7))
    expect(decided(run, done(attempt, 1))).toMatchObject([{ undo: { effect: 'refund' } }])
  })

  it('a failure is sealed as it came', () => {
    const run = new RunOfTest()
    const attempt = run.open()
    const fact = {
      kind: 'performed',
      attempt,
      call,
      performed: { kind: 'failed', failure }
    } as const
    expect(decided(run, fact)).toMatchObject([{ k: 'sealed', ok: false, body: failure }])
  })

  it('L7: an outcome that nothing can tell waits for a person, unless the attempt is over', () => {
    const { run } = waiting(unknown)
    expect(run.state.waits.all()).toMatchObject([
      {
        reason: 'decision',
        request: { unknown_outcome: 'pay' },
        actions: ['retry', 'resume', 'abort']
      }
    ])
    const other = new RunOfTest()
    const attempt = other.open()
    other.state.attempts.clear()
    expect(decided(other, unknown(attempt))).toEqual([])
  })

  it.each([
    ['retry', ['answered']],
    ['resume', ['answered', 'sealed']],
    ['abort', ['answered', 'sealed']]
  ])('L7: a person says %s of it', (action, kinds) => {
    const { run, token } = waiting(unknown)
    const drafts = decided(run, message(run, token, action, { paid: 1 }))
    expect(drafts.map(({ k }) => k)).toEqual(kinds)
    const sealed = { ok: action === 'resume', effect: 'pay' }
    if (drafts[1] !== undefined) expect(drafts[1]).toMatchObject(sealed)
  })

  it('W5: a deadline settles an attempt that is open', () => {
    const run = new RunOfTest()
    const attempt = run.open()
    const drafts = decided(run, { kind: 'deadline', attempt })
    expect(drafts).toMatchObject([{ k: 'settled', sent: false, response: { reason: 'timed_out' } }])
    run.state.attempts.clear()
    expect(decided(run, { kind: 'deadline', attempt })).toEqual([])
  })

  it('K7: a timer fires that a chart still waits for', () => {
    const run = new RunOfTest()
    const { path } = place
    expect(decided(run, { kind: 'timer', path, step: 1 })).toEqual([])
    takeCommand(run.state, { kind: 'timer', ...place, due: 5, reason: 'retry' }, run)
    expect(decided(run, { kind: 'timer', path, step: 1 })).toMatchObject([{ k: 'timer', path }])
    expect(decided(run, { kind: 'timer', path, step: 2 })).toEqual([])
  })

  it('W9: a cancel is recorded with who asked for it', () => {
    const drafts = decided(new RunOfTest(), { kind: 'cancel', reason: 'stop', by: 'ops' })
    expect(drafts).toEqual([{ k: 'cancel', at: 7, reason: 'stop', by: 'ops' }])
  })
})

describe('the confirmation of a node', () => {
  function confirming(): { run: RunOfTest; token: string } {
    const run = new RunOfTest()
    const attempt = run.open(place.path, 1, { deadline: 9 })
    run.apply(confirmationWait(run.state, attempt, { request: null, requestHash }, 2))
    return { run, token: run.state.waits.all()[0]?.token ?? '' }
  }

  it('W7: is answered, and an approval names what was shown', () => {
    const { run, token } = confirming()
    const { digest } = run.state.waits.get(token) ?? {}
    const drafts = decided(run, message(run, token, 'approve'))
    expect(drafts).toMatchObject([{ k: 'sealed', seq: 0, body: { action: 'approve', digest } }])
  })

  it('B5: denied, fails the attempt; so does the end of its time', () => {
    const { run, token } = confirming()
    const denied = decided(run, message(run, token, 'deny'))
    expect(denied).toMatchObject([{ k: 'settled', response: { reason: 'denied' } }])
    const late = decided(run, { kind: 'due', token })
    expect(late).toMatchObject([{ k: 'settled', response: { reason: 'timed_out' } }])
  })

  it('W7: asked again, has its number in token and digest', () => {
    const { run, token } = confirming()
    run.apply({ k: 'answered', at: 3, ...place, seq: 0, token, action: 'retry', by: null })
    const attempt = run.state.attempts.get(place.path)
    if (attempt === undefined) throw new Error('no attempt')
    const again = confirmationWait(run.state, attempt, { request: null, requestHash }, 4)
    expect(again).toMatchObject({ asking: 2 })
    expect(again).not.toMatchObject({ token })
  })
})

describe('a failure that is asked about', () => {
  const wait = { reason: 'decision', request: null, actions: ['retry', 'skip'], due: 9 } as const
  const ask = { kind: 'decision', ...place, response: failed('boom'), wait } as const

  it('B5: opens one wait, and its answer is a decision', () => {
    const run = new RunOfTest()
    takeCommand(run.state, ask, run)
    const opened = decisionWait(run.state, ask, 2)
    if (opened === undefined) throw new Error('no wait')
    expect(opened.more).toEqual({})
    run.apply(opened.draft)
    expect(decisionWait(run.state, ask, 3)).toBeUndefined()
    const { token = '' } = run.state.waits.all()[0] ?? {}
    const made = { k: 'decision', token, action: 'skip', patch: null, by: 'ops' }
    expect(decided(run, message(run, token, 'skip'))).toMatchObject([made])
    expect(decided(run, { kind: 'due', token })).toMatchObject([{ k: 'timer', path: place.path }])
    expect(parkedDraft(run.state, 4)).toMatchObject({
      k: 'run.waiting',
      waits: [{ token }],
      due: 9
    })
  })

  it('C4: of a step that was put off, evidence says that it is not done', () => {
    const run = new RunOfTest()
    const path = `${place.path}~release`
    const opened = decisionWait(run.state, { ...ask, path }, 2)
    expect(opened?.more.evidence).toMatchObject({ action: 'step.deferred', code: 'boom' })
  })
})

describe('a wait that reaches its due time', () => {
  it('B3: gives the code a timeout, and a sleep its end', () => {
    const run = new RunOfTest()
    run.open()
    const asked = { at: 2, ...place, request: null, requestHash, digest: requestHash, due: 5 }
    run.apply({
      k: 'wait',
      ...asked,
      seq: 1,
      token: 'one',
      reason: 'external',
      actions: ['resume']
    })
    run.apply({ k: 'wait', ...asked, seq: 2, token: 'two', reason: 'poll', actions: [] })
    const body = { action: 'timeout', value: null, by: null }
    expect(decided(run, { kind: 'due', token: 'one' })).toMatchObject([{ effect: 'wait', body }])
    const slept = { effect: 'timer', body: null }
    expect(decided(run, { kind: 'due', token: 'two' })).toMatchObject([slept])
    expect(decided(run, { kind: 'due', token: 'other' })).toEqual([])
    expect(run.state.nextDue()).toBe(5)
  })
})
