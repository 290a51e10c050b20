import { describe, expect, it } from 'vitest'
import type { Requested, Sealed } from '../../../../src/block/run/entries.js'
import { Outside } from '../../../../src/block/run/outside.js'
import { SentEffects } from '../../../../src/block/run/sent-effects.js'
import { hashJson, type Json, sha256Hex } from '../../../../src/core/index.js'
import { failed, succeeded } from '../../../support/fake-pump.js'
import { runId } from '../../../support/run-of-test.js'

/** C4, L7: what a journal says of the writes of a run: what landed, and what is in doubt. */

const undo = { effect: 'refund', request: null, sideEffects: 'non_idempotent' } as const
const definite = { reason: 'refused', definite: true, details: null }
const indefinite = { ...definite, definite: false }
const inner = 'root/all/pay'

interface Place {
  readonly path?: string
  readonly step?: number
  readonly attempt?: number
}

function asked(seq: number, { path = inner, step = 1, attempt = 1 }: Place = {}): Requested {
  const requestHash = sha256Hex(`request ${seq}`)
  const key = hashJson([runId, path, step, seq, requestHash])
  const named = { effect: 'pay', sideEffects: 'non_idempotent', requestHash, key } as const
  return { k: 'requested', run: runId, n: seq, at: 1, path, step, attempt, seq, ...named }
}

function answer(seq: number, body: Json, more: Partial<Sealed> & Place = {}): Sealed {
  const { requestHash } = asked(seq)
  const responseHash = sha256Hex(JSON.stringify(body))
  const answered = { effect: 'pay', requestHash, responseHash, salt: responseHash, ok: true, body }
  const place = { run: runId, n: 10 + seq, at: 2, path: inner, step: 1, attempt: 1 }
  return { k: 'sealed', ...place, seq, ...answered, ...more }
}

function reference(seq: number, body: Json) {
  const { effect, requestHash, responseHash } = answer(seq, body)
  const bytes = Buffer.byteLength(JSON.stringify(body))
  return { seq, effect, requestHash, responseHash, bytes }
}

const left = (seq: number, state: string, reason: string) => {
  const { path, step, effect, key } = asked(seq)
  return { path, step, effect, key, state, reason }
}

/** What is left where nothing was undone. */
function leftOf(outside: Outside) {
  return outside.left(() => undefined)
}

describe('what an overlay has done outside', () => {
  it.each<[string, Sealed | undefined, readonly [string, string] | undefined]>([
    ['has no answer', undefined, ['in_doubt', 'unknown_outcome']],
    ['may have failed', answer(1, indefinite, { ok: false }), ['in_doubt', 'unknown_outcome']],
    ['failed without saying more', answer(1, null, { ok: false }), ['in_doubt', 'unknown_outcome']],
    ['certainly did nothing', answer(1, definite, { ok: false }), undefined],
    ['is not undone', answer(1, 1, { undo: null }), ['landed', 'irreversible']],
    ['says nothing of it', answer(1, 1), ['landed', 'irreversible']],
    ['was answered late', answer(1, definite, { undo }), ['landed', 'too_late']]
  ])('C4: is left where a write %s, with the reason', (_, sealed, said) => {
    const outside = new Outside()
    outside.requested(asked(1))
    if (sealed !== undefined) outside.sealed(sealed)
    expect(leftOf(outside)).toEqual(said === undefined ? [] : [left(1, ...said)])
    expect(outside.hasActed).toBe(said !== undefined)
    expect(outside.undoable()).toHaveLength(sealed?.undo == null ? 0 : 1)
  })

  it('C4: is left with the reason that undoing it had, and not where it was undone', () => {
    const outside = new Outside()
    for (const seq of [1, 2, 3]) outside.requested(asked(seq))
    outside.sealed(answer(1, 'é', { undo }))
    outside.sealed(answer(2, 2, { undo }))
    const reasons = new Map<string, string | null>([
      [asked(1).key, 'boom'],
      [asked(2).key, null]
    ])
    const found = outside.left((key) => reasons.get(key))
    expect(found).toEqual([left(1, 'landed', 'boom'), left(3, 'in_doubt', 'unknown_outcome')])
    expect(outside.references(found)).toEqual([reference(1, 'é')])
    expect(outside.references([])).toEqual([])
  })

  it('C4: is undone the last first, whichever was asked for first', () => {
    const outside = new Outside()
    for (const seq of [1, 2, 3]) outside.requested(asked(seq))
    outside.sealed(answer(1, 1, { undo, n: 21 }))
    outside.sealed(answer(2, 2, { undo, n: 23 }))
    outside.sealed(answer(3, 3, { undo, n: 22 }))
    expect(outside.undoable().map(({ asked: { seq } }) => seq)).toEqual([2, 3, 1])
    expect(outside.undoable()[0]).toEqual({
      asked: asked(2),
      sealed: answer(2, 2, { undo, n: 23 })
    })
  })

  it('L7: keeps the success of a write that is asked for or answered again', () => {
    const outside = new Outside()
    outside.requested(asked(1))
    outside.sealed(answer(1, 1, { undo }))
    outside.requested(asked(1, { attempt: 2 }))
    outside.sealed(answer(1, 1, { attempt: 2, n: 30 }))
    expect(outside.undoable()).toEqual([{ asked: asked(1), sealed: answer(1, 1, { undo }) }])
  })

  it('L7: is in doubt again where a write that failed is asked for again', () => {
    const outside = new Outside()
    outside.requested(asked(1))
    outside.sealed(answer(1, definite, { ok: false }))
    expect(outside.hasActed).toBe(false)
    outside.requested(asked(1, { attempt: 2 }))
    expect(leftOf(outside)).toEqual([left(1, 'in_doubt', 'unknown_outcome')])
    outside.sealed(answer(1, 1, { attempt: 2 }))
    expect(leftOf(outside)).toEqual([left(1, 'landed', 'irreversible')])
  })

  it('C4: is of a call of its own for each path, step, number and request', () => {
    const outside = new Outside()
    outside.requested(asked(1))
    outside.sealed(answer(1, 1, { path: 'root/all/other' }))
    outside.sealed(answer(1, 1, { step: 2 }))
    outside.sealed(answer(1, 1, { seq: 2 }))
    outside.sealed(answer(1, 1, { requestHash: sha256Hex('other') }))
    expect(leftOf(outside)).toEqual([left(1, 'in_doubt', 'unknown_outcome')])
    for (const place of [{ path: 'root/all/other' }, { step: 2 }])
      outside.requested(asked(1, place))
    expect(leftOf(outside)).toHaveLength(3)
  })

  it('C4: is joined by that of an overlay inside, with what was put off there', () => {
    const [outer, within] = [new Outside(), new Outside()]
    outer.requested(asked(1))
    within.requested(asked(2))
    within.deferred.push({ path: inner } as never)
    outer.deferred.push({ path: 'root/first' } as never)
    outer.join(within)
    expect(leftOf(outer).map(({ key }) => key)).toEqual([asked(1).key, asked(2).key])
    expect(outer.deferred.map(({ path }) => path)).toEqual(['root/first', inner])
    expect(leftOf(within)).toHaveLength(1)
  })
})

describe('what a journal says of the writes of a run', () => {
  const settled = (success: boolean, more: object = {}) =>
    ({
      ...{ k: 'settled', run: runId, n: 30, at: 3, path: inner, step: 1, attempt: 1, sent: true },
      response: success ? succeeded(1) : failed('boom'),
      ...more
    }) as const
  const overlay = { writes: [], reads: [], used: [] }
  const ended = (outcome: string, path = 'root/all') =>
    ({
      ...{ k: 'scope', run: runId, n: 40, at: 4, path, step: 1, attempt: 1, outcome },
      response: failed('boom')
    }) as never

  function taken(...entries: readonly object[]): SentEffects {
    const effects = new SentEffects()
    for (const entry of entries) effects.take(entry as never, false)
    return effects
  }
  const doubt = (seq: number) => ({ path: inner, effect: 'pay', key: asked(seq).key })
  const seqs = ({ landed }: SentEffects) => landed.map(({ seq }) => seq)

  it('L7: is in doubt until it is answered', () => {
    expect(taken(asked(1), asked(2)).inDoubt).toEqual([doubt(1), doubt(2)])
    const effects = taken(asked(1), asked(2), answer(1, { paid: 1 }))
    expect([effects.inDoubt, effects.landed]).toEqual([[doubt(2)], [reference(1, { paid: 1 })]])
  })

  it('L7: has no part of what was read', () => {
    const effects = taken(answer(1, 1), settled(false))
    expect([effects.landed, effects.inDoubt]).toEqual([[], []])
    expect(taken(asked(1), answer(1, 1, { step: 2 })).inDoubt).toEqual([doubt(1)])
  })

  it('L7: has landed where the attempt failed, and has a receipt where it succeeded', () => {
    const wrote = [asked(1), asked(2), answer(1, 1), answer(2, 2)]
    expect(seqs(taken(...wrote, settled(false)))).toEqual([1, 2])
    expect(seqs(taken(...wrote, settled(true)))).toEqual([])
    expect(seqs(taken(...wrote, settled(true, { attempt: 2 })))).toEqual([1, 2])
    expect(seqs(taken(...wrote, settled(true, { overlay })))).toEqual([1, 2])
    expect(seqs(taken(...wrote, settled(false, { overlay })))).toEqual([1, 2])
  })

  it.each<[string, string, boolean, readonly number[]]>([
    ['aborted', 'root/all', false, [3]],
    ['committed', 'root/all', true, [3]],
    ['committed', 'root/all', false, [3, 1]],
    ['conflict', 'root/all', true, [3, 1]],
    ['aborting', 'root/all', false, [3, 1]],
    ['released', 'root/all', true, [3, 1]],
    ['aborted', 'root/al', false, [3, 1]],
    ['aborted', inner, false, [3, 1]],
    ['aborted', 'root', false, [3]]
  ])('C4: is covered by the end of its overlay: %s %s, receipt: %s', (end, path, is, landed) => {
    const effects = taken(asked(1), answer(1, 1), settled(true, { overlay }))
    const other = { path: 'root/other' }
    for (const entry of [asked(3, other), answer(3, 3, other), settled(false, other)]) {
      effects.take(entry as never, false)
    }
    effects.take(ended(end, path), is)
    expect(seqs(effects)).toEqual(landed)
  })
})
