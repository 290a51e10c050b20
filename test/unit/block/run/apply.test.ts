import { describe, expect, it } from 'vitest'
import { takeCommand } from '../../../../src/block/run/apply.js'
import type { EntryDraft, Sealed } from '../../../../src/block/run/entries.js'
import { hashJson, type Json, sha256Hex } from '../../../../src/core/index.js'
import { failed, succeeded } from '../../../support/fake-pump.js'
import { place, RunOfTest, runId } from '../../../support/run-of-test.js'

const requestHash = sha256Hex('request')
const undo = { effect: 'refund', request: null, sideEffects: 'non_idempotent' } as const

function requested(seq: number, path: string = place.path): EntryDraft {
  const key = hashJson([runId, path, 1, seq, requestHash])
  const effect = { effect: 'pay', sideEffects: 'non_idempotent', requestHash, key } as const
  return { k: 'requested', at: 2, ...place, path, seq, ...effect }
}

function sealed(seq: number, more: Partial<Sealed> = {}): EntryDraft {
  const salt = sha256Hex('salt')
  const body: Json = { paid: seq }
  const answer = { effect: 'pay', requestHash, responseHash: salt, salt, ok: true, body }
  return { k: 'sealed', at: 3, ...place, seq, ...answer, ...more }
}

function wait(seq: number | null, token: string, more: Partial<EntryDraft> = {}): EntryDraft {
  const asked = { reason: 'external', request: null, requestHash, actions: ['resume'] }
  const open = { k: 'wait', at: 2, ...place, seq, token, ...asked, due: null } as const
  return { ...open, digest: sha256Hex(token), ...more } as EntryDraft
}

function settled(success: boolean, path: string = place.path): EntryDraft {
  const response = success ? succeeded(1) : failed('boom')
  return { k: 'settled', at: 4, ...place, path, response, sent: true }
}

function scopeEnd(outcome: 'committed' | 'aborting' | 'aborted' | 'conflict' | 'released') {
  const response = outcome === 'committed' ? succeeded(null) : failed('boom')
  return { k: 'scope', at: 5, path: 'root', step: 1, attempt: 1, outcome, response } as const
}

/** Told since the run began. */
function toldOf(run: RunOfTest): readonly string[] {
  return run.told.slice(1)
}

describe('the entries of a run', () => {
  it('D10: begin it with its root', () => {
    const run = new RunOfTest()
    expect(run.told).toEqual(['block.execute root'])
    expect(run.state).toMatchObject({ entries: 1, at: 1, isFinished: false })
  })

  it('L7: keep what an attempt has asked for and been given', () => {
    const run = new RunOfTest()
    const { past } = run.open()
    run.apply(requested(1))
    expect(past.wasSent(1, requestHash)).toBe(true)
    run.apply(sealed(1))
    expect(past.recorded.find(1)?.body).toEqual({ paid: 1 })
    expect(toldOf(run)).toEqual([])
  })

  it('L7: leave an attempt alone that is over, and keep what its late answer did outside', () => {
    const run = new RunOfTest()
    const scope = run.openScope('root')
    run.open()
    run.apply(requested(1))
    run.apply(settled(false))
    const { past } = run.open(place.path, 2)
    run.apply(sealed(1, { undo }))
    expect(past.recorded.length).toBe(0)
    expect(scope.outside.undoable()).toHaveLength(1)
  })

  it('B2: let a leaf wait, and continue with its answer', () => {
    const run = new RunOfTest()
    const { waits } = run.open()
    run.apply(wait(1, 'one'))
    run.apply({ k: 'waiting', at: 2, ...place, token: 'one' })
    expect(run.state.attempts.waiting()).toEqual([place.path])
    run.apply(sealed(1))
    expect([waits.size, run.state.waits.isEmpty, run.state.attempts.waiting().length]).toEqual([
      0,
      true,
      0
    ])
    expect(toldOf(run)).toEqual([
      `attempt.waiting ${place.path}`,
      'called off one',
      `attempt.resumed ${place.path}`
    ])
  })

  it('L10: put another wait in the place of one that the code does not ask for any more', () => {
    const run = new RunOfTest()
    run.open()
    run.apply(wait(1, 'one'))
    run.apply(wait(1, 'two'))
    expect(run.state.waits.all().map(({ token }) => token)).toEqual(['two'])
    expect(toldOf(run)).toEqual(['called off one'])
  })

  it('W7: close a wait that was answered without a result', () => {
    const run = new RunOfTest()
    const { waits } = run.open()
    run.apply(wait(1, 'one'))
    run.apply({ k: 'answered', at: 3, ...place, seq: 1, token: 'one', action: 'retry', by: null })
    expect([waits.size, run.state.waits.isEmpty]).toEqual([0, true])
  })

  it('L10: take results that were recorded, with the waits in their place', () => {
    const run = new RunOfTest()
    const attempt = run.open()
    run.apply(sealed(1))
    run.apply(sealed(2))
    run.apply(wait(3, 'three'))
    run.apply({ k: 'rewound', at: 4, ...place, dropped: [2, 3] })
    expect(attempt.past.recorded.whole().map(({ seq }) => seq)).toEqual([1])
    expect(run.state.waits.isEmpty).toBe(true)
  })

  it('L7: end an attempt, and leave what a failed one did to the next of its step', () => {
    const run = new RunOfTest()
    run.open()
    run.apply(requested(1))
    run.apply(sealed(1))
    run.apply(requested(2))
    run.apply(wait(3, 'three'))
    run.apply(settled(false))
    const { state } = run
    expect(state.attempts.size).toBe(0)
    expect(state.landed.map(({ seq }) => seq)).toEqual([1])
    expect(state.inDoubt).toHaveLength(1)
    expect(state.steps).toBe(1)
    expect(toldOf(run)).toEqual([
      'called off three',
      `closed ${place.path}`,
      `attempt.settled ${place.path}`
    ])
    const { past } = run.open(place.path, 2)
    expect(past.earlier?.wasSent(2, requestHash)).toBe(true)
    run.apply({ ...requested(2), attempt: 2 } as EntryDraft)
    run.apply({ ...settled(true), attempt: 2 } as EntryDraft)
    expect(state.inDoubt).toEqual([])
  })

  it.each([
    ['counts', true, 1],
    ['leaves out, as older versions did,', undefined, 0]
  ] as const)(
    'C3: end an attempt whose failure %s what was dropped with outside: %s',
    (_, outside, count) => {
      const run = new RunOfTest()
      run.open()
      run.apply(requested(1))
      run.apply(sealed(1))
      run.apply(requested(2))
      run.apply(wait(2, 'two'))
      const dropped = { k: 'rewound', at: 4, ...place, dropped: [1, 2] } as const
      run.apply(outside === undefined ? dropped : { ...dropped, outside })
      run.apply(settled(false))
      const { state } = run
      expect([state.landed.length, state.inDoubt.length]).toEqual([count, count])
      expect(state.appliedAt(place.path)).toHaveLength(count)
      run.open(place.path, 2)
      run.apply({ ...requested(2), attempt: 2 } as EntryDraft)
      run.apply({ ...sealed(2), attempt: 2 } as EntryDraft)
      run.apply({
        ...dropped,
        attempt: 2,
        dropped: [2],
        ...(outside === undefined ? {} : { outside })
      })
      run.apply({ ...settled(true), attempt: 2 } as EntryDraft)
      expect(state.inDoubt).toEqual([])
    }
  )

  it('B5: close the decision whose time is over, as its timer', () => {
    const run = new RunOfTest()
    const decision = { reason: 'decision', request: null, actions: ['retry'], due: 3 } as const
    const ask = { kind: 'decision', ...place, response: failed('boom'), wait: decision } as const
    takeCommand(run.state, ask, run)
    run.apply(wait(null, 'one', { due: 3 } as Partial<EntryDraft>))
    run.apply({ k: 'timer', at: 3, path: place.path, step: 1 })
    expect([run.state.decisions.size, run.state.waits.isEmpty]).toEqual([0, true])
    expect(toldOf(run)).toEqual([
      `called off ${place.path}`,
      'called off one',
      `timer.fired ${place.path}`
    ])
  })

  it('B5: hand a decision to the chart that has asked for it', () => {
    const run = new RunOfTest()
    run.apply(wait(null, 'one'))
    const { path } = place
    const made = { token: 'one', action: 'retry', patch: null, by: null }
    run.apply({ k: 'decision', at: 3, path, step: 1, ...made })
    expect(run.state.waits.isEmpty).toBe(true)
    expect(toldOf(run)).toEqual(['called off one', `decision.made ${path}`])
  })

  it('W9: cancel the run by its root, and without its code by its end alone', () => {
    const run = new RunOfTest()
    run.apply({ k: 'cancel', at: 3, reason: 'stop', by: null })
    expect(toldOf(run)).toEqual(['block.cancel root'])
    const other = new RunOfTest()
    other.apply({ k: 'cancel', at: 3, reason: 'stop', by: null, withoutCode: true })
    expect(toldOf(other)).toEqual([])
    expect(other.state.settled?.reason).toBe('cancelled')
  })

  it('B3: say that a run is parked, resumed and finished', () => {
    const run = new RunOfTest()
    run.apply({ k: 'run.waiting', at: 2, status: 'waiting', waits: [], due: null })
    expect(run.state.isParked).toBe(true)
    run.apply({ k: 'run.resumed', at: 3, status: 'running', waits: [], due: null })
    expect(run.state.isParked).toBe(false)
    const journalHash = sha256Hex('x')
    const response = succeeded(1)
    run.apply({ k: 'run.finished', at: 4, status: 'done', response, journalHash })
    expect(run.state.isFinished).toBe(true)
  })
})

describe('the end of an overlay', () => {
  function withWrite(): RunOfTest {
    const run = new RunOfTest()
    run.openScope('root')
    run.open()
    run.apply(requested(1))
    run.apply(sealed(1, { undo }))
    return run
  }

  it.each(['committed', 'aborted', 'conflict'] as const)('C4: %s: it is dropped', (outcome) => {
    const run = withWrite()
    run.apply(scopeEnd(outcome))
    expect(run.state.openOverlays.size).toBe(0)
    const event = outcome === 'conflict' ? 'scope.conflict' : 'scope.settled'
    expect(toldOf(run)).toEqual(['ended root', `${event} root`])
  })

  it('C4: undoes what was done outside before the composite continues', () => {
    const run = withWrite()
    run.apply(scopeEnd('aborting'))
    expect(toldOf(run)).toEqual([])
    const [ask] = run.asks
    expect(ask?.path).toBe(`${place.path}~undo.1.1`)
    expect(run.state.openOverlays.get('root')?.closing?.tasks.isOver).toBe(false)
    run.apply(scopeEnd('aborted'))
    expect(toldOf(run)).toEqual(['ended root', 'scope.settled root'])
  })

  it('C4: begins with its commit what was put off, and ends when that is released', () => {
    const run = new RunOfTest()
    const scope = run.openScope('root')
    const { ask } = run.open(place.path, 1, { deferred: true })
    const overlay = { writes: [], reads: [], used: [] }
    run.apply({ ...settled(true), overlay } as EntryDraft)
    expect(scope.outside.deferred).toEqual([ask])
    run.apply(scopeEnd('committed'), sha256Hex('receipt'))
    expect(run.asks[0]?.path).toBe(`${place.path}~release`)
    run.apply(scopeEnd('released'))
    expect([run.state.openOverlays.size, run.told.at(-1)]).toEqual([0, 'scope.settled root'])
  })

  it.each([
    ['committed inside of another', 'root/all', 'committed', true],
    ['committed without a receipt', 'root', 'committed', false],
    ['aborted', 'root', 'aborted', true],
    ['conflict', 'root', 'conflict', true]
  ] as const)('C4: begins nothing that was put off: %s', (_, path, outcome, hasReceipt) => {
    const run = new RunOfTest()
    run.openScope('root')
    run.openScope('root/all')
    run.open(`${path}/pay`, 1, { deferred: true })
    const overlay = { writes: [], reads: [], used: [] }
    run.apply({ ...settled(true, `${path}/pay`), overlay } as EntryDraft)
    const receipt = hasReceipt ? sha256Hex('receipt') : undefined
    run.apply({ ...scopeEnd(outcome), path }, receipt)
    expect([run.asks, run.state.openOverlays.has(path)]).toEqual([[], false])
  })

  it('C4: hands what an inner one did outside to the one around it, at its commit', () => {
    const run = new RunOfTest()
    const outer = run.openScope('root')
    run.openScope('root/inner')
    run.open('root/inner/pay')
    run.apply(requested(1, 'root/inner/pay'))
    run.apply({ ...scopeEnd('committed'), path: 'root/inner' })
    expect(outer.outside.hasActed).toBe(true)
    expect([...run.state.openOverlays.keys()]).toEqual(['root'])
  })
})

describe('a cancel that a chart asks for', () => {
  it('W9: forgets all at and below its path, and nothing beside it', () => {
    const run = new RunOfTest()
    run.open('root/all/one')
    run.open('root/alley')
    run.apply({ ...wait(1, 'one'), path: 'root/all/one' } as EntryDraft)
    takeCommand(run.state, { kind: 'cancel', path: 'root/all', step: 1, reason: 'stop' }, run)
    expect([...run.state.attempts.keys()]).toEqual(['root/alley'])
    expect(run.state.waits.isEmpty).toBe(true)
  })
})

describe('applying', () => {
  it('D6: the same entries to two runs gives the same state, and changes no entry', () => {
    const drafts: readonly EntryDraft[] = [
      requested(1),
      sealed(1, { undo }),
      wait(2, 'two', { due: 9 } as Partial<EntryDraft>),
      { k: 'waiting', at: 2, ...place, token: 'two' },
      sealed(2),
      { k: 'rewound', at: 4, ...place, dropped: [2] },
      settled(false),
      scopeEnd('aborting'),
      { k: 'cancel', at: 6, reason: 'stop', by: null }
    ]
    const before = JSON.stringify(drafts)
    const states = [1, 2].map(() => {
      const run = new RunOfTest()
      run.openScope('root')
      run.open()
      return drafts.map((draft) => {
        run.apply(draft)
        return run.plain()
      })
    })
    expect(states[1]).toEqual(states[0])
    expect(JSON.stringify(drafts)).toBe(before)
  })
})
