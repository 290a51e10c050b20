import { describe, expect, it } from 'vitest'
import {
  overlayEvidence,
  releaseEvidence,
  runEvidence
} from '../../../../src/block/run/evidence.js'
import { runUnitId, unitIdOf } from '../../../../src/block/run/unit.js'
import { type Hash, sha256Hex } from '../../../../src/core/index.js'
import { failed } from '../../../support/fake-pump.js'
import { RunOfTest, runId } from '../../../support/run-of-test.js'

/** Evidence of what did not succeed, member by member (formats.md §3). */

const hash = sha256Hex('hash')
const reference = { seq: 1, effect: 'pay', requestHash: hash, responseHash: hash, bytes: 4 }
const { reason: _, details: __, ...unsaid } = failed('boom')

describe('the evidence of a run', () => {
  const started = { run: runId, name: 'pay', input: { b: 1, a: 2 } } as never
  const outside = { landed: [reference], inDoubt: [{ key: 'k' }] }
  const end = (response: object) =>
    runEvidence(started, { response, journalHash: hash, at: 7 } as never, outside, true)

  it('C3: says why it failed, what has landed and what is in doubt', () => {
    const evidence = {
      type: 'failure',
      unitId: runUnitId(runId),
      action: 'pay',
      payloadText: '{"a":2,"b":1}',
      landed: [reference],
      journalHash: hash,
      code: 'boom',
      details: { why: 1, in_doubt: [{ key: 'k' }] },
      isPrivate: true,
      areDetailsPrivate: true,
      at: 7
    }
    expect(end({ ...failed('boom'), details: { why: 1 } })).toEqual(evidence)
    const details = { in_doubt: [{ key: 'k' }] }
    expect(end(unsaid)).toEqual({ ...evidence, code: 'failed', details })
    const denial = { ...evidence, type: 'denial', code: 'denied', details }
    expect(end(failed('denied'))).toEqual(denial)
    const words = { ...failed('cancelled'), details: { reason: 'closed' } }
    expect(end(words)).toMatchObject({ isPrivate: true, areDetailsPrivate: false })
  })
})

describe('the evidence of an overlay', () => {
  it.each([
    ['aborted', 'abort', 'boom'],
    ['released', 'failure', 'deferred_not_done']
  ] as const)('C4: says what is left behind it: %s', (outcome, type, code) => {
    const run = new RunOfTest()
    const overlay = run.openScope('root/all')
    const response = { ...failed('boom'), details: { why: 1 } }
    const ended = { path: 'root/all', step: 2, response, at: 7, outcome } as const
    const evidence = {
      type,
      unitId: unitIdOf(runId, 'root/all', 2),
      action: 'all',
      payloadText: 'null',
      landed: [],
      code,
      details: { why: 1 },
      isPrivate: false,
      areDetailsPrivate: false,
      at: 7
    }
    expect(overlayEvidence(run.state, overlay, ended)).toEqual(evidence)
    const place = { path: 'root/all/a', step: 1 }
    const left = [{ ...place, effect: 'pay', key: hash, state: 'landed', reason: 'late' }] as const
    const asked = { ...place, attempt: 1, seq: 1, effect: 'pay', requestHash: hash }
    const entry = { run: runId, n: 1, at: 1, ...asked }
    const sideEffects = 'non_idempotent'
    overlay.outside.requested({ k: 'requested', ...entry, key: hash, sideEffects })
    overlay.outside.sealed({
      ...{ k: 'sealed', ...entry, responseHash: hash, salt: hash, ok: true, body: null }
    } as never)
    expect(overlayEvidence(run.state, overlay, { ...ended, left })).toEqual({
      ...evidence,
      landed: [reference],
      details: { why: 1, left }
    })
    const silent = overlayEvidence(run.state, overlay, { ...ended, response: unsaid })
    expect(silent.code).toBe(outcome === 'released' ? code : 'failed')
  })
})

describe('the evidence of a step that was put off', () => {
  const path = 'root/pay~release'
  const ask = { kind: 'decision', path, step: 3, attempt: 1, wait: {} }
  const evidence = {
    type: 'failure',
    unitId: unitIdOf(runId, path, 3),
    action: 'step.deferred',
    landed: [],
    code: 'boom',
    details: {},
    isPrivate: false,
    areDetailsPrivate: false,
    at: 8
  }

  it('C4: names the receipt of its composite', () => {
    const run = new RunOfTest()
    const parentReceipt = hash as Hash
    const tasks = { isAt: (at: string) => at === path, parentReceipt }
    run.openScope('root').closing = { decided: {}, tasks } as never
    expect(releaseEvidence(run.state, { ...ask, response: failed('boom') } as never, 8)).toEqual({
      ...evidence,
      payloadText: `{"parent":"${hash}","path":"${path}"}`
    })
  })

  it('C4: says that it failed where nothing else is known', () => {
    const { state } = new RunOfTest()
    const payloadText = `{"parent":null,"path":"${path}"}`
    const said = releaseEvidence(state, { ...ask, response: unsaid } as never, 8)
    expect(said).toEqual({ ...evidence, code: 'failed', payloadText })
    const response = { ...failed('boom'), details: { why: 1 } }
    expect(releaseEvidence(state, { ...ask, response } as never, 8).details).toEqual({ why: 1 })
  })
})
