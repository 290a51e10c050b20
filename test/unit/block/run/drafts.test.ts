import { describe, expect, it } from 'vitest'
import {
  cancelDraft,
  finishedDraft,
  parkedDraft,
  resumedDraft,
  startedDraft,
  waitingDraft
} from '../../../../src/block/run/drafts.js'
import type { RunStarted } from '../../../../src/block/run/entries.js'
import { contradicted, timeoutResponse } from '../../../../src/block/run/failed-attempts.js'
import { rootCommand, rootRequest } from '../../../../src/block/run/root-block.js'
import { failureResponse } from '../../../../src/code/outcome.js'
import { hashJson, type Json, sha256Hex } from '../../../../src/core/index.js'
import { failed } from '../../../support/fake-pump.js'
import { place, RunOfTest, runId } from '../../../support/run-of-test.js'

/** D10: entries about a run itself, member by member, and the request that its first one makes. */

const hash = sha256Hex('hash')
const { root } = new RunOfTest().state

describe('the entry with which a run begins', () => {
  const start = {
    inputs: { a: 1 },
    inputHash: hash,
    context: undefined,
    trace: undefined,
    tags: undefined,
    principal: { kind: 'owner' }
  }
  const plain = {
    k: 'run.started',
    at: 3,
    status: 'running',
    name: 'pay',
    definition: {},
    definitionHash: root.definitionHash,
    input: { a: 1 },
    inputHash: hash,
    base: hash,
    principal: { kind: 'owner' }
  }
  const bare = { ...root, hasAlternatives: () => false, classes: () => undefined }

  it('D10: has no member of what there is nothing of', () => {
    expect(startedDraft(bare, { at: 3, base: hash, start })).toStrictEqual(plain)
  })

  it('D10: has what the caller gave, and what the run decides by', () => {
    const more = { context: { locale: 'en' }, trace: { traceId: 'trace' } }
    const pins = { blocks: { pay: '1' } }
    const obligations = { effects: {} }
    const classes = { pay: 'none' } as const
    const full = { ...root, hasAlternatives: () => true, classes: () => classes }
    const terms = { at: 3, base: hash, start: { ...start, ...more }, pins, obligations }
    const expected = { ...plain, ...more, pins, unsafe: 'next', classes, obligations }
    expect(startedDraft(full, terms)).toEqual(expected)
  })
})

describe('an entry about a run', () => {
  it('W9: says who cancels it, and that its journal alone gives its end', () => {
    const cancel = { k: 'cancel', at: 2, reason: 'stop', by: { kind: 'owner' } }
    const { k: _, ...asked } = cancel
    expect(cancelDraft(asked)).toEqual(cancel)
    expect(cancelDraft(asked, { withoutCode: false })).toEqual(cancel)
    expect(cancelDraft(asked, { withoutCode: true })).toEqual({ ...cancel, withoutCode: true })
  })

  it('B3: says that it is parked and what for, waits, continues and has ended', () => {
    const run = new RunOfTest()
    const attempt = run.open(place.path, 1, { deadline: 9 })
    const asked = { seq: 1, token: 'one', reason: 'external', request: null, requestHash: hash }
    const open = { ...asked, actions: ['resume'], digest: hash, due: null }
    const wait = run.apply({ k: 'wait', at: 2, ...place, ...open })
    const waits = run.state.shownWaits()
    const parked = { k: 'run.waiting', at: 4, status: 'waiting', waits, due: 9 }
    expect(parkedDraft(run.state, 4)).toEqual(parked)
    expect(waits).toHaveLength(1)
    const resumed = { k: 'run.resumed', at: 5, status: 'running', waits: [], due: null }
    expect(resumedDraft(run.state, 5)).toEqual(resumed)
    if (wait.k !== 'wait') throw new Error('no wait')
    const waiting = { k: 'waiting', at: 6, ...place, token: 'one' }
    expect(waitingDraft(attempt, wait, 6)).toEqual(waiting)
    const end = { at: 7, status: 'failed', response: failed('boom'), journalHash: hash } as const
    expect(finishedDraft(run.state, end)).toEqual({ k: 'run.finished', ...end })
  })

  it('D10: names the tags that its code has set last, whatever became of the attempt', () => {
    const run = new RunOfTest()
    run.open(place.path)
    const set = (seq: number, body: Json, ok = true) => {
      const hashes = { requestHash: hash, responseHash: hash, salt: hash }
      run.apply({ k: 'sealed', at: 2, ...place, seq, effect: 'run.tags', ...hashes, ok, body })
    }
    const end = { at: 7, status: 'done', response: failed('boom'), journalHash: hash } as const
    const all = () => [
      parkedDraft(run.state, 4).tags,
      resumedDraft(run.state, 5).tags,
      finishedDraft(run.state, end).tags
    ]
    set(1, { tags: ['a', 'b'] })
    expect(all()).toEqual([
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'b']
    ])
    set(2, { tags: ['c'] })
    // An effect of a block that has taken the name for itself, and one that has failed.
    for (const body of [null, { tags: 'd' }, { tags: [''] }, { tags: [7] }] as const) set(3, body)
    set(4, { tags: ['d'] }, false)
    expect(all()).toEqual([['c'], ['c'], ['c']])
    set(5, { tags: [] })
    expect(all()).toEqual([[], [], []])
  })
})

describe('the request of the root of a run', () => {
  const id = hashJson(['request', runId, 'root']).slice(0, 32)
  const input = { block: 'pay', sideEffects: 'none' } as never

  it('D10: has ids that follow from the run alone', () => {
    expect(rootRequest({ input }, { run: runId, input: { a: 1 } })).toEqual({
      payload: { a: 1 },
      context: {},
      metadata: {
        id,
        traceId: hashJson(['trace', runId]).slice(0, 32),
        spanId: id.slice(0, 16),
        runId,
        blockName: 'pay',
        nodeName: 'root',
        attempt: 1,
        sideEffectClass: 'none'
      }
    })
  })

  it('B1: has the context and the trace that the caller gave', () => {
    const terms = { run: runId, input: null, context: { locale: 'en' } }
    const traced = rootRequest({ input }, { ...terms, trace: { traceId: 'trace', spanId: 'span' } })
    expect(traced.context).toEqual({ locale: 'en' })
    expect(traced.metadata).toMatchObject({ id, traceId: 'trace', parentSpanId: 'span' })
    const unspanned = rootRequest({ input }, { ...terms, trace: { traceId: 'trace' } })
    expect(unspanned.metadata).not.toHaveProperty('parentSpanId')
  })

  it('C3: is executed as its first entry says', () => {
    const { started } = new RunOfTest().state
    const entry = started as RunStarted
    const request = rootRequest(root, entry)
    const execute = { type: 'block.execute', request, step: 1, options: {}, at: 1 }
    expect(rootCommand(root, entry)).toEqual(execute)
    const options = { passesUnsafe: true }
    expect(rootCommand(root, { ...entry, unsafe: 'next' })).toEqual({ ...execute, options })
  })
})

describe('the response of an attempt that failed', () => {
  it.each([
    [null, {}],
    [{ a: 1 }, { a: 1 }],
    [[1], { value: [1] }],
    ['text', { value: 'text' }]
  ])('B5: has its details as an object: %j', (details, expected) => {
    expect(failureResponse({ ok: false, reason: 'boom', errorType: 'Boom', details })).toEqual({
      success: false,
      data: null,
      reason: 'boom',
      errorType: 'Boom',
      details: expected,
      metadata: {}
    })
  })

  it('W5, L10: says that its time was over, or that a person has to decide', () => {
    const sent = (hasSent: boolean) => timeoutResponse({ past: { hasSent: () => hasSent } })
    expect(sent(false)).toMatchObject({ reason: 'timed_out', details: {} })
    const doubt = { reason: 'unknown_outcome', details: { timed_out: true } }
    expect(sent(true)).toMatchObject(doubt)
    expect(contradicted({ effect: 'pay', seq: 3 } as never)).toEqual({
      ok: false,
      reason: 'intent_conflict',
      errorType: 'IntentConflict',
      details: { effect: 'pay', seq: 3 }
    })
  })
})
