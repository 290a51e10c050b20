import { describe, expect, it } from 'vitest'
import { checkpointOf, restore } from '../../../../src/block/run/checkpoint.js'
import type { EntryDraft } from '../../../../src/block/run/entries.js'
import { RunState } from '../../../../src/block/run/run-state.js'
import { hashJson, limits, sha256Hex } from '../../../../src/core/index.js'
import { failed } from '../../../support/fake-pump.js'
import { identity, place, RunOfTest, runId } from '../../../support/run-of-test.js'

/** D6: a checkpoint has all that its journal has led to, and gives it back. */

const hash = sha256Hex('hash')
const { path } = place

function requested(seq: number, at: object = {}): EntryDraft {
  const key = hashJson([runId, path, 1, seq, hash])
  const named = { effect: 'pay', sideEffects: 'non_idempotent', requestHash: hash, key } as const
  return { k: 'requested', at: 2, ...place, seq, ...named, ...at }
}

function sealed(seq: number, at: object = {}): EntryDraft {
  const answer = { effect: 'pay', requestHash: hash, responseHash: hash, salt: hash, ok: true }
  return { k: 'sealed', at: 3, ...place, seq, ...answer, body: { n: seq }, ...at }
}

function wait(seq: number | null, token: string, at: object = {}): EntryDraft {
  const asked = { reason: 'external', request: null, requestHash: hash, actions: ['resume'] }
  return { k: 'wait', at: 4, ...place, seq, token, ...asked, digest: hash, due: null, ...at }
}

const approval = { action: 'approve', digest: hash, token: 'two', value: null, key: 'a' } as never
const failure = { k: 'settled', at: 5, ...place, response: failed('boom'), sent: true } as const

describe('the checkpoint of a run', () => {
  it('D6: has no member of what there is nothing of', () => {
    const run = new RunOfTest()
    const { state } = run
    expect(checkpointOf(state, () => ({ chart: 1 }))).toEqual({
      entries: 1,
      at: 1,
      journalHash: state.journalHash,
      receipts: state.receipts.save(),
      steps: 0,
      snapshot: { chart: 1 },
      attempts: {},
      open: [],
      waiting: [],
      past: {}
    })
  })

  it('D6: has what attempts were given and have asked, what they wait for, and what failed', () => {
    const run = new RunOfTest()
    const { state } = run
    run.open()
    const kept = [requested(1), sealed(1), requested(2)].map((draft) => run.apply(draft))
    run.apply(failure)
    const attempt = { attempt: 2 }
    run.open(path, 2)
    const other = { path: 'root/b' }
    run.open('root/b')
    const open = [requested(1, attempt), sealed(1, attempt), wait(2, 'two', attempt)]
    const [first, second, third] = open.map((draft) => run.apply(draft))
    const fourth = run.apply(sealed(3, other))
    run.apply({ k: 'waiting', at: 6, ...place, ...attempt, token: 'two' })
    const decision = run.apply(wait(null, 'three', { path: 'root/c' }))
    run.apply({
      k: 'approval',
      at: 7,
      ...place,
      ...attempt,
      seq: 2,
      token: 'two',
      approval,
      by: null
    })
    run.open('root/d')
    run.apply(sealed(1, { path: 'root/d' }))
    run.apply({ ...failure, path: 'root/d' }, hash)
    const cancel = run.apply({ k: 'cancel', at: 9, reason: 'stop', by: null })
    const saved = checkpointOf(state, () => null)
    expect(saved).toMatchObject({ entries: state.entries, at: 9, steps: 2, cancel })
    expect(saved?.open).toEqual([first, second, third, fourth, decision])
    expect(saved?.attempts).toEqual({ [`${path} 1 2`]: 5, 'root/b 1 1': 5 })
    expect(saved?.waiting).toEqual([path])
    expect(saved?.landed).toEqual({ all: state.landed, inDoubt: state.inDoubt })
    expect([state.landed.length, state.inDoubt.length]).toEqual([1, 1])
    expect(saved?.askings).toEqual(state.waits.askings())
    expect(saved?.approvals).toEqual({ two: [approval] })
    expect(Object.keys(saved?.past ?? {})).toEqual([path, 'root/d'])
    expect(saved?.past[path]).toEqual([
      { step: 1, attempt: 1, entries: [kept[0], kept[2], kept[1]] }
    ])
    const { root } = state
    const again = new RunState({ runId, identity, root })
    restore(again, JSON.parse(JSON.stringify(saved)))
    expect(again).toMatchObject({
      entries: state.entries,
      at: 9,
      steps: 2,
      journalHash: state.journalHash,
      cancelled: cancel,
      landed: state.landed,
      inDoubt: state.inDoubt
    })
    expect(again.receipts.root()).toBe(state.receipts.root())
    expect([...(again.restoredTimes ?? [])]).toEqual(Object.entries(saved?.attempts ?? {}))
    expect([...(again.pasts ?? [])].map(([at, past]) => [at, past.saved()])).toEqual(
      Object.entries(saved?.past ?? {})
    )
  })

  it('D6: is told from one of a run that has done nothing outside', () => {
    const run = new RunOfTest()
    run.open()
    run.apply(requested(1))
    run.apply(failure)
    expect(checkpointOf(run.state, () => null)).toMatchObject({ landed: { all: [] } })
    const other = new RunOfTest()
    const { root } = other.state
    const again = new RunState({ runId, identity, root })
    restore(again, checkpointOf(other.state, () => null) as never)
    expect([again.landed, again.inDoubt, again.cancelled, again.pasts]).toEqual([
      [],
      [],
      undefined,
      undefined
    ])
  })

  it('D6: is none where the journal alone has what is not in memory', () => {
    const run = new RunOfTest()
    run.openScope('root')
    expect(checkpointOf(run.state, () => null)).toBeUndefined()
    const long = new RunOfTest()
    long.open()
    for (let seq = 1; seq <= limits.RECORDED_ANSWERS_MAX + 1; seq += 1) long.apply(sealed(seq))
    expect(checkpointOf(long.state, () => null)).toBeUndefined()
    long.apply(failure)
    expect(checkpointOf(long.state, () => null)).toBeUndefined()
  })
})
