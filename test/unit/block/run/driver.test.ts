import { describe, expect, it } from 'vitest'
import type { PumpCommand } from '../../../../src/block/chart/protocol.js'
import { takeCommand } from '../../../../src/block/run/apply.js'
import { type EntryDraft, placeKey } from '../../../../src/block/run/entries.js'
import { hashJson, limits, sha256Hex } from '../../../../src/core/index.js'
import { failed, succeeded, testRequest } from '../../../support/fake-pump.js'
import { place, RunOfTest, runId } from '../../../support/run-of-test.js'

/** D10: what each entry of a journal has a driver do, and what it leaves in the state. */

const requestHash = sha256Hex('request')
const inner = 'root/all/inner/pay'
const { path } = place

function requested(seq: number, at: string = path): EntryDraft {
  const key = hashJson([runId, at, 1, seq, requestHash])
  const effect = { effect: 'pay', sideEffects: 'non_idempotent', requestHash, key } as const
  return { k: 'requested', at: 2, ...place, path: at, seq, ...effect }
}

function sealed(seq: number, at: string = path, more: object = {}): EntryDraft {
  const salt = sha256Hex('salt')
  const answer = { effect: 'pay', requestHash, responseHash: salt, salt, ok: true, body: null }
  return { k: 'sealed', at: 3, ...place, path: at, seq, ...answer, ...more }
}

function wait(seq: number | null, token: string, more: object = {}): EntryDraft {
  const asked = { reason: 'external', request: null, requestHash, actions: ['resume'] }
  const open = { k: 'wait', at: 2, ...place, seq, token, ...asked, due: null } as const
  return { ...open, digest: sha256Hex(token), ...more } as EntryDraft
}

function settled(success: boolean, more: object = {}): EntryDraft {
  const response = success ? succeeded(1) : failed('boom')
  return { k: 'settled', at: 4, ...place, response, sent: true, ...more }
}

type Outcome = 'committed' | 'aborting' | 'aborted' | 'conflict' | 'released'
function scopeEnd(outcome: Outcome, more: object = {}): EntryDraft {
  const response = outcome === 'committed' ? succeeded(null) : failed('boom')
  return { k: 'scope', at: 5, path: 'root', step: 1, attempt: 1, outcome, response, ...more }
}

const cancel = { k: 'cancel', at: 3, reason: 'stop', by: null } as const
const overlay = { writes: [], reads: [], used: [] }
const cancelledAt = (at: number) => ({ type: 'block.cancel', reason: 'stop', at })
const undo = { effect: 'refund', request: null, sideEffects: 'non_idempotent' } as const

function taken(run: RunOfTest, ask: object): void {
  takeCommand(run.state, ask as PumpCommand, run)
}

describe('a driver', () => {
  it('D10: is handed what was answered, begun and dropped, and what has ended', () => {
    const run = new RunOfTest()
    run.openScope('root')
    run.open()
    run.apply(wait(1, 'one'))
    run.apply(sealed(2))
    run.apply({ k: 'rewound', at: 4, ...place, dropped: [2] })
    run.apply(settled(true))
    run.apply(scopeEnd('committed'))
    expect(run.noted).toEqual([
      ['waits', 'one'],
      ['answered', path, 2],
      ['rewound', path, [2]],
      ['settled', path, undefined],
      ['ended', 'root', undefined]
    ])
  })

  it('C4: is handed the overlay that takes over what an attempt has changed', () => {
    const run = new RunOfTest()
    run.openScope('root')
    run.openScope('root/all')
    run.open('root/all/pay')
    run.apply(settled(true, { path: 'root/all/pay', overlay }))
    run.apply(scopeEnd('committed', { path: 'root/all' }))
    expect(run.noted).toEqual([
      ['settled', 'root/all/pay', 'root/all'],
      ['ended', 'root/all', 'root']
    ])
  })

  it('D10: is handed nothing of an attempt or overlay that is not open', () => {
    const run = new RunOfTest()
    run.apply(requested(1))
    run.apply(sealed(1))
    run.apply({ k: 'rewound', at: 4, ...place, dropped: [1] })
    run.apply({ k: 'waiting', at: 4, ...place, token: 'none' })
    run.apply(settled(true))
    run.apply(scopeEnd('aborted'))
    expect(run.noted).toEqual([])
    expect(run.state.attempts.waiting().length).toBe(0)
    expect(run.told.slice(1)).toEqual([`attempt.settled ${path}`, 'scope.settled root'])
  })

  it.each([
    ['step', { step: 2 }],
    ['attempt', { attempt: 2 }],
    ['path', { path: 'root/other' }]
  ])('D10: has no part of an entry of another %s given to an open attempt', (_, other) => {
    const run = new RunOfTest()
    const { past, waits } = run.open()
    for (const draft of [
      requested(1),
      sealed(1),
      wait(1, 'one'),
      { k: 'rewound', at: 4, ...place, dropped: [1] },
      settled(true)
    ]) {
      run.apply({ ...draft, ...other } as EntryDraft)
    }
    expect([past.recorded.length, past.wasSent(1, requestHash), waits.size]).toEqual([0, false, 0])
    expect(run.state.attempts.size).toBe(1)
  })

  it('D10: makes an attempt of a block that is registered, and none of another', () => {
    const run = new RunOfTest()
    run.isRegistered = false
    expect(() => run.open()).toThrow('no attempt')
    expect(run.state.attempts.size).toBe(0)
  })
})

describe('an event that a chart gets', () => {
  it('D10: holds what its entry says', () => {
    const run = new RunOfTest()
    run.open()
    run.apply(wait(1, 'one', { due: 9 }))
    run.apply({ k: 'waiting', at: 2, ...place, token: 'one' })
    run.apply(requested(1))
    run.apply({ k: 'waiting', at: 3, ...place, token: 'one' })
    run.apply(sealed(1))
    run.apply(settled(false))
    run.apply({ k: 'timer', at: 5, path, step: 1 })
    const made = { k: 'decision', at: 6, path, step: 1, token: 'x', by: null } as const
    run.apply({ ...made, action: 'retry', patch: null })
    run.apply({ ...made, action: 'patch', patch: { a: 1 } })
    const shown = { reason: 'external', request: null, actions: ['resume'], due: 9, token: 'one' }
    const asked = { type: 'attempt.waiting', wait: { ...shown, digest: sha256Hex('one') } }
    expect(run.events.slice(1)).toEqual([
      [path, { ...asked, sent: false, at: 2 }],
      [path, { ...asked, sent: true, at: 3 }],
      [path, { type: 'attempt.resumed', at: 3 }],
      [path, { type: 'attempt.settled', response: failed('boom'), at: 4, sent: true }],
      [path, { type: 'timer.fired', at: 5 }],
      [path, { type: 'decision.made', action: 'retry', at: 6 }],
      [path, { type: 'decision.made', action: 'patch', patch: { a: 1 }, at: 6 }]
    ])
  })

  it.each<[Outcome, object, object]>([
    ['committed', {}, { type: 'scope.settled', response: succeeded(null), at: 5, sent: false }],
    ['aborted', {}, { type: 'scope.settled', response: failed('boom'), at: 5, sent: false }],
    [
      'aborted',
      { left: [] },
      { type: 'scope.settled', response: failed('boom'), at: 5, sent: true }
    ],
    ['released', {}, { type: 'scope.settled', response: failed('boom'), at: 5, sent: false }],
    ['conflict', {}, { type: 'scope.conflict', at: 5 }]
  ])('C4: says how an overlay has ended: %s %j', (outcome, more, event) => {
    const run = new RunOfTest()
    run.openScope('root')
    run.apply(scopeEnd(outcome, more))
    expect(run.events.slice(1)).toEqual([['root', event]])
  })

  it.each<[Outcome, object, boolean]>([
    ['committed', {}, true],
    ['released', {}, true],
    ['aborted', {}, false],
    ['aborted', { left: [] }, false],
    ['conflict', {}, false]
  ])(
    'C4: cancels a composite whose overlay ends in a cancelled run: %s %j',
    (outcome, more, is) => {
      const run = new RunOfTest()
      run.openScope('root')
      run.apply(cancel)
      run.apply(scopeEnd(outcome, more))
      const [, , [, event] = [], ...others] = run.events
      const response = outcome === 'committed' ? succeeded(null) : failed('boom')
      expect(event).toMatchObject(
        is
          ? { type: 'scope.settled', response, at: 5 }
          : {
              type: 'scope.settled',
              at: 5,
              sent: 'left' in more,
              response: { reason: 'cancelled' }
            }
      )
      // What was committed stays; what comes after it is cancelled by its root.
      expect(others).toEqual(is ? [['root', cancelledAt(5)]] : [])
    }
  )

  it('D10: is the cancel of the run, with its reason', () => {
    const run = new RunOfTest()
    run.apply(cancel)
    expect(run.events.slice(1)).toEqual([['root', cancelledAt(3)]])
    const other = new RunOfTest()
    other.apply({ ...cancel, withoutCode: true })
    expect(other.events.slice(1)).toEqual([])
    expect(other.state.settled).toMatchObject({ reason: 'cancelled', details: { reason: 'stop' } })
  })
})

describe('what charts have asked for', () => {
  const head = { path, step: 1, attempt: 1 } as const
  const timer = { kind: 'timer', ...head, due: 7, reason: 'retry' } as const
  const shown = { reason: 'decision', request: null, actions: ['retry'] }
  const decision = { kind: 'decision', ...head, response: failed('boom'), wait: shown }

  it('D10: is kept until it is answered, and is over with a cancel of its path', () => {
    const run = new RunOfTest()
    const { state } = run
    taken(run, timer)
    taken(run, decision)
    run.apply(wait(null, 'one'))
    run.open()
    run.apply({ k: 'waiting', at: 2, ...place, token: 'one' })
    expect([state.timers.get(path), state.decisions.get(path)]).toEqual([timer, decision])
    expect(state.attempts.waiting()).toEqual([path])
    taken(run, { kind: 'cancel', path, step: 1, reason: 'stop' })
    expect([state.timers.size, state.decisions.size, state.attempts.waiting().length]).toEqual([
      0, 0, 0
    ])
    expect([state.attempts.size, state.waits.isEmpty]).toEqual([0, true])
    expect(run.told.slice(-3)).toEqual([`closed ${path}`, `called off ${path}`, 'called off one'])
  })

  it('D10: is the end of an overlay, of the run, or nothing that is kept', () => {
    const run = new RunOfTest()
    const { state } = run
    for (const kind of ['scope.commit', 'scope.abort'] as const) {
      const ask = { kind, path: 'root', step: 1, attempt: 1, response: succeeded(1), at: 2 }
      taken(run, ask)
      expect(state.overlayEnds.get('root')).toEqual(ask)
    }
    run.apply(scopeEnd('aborted'))
    expect(state.overlayEnds.size).toBe(0)
    const before = run.plain()
    taken(run, { kind: 'waiting', path, wait: shown, at: 2 })
    taken(run, { kind: 'resumed', path, at: 2 })
    expect(run.plain()).toEqual(before)
    taken(run, { kind: 'settled', path: 'root', response: succeeded(2), at: 2 })
    expect(state.settled).toEqual(succeeded(2))
  })

  it('K7: has the time of its asking, or one that is frozen or restored', () => {
    const run = new RunOfTest()
    run.apply({ ...cancel, at: 9 })
    expect(run.open().at).toBe(9)
    expect(run.open('root/b', 1, { frozenAt: 4 }).at).toBe(4)
    const key = placeKey({ ...place, path: 'root/c' })
    run.state.restoredTimes = new Map([[key, 5]])
    expect(run.open('root/c').at).toBe(5)
    expect(run.state.restoredTimes.size).toBe(0)
    expect(run.open('root/c').at).toBe(9)
    expect(run.openScope('root').at).toBe(9)
    const open = { kind: 'scope.open', path: 'root/d', step: 1, attempt: 1, block: 'all' }
    taken(run, { ...open, request: testRequest(null), outermost: true, frozenAt: 3 })
    expect(run.state.openOverlays.get('root/d')?.at).toBe(3)
  })

  it('L7: has what the attempt before it of the same step has left, and of no other', () => {
    const run = new RunOfTest()
    run.open()
    run.apply(requested(1))
    run.apply(settled(false))
    expect(run.state.pasts?.has(path)).toBe(true)
    const ask = { kind: 'attempt', path, step: 2, attempt: 1, block: 'pay', provider: null }
    const rest = { request: testRequest(null), options: {}, sideEffects: 'non_idempotent' }
    taken(run, { ...ask, ...rest })
    expect(run.state.attempts.get(path)?.past.earlier).toBeUndefined()
    expect(run.state.pasts?.has(path)).toBe(false)
  })
})

describe('the state of a run', () => {
  it('C4: knows the innermost overlay around a path, and not its own', () => {
    const run = new RunOfTest()
    const { state } = run
    expect(state.overlayAround(inner)).toBeUndefined()
    const [root, all] = [run.openScope('root'), run.openScope('root/all')]
    const around = [inner, 'root/all/inner', 'root/all', 'root/alley', 'root', 'root/all~undo.1.1']
    expect(around.map((one) => state.overlayAround(one))).toEqual([
      all,
      all,
      root,
      root,
      undefined,
      undefined
    ])
    expect([root.outer, all.outer]).toEqual([undefined, root])
  })

  it('C4: hands what was done outside to the overlay around it, and that of no other', () => {
    const run = new RunOfTest()
    const [root, all] = [run.openScope('root'), run.openScope('root/all')]
    run.open('root/all/pay')
    run.apply(requested(1, 'root/all/pay'))
    expect([root.outside.hasActed, all.outside.hasActed]).toEqual([false, true])
    run.apply(scopeEnd('aborted', { path: 'root/all' }))
    expect(root.outside.hasActed).toBe(false)
  })

  it.each<[Outcome, number]>([
    ['aborting', 1],
    ['aborted', 0]
  ])('C4: cancels the tasks that an overlay leaves with its run: %s', (outcome, open) => {
    const run = new RunOfTest()
    run.openScope('root')
    run.open()
    run.apply(requested(1))
    run.apply(sealed(1, path, { undo }))
    run.apply(scopeEnd(outcome))
    expect([run.state.openOverlays.size, run.asks.length]).toEqual([open, open])
    run.apply({ ...cancel, at: 6 })
    expect(run.told.at(-1)).toBe('block.cancel root')
  })

  it('B3: is due at the first wait, timer or deadline', () => {
    const run = new RunOfTest()
    const { state } = run
    expect([state.nextDue(), state.awaitsNothing]).toEqual([null, true])
    run.open('root/a', 1, { deadline: 90 })
    expect([state.nextDue(), state.awaitsNothing]).toEqual([90, false])
    taken(run, { kind: 'timer', path: 'root/b', step: 1, attempt: 1, due: 80, reason: 'retry' })
    expect(state.nextDue()).toBe(80)
    run.apply(wait(null, 'one', { due: 70 }))
    run.apply(wait(null, 'two', { path: 'root/c' }))
    expect(state.nextDue()).toBe(70)
    taken(run, { kind: 'timer', path: 'root/d', step: 1, attempt: 1, due: 75, reason: 'retry' })
    expect(state.nextDue()).toBe(70)
  })

  it('B3: parks only where every attempt waits, and its time is far enough', () => {
    const run = new RunOfTest()
    const { state } = run
    expect(() => state.mayPark(0)).toThrow('nothing to do and nothing to wait for')
    run.open()
    expect(state.mayPark(0)).toBe(false)
    run.apply(sealed(1))
    run.apply(wait(2, 'one'))
    run.apply({ k: 'waiting', at: 2, ...place, token: 'one' })
    expect(state.mayPark(0)).toBe(true)
    const due = 100_000
    taken(run, { kind: 'timer', path: 'root/b', step: 1, attempt: 1, due, reason: 'retry' })
    const worth = limits.PARK_AFTER_MS + limits.PARK_AFTER_ANSWER_MS
    expect(state.mayPark(due - worth - 1)).toBe(true)
    expect(state.mayPark(due - worth)).toBe(false)
    run.open('root/c')
    expect(state.mayPark(0)).toBe(false)
  })

  it('B3: shows the waits that a message can end', () => {
    const run = new RunOfTest()
    run.apply(wait(null, 'one'))
    run.apply(wait(null, 'two', { path: 'root/b', actions: [], due: 4 }))
    expect(run.state.shownWaits().map(({ token }) => token)).toEqual(['one'])
  })

  it('L7: says what a failed attempt has landed, where it was answered with success', () => {
    const run = new RunOfTest()
    run.open()
    for (const [seq, ok] of [
      [1, true],
      [2, false]
    ] as const) {
      run.apply(requested(seq))
      run.apply(sealed(seq, path, { ok }))
    }
    expect(run.state.appliedAt(path)).toEqual([])
    run.apply(settled(false))
    expect(run.state.appliedAt(path).map(({ seq }) => seq)).toEqual([1])
    expect(run.state.appliedAt('root/other')).toEqual([])
  })

  it('L7: keeps in doubt what no later attempt has asked for, and who asked for it', () => {
    const run = new RunOfTest()
    run.open()
    run.apply(requested(1))
    run.apply(settled(false))
    const { state } = run
    const key = hashJson([runId, path, 1, 1, requestHash])
    expect(state.inDoubt).toEqual([{ path, effect: 'pay', key }])
    run.open('root/other')
    run.apply(settled(true, { path: 'root/other' }))
    expect(state.inDoubt).toHaveLength(1)
  })
})
