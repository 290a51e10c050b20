import { describe, expect, it } from 'vitest'
import { leafTable } from '../../../../src/block/chart/leaf.js'
import { leafRootOf } from '../../../../src/block/document/root.js'
import { overlayFinding } from '../../../../src/block/replay/overlay-ends.js'
import { ReplayState } from '../../../../src/block/replay/replay-state.js'
import type { OverlayEnded, Requested, Sealed } from '../../../../src/block/run/entries.js'
import { Outside } from '../../../../src/block/run/outside.js'
import { compensationTask, OverlayTasks } from '../../../../src/block/run/overlay-tasks.js'
import { type Hash, type IdentityId, type RunId, sha256Hex } from '../../../../src/core/index.js'
import { failed, testRequest } from '../../../support/fake-pump.js'

const place = { run: 'run-1', at: 1, path: 'root/a/pay', step: 1, attempt: 1 }
const table = leafTable({ repair: () => undefined })
const block = { name: 'one', version: '1', sideEffects: 'none' } as const
const { root } = leafRootOf({ definition: {}, name: 'one', block, isPrivate: () => false })
const request = testRequest(null)
const runId = 'run-1' as RunId
const identity = 'a'.repeat(64) as IdentityId
const response = failed('boom')

function asked(seq: number): Requested {
  const requestHash = sha256Hex(`request ${seq}`)
  const key = sha256Hex(`key ${seq}`)
  const sideEffects = 'non_idempotent'
  return { ...place, k: 'requested', n: seq, seq, effect: 'pay', sideEffects, requestHash, key }
}

function sealed(seq: number, more: Partial<Sealed>): Sealed {
  const { requestHash } = asked(seq)
  const hash = sha256Hex('x')
  const body = { paid: seq }
  const base = { ...place, k: 'sealed', n: 10 + seq, seq, effect: 'pay', requestHash } as const
  return { ...base, responseHash: hash, salt: hash, ok: true, body, ...more }
}

const undo = { effect: 'refund', request: null, sideEffects: 'non_idempotent' } as const

/** An overlay in which one write can be undone, one cannot, one is in doubt, one did not happen. */
function outsideOf(): Outside {
  const outside = new Outside()
  for (const seq of [1, 2, 3, 4]) outside.requested(asked(seq))
  outside.sealed(sealed(1, { undo }))
  outside.sealed(sealed(2, { undo: null }))
  outside.sealed(sealed(4, { ok: false, body: { reason: 'no', definite: true, details: null } }))
  return outside
}

function stateOf(outside: Outside): ReplayState {
  const state = new ReplayState({ runId, identity, root })
  const ask = { path: 'root/a', step: 1, attempt: 1 }
  const opened = { ...ask, kind: 'scope.open', block: 'a', request, outermost: true } as const
  const nothing = { outer: undefined, steps: [], cancelled: [], closing: undefined }
  const scope = { ask: opened, at: 1, asked: state.moment, outside, ...nothing }
  state.openOverlays.set('root/a', scope)
  state.overlayEnds.set('root/a', { ...ask, kind: 'scope.abort', response, at: 1 })
  return state
}

function end(outcome: OverlayEnded['outcome'], more: Partial<OverlayEnded> = {}): OverlayEnded {
  const { run, at } = place
  return {
    run,
    n: 20,
    at,
    k: 'scope',
    path: 'root/a',
    step: 1,
    attempt: 1,
    outcome,
    response,
    ...more
  }
}

describe('what an overlay has done outside', () => {
  it('C4: lists what can be undone, the last first, and all that is left', () => {
    const outside = outsideOf()
    outside.requested(asked(5))
    outside.sealed(sealed(5, { undo }))
    expect(outside.undoable().map(({ asked: { seq } }) => seq)).toEqual([5, 1])
    const left = outside.left((key) => (key === asked(5).key ? null : undefined))
    expect(left.map(({ state, reason }) => [state, reason])).toEqual([
      ['landed', 'too_late'],
      ['landed', 'irreversible'],
      ['in_doubt', 'unknown_outcome']
    ])
    expect(outside.references(left).map(({ seq }) => seq)).toEqual([1, 2])
  })

  it('L7: takes a result that is given again for the same write', () => {
    const outside = outsideOf()
    outside.sealed(sealed(1, { attempt: 2 }))
    expect(outside.undoable()).toHaveLength(1)
  })
})

describe('the end of an overlay in a journal', () => {
  it('C4: is not aborted before what can be undone was tried', () => {
    const state = stateOf(outsideOf())
    expect(overlayFinding(end('aborted'), state)).toMatchObject({ field: 'journal.scope' })
    expect(overlayFinding(end('aborting'), state)).toBeUndefined()
    expect(overlayFinding(end('released'), state)).toMatchObject({ field: 'journal.scope' })
  })

  it('C4: names all that is left, and nothing else', () => {
    const outside = outsideOf()
    const state = stateOf(outside)
    const scope = state.openOverlays.get('root/a')
    const tasks = new OverlayTasks({
      table,
      tasks: outside.undoable().map((one) => compensationTask(one, request)),
      at: 1,
      ask: () => undefined
    })
    if (scope !== undefined) scope.closing = { decided: end('aborting'), tasks }
    expect(overlayFinding(end('aborted'), state)).toMatchObject({ signed: 'aborted' })
    tasks.deliver({ type: 'attempt.settled', response: failed('too_late'), at: 2 })
    const left = outside.left((key: Hash) => tasks.undone(key))
    expect(left[0]).toMatchObject({ state: 'landed', reason: 'too_late' })
    expect(overlayFinding(end('aborted', { left }), state)).toBeUndefined()
    expect(overlayFinding(end('aborted'), state)).toMatchObject({ field: 'journal.left' })
    const shorter = left.slice(1)
    expect(overlayFinding(end('aborted', { left: shorter }), state)).toMatchObject({
      field: 'journal.left'
    })
  })

  it('C4, L10: does not run again once something was done outside', () => {
    const state = stateOf(outsideOf())
    state.overlayEnds.set('root/a', {
      kind: 'scope.commit',
      path: 'root/a',
      step: 1,
      attempt: 1,
      response,
      at: 1
    })
    expect(overlayFinding(end('conflict'), state)).toMatchObject({ field: 'journal.scope' })
    const given = failed('intent_conflict')
    expect(overlayFinding(end('aborting', { response: given }), state)).toBeUndefined()
  })
})
