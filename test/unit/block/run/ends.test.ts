import { describe, expect, it } from 'vitest'
import {
  abortOf,
  attemptEnd,
  commitOf,
  conflictOf,
  type RunAttempt,
  runEnd,
  tasksOver
} from '../../../../src/block/run/ends.js'
import type { Requested, Sealed } from '../../../../src/block/run/entries.js'
import { overlayEvidence, runEvidence } from '../../../../src/block/run/evidence.js'
import type { Overlay } from '../../../../src/block/run/overlay.js'
import type { OpenAttempt, RunState } from '../../../../src/block/run/run-state.js'
import { begun, seedOf, unitContextOf, unitIdOf } from '../../../../src/block/run/unit.js'
import { StateView } from '../../../../src/code/state-view.js'
import { hashJson, type Json, limits, sha256Hex } from '../../../../src/core/index.js'
import { failed, succeeded, testRequest } from '../../../support/fake-pump.js'
import { overlayAt } from '../../../support/leaf-work.js'
import { place, RunOfTest, runId } from '../../../support/run-of-test.js'

/** L10, C4: how attempts, overlays and runs end. */

const hash = sha256Hex('hash')
const { path } = place

interface World {
  readonly run: RunOfTest
  readonly state: RunState<OpenAttempt, Overlay>
  readonly attempt: RunAttempt
  readonly overlay: Overlay | undefined
}

/** An attempt, in an overlay or in none. */
function world({ isInside = false } = {}): World {
  const run = new RunOfTest()
  const overlay = isInside ? overlayAt('root') : undefined
  if (overlay !== undefined) run.state.openOverlays.set('root', overlay)
  const view = new StateView((key) => overlay?.view.read(key))
  const attempt = Object.assign(run.open(), { view }) as unknown as RunAttempt
  return { run, state: run.state as never, attempt, overlay }
}

function requested(seq: number): Requested {
  const key = hashJson([runId, path, 1, seq, hash])
  const named = { effect: 'pay', sideEffects: 'non_idempotent', requestHash: hash, key } as const
  return { k: 'requested', run: runId, n: seq, at: 2, ...place, seq, ...named }
}

function sealed(seq: number, more: Partial<Sealed> = {}): Sealed {
  const answer = { effect: 'pay', requestHash: hash, responseHash: hash, salt: hash, ok: true }
  return { k: 'sealed', run: runId, n: seq, at: 2, ...place, seq, ...answer, body: null, ...more }
}

const lost = (reason: string, details: Json = null) =>
  ({ ok: false, reason, errorType: reason, details }) as const
const done = { ok: true, text: '{"n":1}' } as const

describe('the end of an attempt', () => {
  it.each([false, true])('L10: is its result, as it was written, in an overlay: %s', (isInside) => {
    const { state, attempt } = world({ isInside })
    const response = succeeded({ n: 1 })
    const end = { response, dataText: '{"n":1}', rests: undefined }
    expect(attemptEnd(state, attempt, done)).toEqual(end)
  })

  it('L10: is a failure that stands while what it has read is so, or what is around it', () => {
    const { state, attempt } = world()
    const end = attemptEnd(state, attempt, lost('boom', { a: 1 }))
    expect(end).toMatchObject({ response: { reason: 'boom', details: { a: 1 } } })
    expect([end?.dataText, end?.rests]).toEqual([undefined, attempt.view])
    const inside = world({ isInside: true })
    expect(attemptEnd(inside.state, inside.attempt, lost('boom'))?.rests).toBeUndefined()
  })

  it.each([done, lost('boom')])(
    'L10: is none where what it has read has changed: %j',
    (outcome) => {
      const bare = world()
      bare.attempt.view.noteOutdated()
      expect(attemptEnd(bare.state, bare.attempt, outcome)).toBeUndefined()
      const { state, attempt, overlay } = world({ isInside: true })
      attempt.view.read('k')
      overlay?.view.write('k', 1)
      expect(attemptEnd(state, attempt, outcome)).toBeUndefined()
    }
  )

  it.each([
    ['determinism_violation', null],
    ['infrastructure_failed', null],
    ['intent_conflict', null],
    ['max_steps_exceeded', null],
    ['package_missing', null],
    ['timed_out', null],
    ['unknown_outcome', { timed_out: true }]
  ])('L10: is a failure from outside whatever it has read: %s', (reason, details) => {
    const { state, attempt } = world()
    attempt.view.noteOutdated()
    const end = attemptEnd(state, attempt, lost(reason, details))
    expect([end?.response.reason, end?.rests]).toEqual([reason, undefined])
    expect(attemptEnd(state, attempt, lost('boom', { timed_out: false }))).toBeUndefined()
  })

  it('L10: is a denial of a person whatever it has read, and not one of the code itself', () => {
    const { state, attempt } = world()
    attempt.view.noteOutdated()
    expect(attemptEnd(state, attempt, lost('denied'))).toBeUndefined()
    attempt.past.recorded.add(sealed(1))
    expect(attemptEnd(state, attempt, lost('denied'))).toBeUndefined()
    attempt.past.recorded.add(sealed(2, { effect: 'wait' }))
    expect(attemptEnd(state, attempt, lost('denied'))?.response.reason).toBe('denied')
  })

  it('D7: is a failure where the run has had all of its steps', () => {
    const { state, attempt } = world()
    state.steps = limits.RUN_STEPS_MAX - 1
    expect(attemptEnd(state, attempt, done)?.response.success).toBe(true)
    state.steps = limits.RUN_STEPS_MAX
    const details = { max_steps: limits.RUN_STEPS_MAX, node: path }
    const end = attemptEnd(state, attempt, done)
    expect(end?.response).toMatchObject({ reason: 'max_steps_exceeded', details })
  })

  it('L10: is a conflict where its result does not rest on what it has sent', () => {
    const { state, attempt } = world()
    attempt.past.requested.set(1, requested(1))
    const conflict = { reason: 'intent_conflict', details: { effect: 'pay', seq: 1 } }
    expect(attemptEnd(state, attempt, done)?.response).toMatchObject(conflict)
    attempt.past.recorded.add(sealed(1))
    expect(attemptEnd(state, attempt, done)?.response.success).toBe(true)
  })
})

describe('the end of an overlay', () => {
  const end = { path: 'root', step: 1, attempt: 1 } as const
  const asked = { ...end, kind: 'scope.commit', response: succeeded(7), at: 3 } as const
  const draft = { k: 'scope', at: 8, ...end }

  function committing(overlay: Overlay) {
    const { state } = new RunOfTest()
    const compositeAt = () => ({ version: '1.0.0', definitionHash: hash })
    const known = unitContextOf(state, null)
    const context = { ...known, root: { ...known.root, compositeAt } }
    const response = { ...asked.response, metadata: { id: 1 } }
    return commitOf(overlay, { ...asked, response }, { state, at: 8, context })
  }

  it('C4: is a commit with one unit of work, and says what it sets free', () => {
    const overlay = overlayAt('root', undefined, { b: 1 })
    const id = unitIdOf(runId, 'root', 1)
    const committed = { ...draft, outcome: 'committed', response: succeeded(7) }
    const { draft: first, more } = committing(overlay) ?? {}
    expect(first).toEqual(committed)
    expect(more?.known).toBe(overlay.texts)
    expect(more?.unit).toMatchObject({
      id,
      seed: { base: 'GENESIS', value: seedOf('GENESIS', id) },
      payloadText: '{"b":1}',
      resultText: '{"result":7,"results":{}}'
    })
    const request = testRequest({ a: 1 })
    overlay.outside.deferred.push({ path, step: 1, block: 'pay', request } as never)
    const outbox = [{ path, step: 1, block: 'pay', payloadHash: hashJson({ a: 1 }) }]
    expect(committing(overlay)?.draft).toEqual({ ...committed, outbox })
  })

  it('L10: is no commit where what it has read has changed', () => {
    const overlay = overlayAt('root')
    overlay.view.noteOutdated()
    expect(committing(overlay)).toBeUndefined()
    const outer = overlayAt('root')
    const inner = overlayAt('root/all', outer)
    inner.view.read('k')
    expect(committing(inner)).toEqual({
      draft: { ...draft, outcome: 'committed', response: succeeded(7) },
      more: {}
    })
    outer.view.write('k', 1)
    expect(committing(inner)).toBeUndefined()
  })

  it('L10: is a conflict, after which it runs again', () => {
    const response = { reason: 'conflict', success: false }
    const conflict = conflictOf(asked, 8)
    expect(conflict).toMatchObject({ draft: { ...draft, outcome: 'conflict', response }, more: {} })
  })

  const undo = { effect: 'refund', request: null, sideEffects: 'non_idempotent' } as const
  const abort = { ...end, response: { ...failed('boom'), metadata: { id: 1 } } }

  it('C4: is a rollback at once where nothing can be undone', () => {
    const { state } = new RunOfTest()
    const overlay = overlayAt('root')
    const aborted = { ...draft, outcome: 'aborted', response: failed('boom') } as const
    const evidence = overlayEvidence(state, overlay, aborted as never)
    expect(abortOf(state, overlay, abort, 8)).toEqual({ draft: aborted, more: { evidence } })
    const inner = overlayAt('root/all', overlay)
    expect(abortOf(state, inner, abort, 8)).toEqual({ draft: aborted, more: {} })
    inner.outside.requested(requested(1))
    const found = abortOf(state, inner, abort, 8)
    expect(found.draft).toMatchObject({ left: [{ state: 'in_doubt' }] })
    expect(found.more.evidence).toMatchObject({ type: 'abort', details: { left: [{}] } })
  })

  it('C4: is a rollback once what can be undone was tried', () => {
    const { state } = new RunOfTest()
    const overlay = overlayAt('root')
    overlay.outside.requested(requested(1))
    overlay.outside.sealed(sealed(1, { undo }))
    const aborting = { ...draft, outcome: 'aborting', response: failed('boom') } as const
    expect(abortOf(state, overlay, abort, 8)).toEqual({ draft: aborting, more: {} })
    const over = (undone: string | null) => {
      const tasks = { undone: () => undone, notDone: [] } as never
      overlay.closing = { decided: aborting as never, tasks }
      return tasksOver(state, overlay, overlay.closing as never, 9).draft
    }
    const aborted = { ...aborting, at: 9, outcome: 'aborted' }
    expect(over(null)).toEqual(aborted)
    expect(over('boom')).toMatchObject({ ...aborted, left: [{ reason: 'boom' }] })
  })

  it('C4: is the release of what was put off, with what is not done', () => {
    const { state } = new RunOfTest()
    const overlay = overlayAt('root')
    const decided = { ...draft, outcome: 'committed', response: succeeded(7) }
    const over = (notDone: readonly object[]) =>
      tasksOver(state, overlay, { decided, tasks: { notDone } } as never, 9)
    const released = { ...draft, at: 9, outcome: 'released', response: succeeded(7) } as const
    expect(over([])).toEqual({ draft: released, more: {} })
    const left = [{ path, step: 1, effect: 'pay', key: hash, state: 'not_done', reason: 'boom' }]
    const evidence = overlayEvidence(state, overlay, { ...released, left } as never)
    expect(over(left)).toEqual({ draft: { ...released, left }, more: { evidence } })
  })
})

describe('the end of a run', () => {
  function ended(settled: object, { isCancelled = false } = {}) {
    const run = new RunOfTest()
    if (isCancelled) run.apply({ k: 'cancel', at: 2, reason: 'stop', by: null })
    const { state } = run
    const context = unitContextOf(state, null)
    const end = runEnd(state, { settled: settled as never, at: 9, context })
    return { state, ...end, status: end.draft.status }
  }

  it('D10: is done with what its root gave, which is written once', () => {
    const data = { n: 1 }
    const { draft, more, state } = ended({ ...succeeded(data), metadata: { id: 1 } })
    const { journalHash } = state
    const response = succeeded({ n: 1 })
    expect(draft).toEqual({ k: 'run.finished', at: 9, status: 'done', response, journalHash })
    expect(more.unit).toMatchObject({ action: 'run.completed', resultText: '{"n":1}' })
    expect([more.known?.get(data), more.known?.get({ n: 1 })]).toEqual(['{"n":1}', undefined])
    expect(more).not.toHaveProperty('evidence')
  })

  it('C3: is a failure with its evidence, or a cancel that came before', () => {
    const { draft, more, state, status } = ended(failed('boom'))
    expect(status).toBe('failed')
    const evidence = runEvidence(begun(state.started), draft, state, false)
    expect(more).toEqual({ evidence })
    expect(ended(failed('cancelled'), { isCancelled: true }).status).toBe('cancelled')
    expect(ended(succeeded(1), { isCancelled: true }).status).toBe('done')
  })
})
