import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type {
  AttemptKey,
  Sealed,
  SignalGiven,
  WaitBegun
} from '../../../../src/block/run/entries.js'
import {
  hashOfSignal,
  isForSignal,
  isTimeout,
  RunSignals,
  signalBody,
  signalIn,
  waitsForSignals
} from '../../../../src/block/run/signals.js'
import { builtInEffects } from '../../../../src/code/calls.js'
import { canonicalize, type Json, limits, sha256Hex } from '../../../../src/core/index.js'
import { cases } from '../../../support/effort.js'
import { runId } from '../../../support/run-of-test.js'

/** B3, W10: the signals of a run, as they come, are taken, come back and are counted. */

const hash = sha256Hex('hash')

function signal(n: number, name: string, { id = `id-${n}`, value = n as Json } = {}): SignalGiven {
  return { k: 'signal', run: runId, n, at: n, name, id, value, by: 'somebody' }
}

function sealed(given: SignalGiven, place: AttemptKey, seq: number): Sealed {
  const { signal: effect } = builtInEffects
  const hashes = { requestHash: hash, responseHash: hash, salt: hash }
  const body = signalBody(given)
  return { k: 'sealed', run: runId, n: 1, at: 2, ...place, seq, effect, ...hashes, ok: true, body }
}

function wait(n: number, name: string, more: Partial<WaitBegun> = {}): WaitBegun {
  const asked = { reason: 'external', request: { signal: name }, requestHash: hash }
  const place = { path: 'root/a', step: 0, attempt: 1, seq: n, token: `token-${n}` }
  const base = { k: 'wait', run: runId, n, at: 2, actions: ['signal'], digest: hash, due: null }
  return { ...base, ...place, ...asked, ...more } as WaitBegun
}

const places: readonly AttemptKey[] = [
  { path: 'root/a', step: 0, attempt: 1 },
  { path: 'root/a', step: 0, attempt: 2 },
  { path: 'root/a/b', step: 1, attempt: 1 },
  { path: 'root/ab', step: 0, attempt: 1 }
]
const place = fc.nat(places.length - 1)
const name = fc.constantFrom('paid', 'sent')
const step = fc.oneof(
  fc.record({ kind: fc.constant('send' as const), name }),
  fc.record({ kind: fc.constant('take' as const), name, place }),
  fc.record({ kind: fc.constantFrom('keep' as const, 'back' as const), place }),
  fc.record({ kind: fc.constant('drop' as const), place, calls: fc.array(fc.nat(5)) }),
  fc.record({
    kind: fc.constant('overlay' as const),
    path: fc.constantFrom('root', 'root/a'),
    isKept: fc.boolean()
  }),
  fc.constant({ kind: 'checkpoint' as const })
)

/** A signal of the model: by whom it is taken, and by which call. */
interface Modelled {
  readonly given: SignalGiven
  taken?: { readonly place: AttemptKey; readonly seq: number } | undefined
}

it('B3: are taken once by what succeeds, and come back to their place in the order', () => {
  const property = fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
    let signals = new RunSignals()
    let model: Modelled[] = []
    let [n, seq] = [0, 0]
    const sent: SignalGiven[] = []
    const keep = (isKept: (one: Modelled) => boolean) => {
      model = model.filter((one) => one.taken === undefined || !isKept(one))
    }
    const back = (isBack: (taken: NonNullable<Modelled['taken']>) => boolean) => {
      for (const one of model) if (one.taken && isBack(one.taken)) one.taken = undefined
    }
    for (const one of steps) {
      if (one.kind === 'send') {
        n += 1
        const given = signal(n, one.name)
        sent.push(given)
        model.push({ given })
        signals.take(given)
      } else if (one.kind === 'take') {
        const found = model.find(({ given, taken }) => {
          return taken === undefined && given.name === one.name
        })
        expect(signals.next(one.name)).toEqual(found?.given)
        const at = places[one.place]
        if (found === undefined || at === undefined) continue
        seq += 1
        found.taken = { place: at, seq }
        signals.sealed(sealed(found.given, at, seq))
      } else if (one.kind === 'keep') {
        const at = places[one.place] as AttemptKey
        keep(({ taken }) => taken?.place === at)
        signals.keep(at)
      } else if (one.kind === 'back') {
        const at = places[one.place] as AttemptKey
        back((taken) => taken.place === at)
        signals.giveBack(at)
      } else if (one.kind === 'drop') {
        const at = places[one.place] as AttemptKey
        back((taken) => taken.place === at && one.calls.includes(taken.seq))
        signals.giveBack(at, one.calls)
      } else if (one.kind === 'overlay') {
        const isBelow = (path: string) => path.startsWith(`${one.path}/`)
        if (one.isKept) keep(({ taken }) => taken !== undefined && isBelow(taken.place.path))
        else back((taken) => isBelow(taken.place.path))
        signals.overlayEnded(one.path, one)
      } else {
        const saved = signals.save()
        if (saved === undefined) throw new Error('there are few')
        signals = new RunSignals()
        signals.restore(saved)
        back(() => true)
      }
      expect(signals.waiting()).toEqual(
        model.map(({ given, taken }) => ({ given, takenAt: taken?.place.path ?? null }))
      )
    }
    for (const given of sent) expect(signals.known(given.id)).toBe(hashOfSignal(given))
    expect(signals.known('never sent')).toBeUndefined()
  })
  fc.assert(property, { numRuns: cases({ usual: 100, long: 1_000 }) })
})

describe('the signals of a run', () => {
  it('B3: are given to the first wait that asks for one and is ready, once something moved', () => {
    const signals = new RunSignals()
    const waits = { all: () => [wait(9, 'paid'), wait(4, 'paid'), wait(2, 'sent')] }
    const ready = () => true
    expect(signals.delivery(waits, ready)).toBeUndefined()
    const given = signal(1, 'paid')
    signals.take(given)
    expect(signals.delivery(waits, ready)).toEqual({ wait: wait(4, 'paid'), given })
    expect(signals.delivery(waits, ({ n }) => n === 9)).toEqual({ wait: wait(9, 'paid'), given })
    expect(signals.delivery(waits, () => false)).toBeUndefined()
    // Nothing has moved since: nobody is asked again.
    expect(signals.delivery(waits, ready)).toBeUndefined()
    signals.asked()
    expect(signals.delivery(waits, ready)?.given).toBe(given)
    expect(signals.delivery({ all: () => [wait(1, 'paid', { request: 'paid' })] }, ready)).toBe(
      undefined
    )
  })

  it('are refused where the run has as many as it may have', () => {
    const full = { accepted: false, reason: 'too_many_signals' }
    const signals = new RunSignals()
    for (let n = 1; n < limits.RUN_SIGNALS_WAITING_MAX; n += 1) signals.take(signal(n, 'paid'))
    expect(signals.refusal(1)).toBeUndefined()
    signals.take(signal(limits.RUN_SIGNALS_WAITING_MAX, 'paid'))
    expect(signals.refusal(1)).toEqual(full)
    const [at = { path: '', step: 0, attempt: 0 }] = places
    signals.sealed(sealed(signal(1, 'paid'), at, 1))
    expect(signals.refusal(1)).toEqual(full)
    signals.keep(at)
    expect(signals.refusal(1)).toBeUndefined()
  })

  it('are refused where they have as many bytes as they may have', () => {
    const signals = new RunSignals()
    const half = 'x'.repeat(limits.RUN_SIGNALS_BYTES_MAX / 2 - canonicalize('').length)
    const given = signal(1, 'paid', { value: half })
    signals.take(given)
    expect(signals.refusal(half)).toBeUndefined()
    expect(signals.refusal(`${half}x`)).toMatchObject({ reason: 'too_many_signals' })
    const [at = { path: '', step: 0, attempt: 0 }] = places
    signals.sealed(sealed(given, at, 1))
    signals.keep(at)
    expect(signals.refusal(`${half}${half}`)).toBeUndefined()
  })

  it('are as many as they may be in all, and too many of them are in no checkpoint', () => {
    const signals = new RunSignals()
    const known: [string, ReturnType<typeof hashOfSignal>][] = []
    for (let n = 1; n < limits.RUN_SIGNALS_MAX; n += 1) known.push([`id-${n}`, hash])
    signals.restore({ open: [], known })
    expect(signals.refusal(1)).toBeUndefined()
    signals.restore({ open: [], known: [...known, ['last', hash]] })
    expect(signals.refusal(1)).toMatchObject({ reason: 'too_many_signals' })
    const saved = (count: number) => {
      signals.restore({ open: [], known: known.slice(0, count) })
      return signals.save()?.known.length
    }
    expect(saved(limits.RECORDED_ANSWERS_MAX)).toBe(limits.RECORDED_ANSWERS_MAX)
    expect(saved(limits.RECORDED_ANSWERS_MAX + 1)).toBeUndefined()
  })

  it('are named by results of calls that asked for one, and by no other', () => {
    const [at = { path: '', step: 0, attempt: 0 }] = places
    const result = sealed(signal(1, 'paid'), at, 1)
    expect(signalIn(result)).toBe('id-1')
    expect(signalIn({ ...result, effect: builtInEffects.wait })).toBeUndefined()
    expect(signalIn({ ...result, ok: false })).toBeUndefined()
    expect(signalIn({ ...result, body: null })).toBeUndefined()
    expect(signalIn({ ...result, body: { action: 'timeout', id: 'id-1' } })).toBeUndefined()
    expect(signalIn({ ...result, body: { action: 'signal', id: 1 } })).toBeUndefined()
    expect([{ action: 'timeout' }, { action: 'signal' }, null].map(isTimeout)).toEqual([
      true,
      false,
      false
    ])
    expect(hashOfSignal(signal(1, 'paid'))).not.toBe(hashOfSignal(signal(1, 'sent')))
  })

  it('are asked for by waits of that kind alone, in their order', () => {
    const other = wait(1, 'paid', { reason: 'confirmation' })
    const resumed = wait(2, 'paid', { actions: ['resume', 'signal'] })
    expect([other, resumed, wait(3, 'paid')].map(isForSignal)).toEqual([false, false, true])
    const all = () => [wait(7, 'a'), other, wait(3, 'b'), resumed]
    expect(waitsForSignals({ all }).map(({ n }) => n)).toEqual([3, 7])
    expect(waitsForSignals({ all: () => [] })).toEqual([])
  })
})
