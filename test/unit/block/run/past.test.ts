import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Requested, Sealed } from '../../../../src/block/run/entries.js'
import { Past, restorePast } from '../../../../src/block/run/past.js'
import { type Hash, hashJson } from '../../../../src/core/index.js'

/** What happens to an attempt: a call is asked for or answered, results are dropped, it fails. */
type Act =
  | { readonly act: 'request' | 'seal' | 'fail' | 'fail_certainly'; readonly call: Call }
  | { readonly act: 'drop'; readonly seqs: readonly number[]; readonly isStated: boolean }
  | { readonly act: 'next' }

interface Call {
  readonly seq: number
  readonly asks: string
}

const SEQS = 4
const call: fc.Arbitrary<Call> = fc.record({
  seq: fc.integer({ min: 1, max: SEQS }),
  asks: fc.constantFrom('a', 'b')
})
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      act: fc.constantFrom(...(['request', 'seal', 'seal', 'fail', 'fail_certainly'] as const)),
      call
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('drop' as const),
      seqs: fc.subarray([1, 2, 3, 4], { minLength: 1 }),
      isStated: fc.boolean()
    })
  },
  { weight: 1, arbitrary: fc.constant({ act: 'next' } as const) }
)

const hashOf = (asks: string): Hash => hashJson(asks)
const place = { run: 'r', path: 'root/a', step: 1, at: 0, effect: 'act' } as const

/** Plays acts that a pump could record; others are passed over. */
function played(acts: readonly Act[]): Past {
  let past = new Past({ step: 1, attempt: 1 })
  for (const [n, one] of acts.entries()) {
    if (one.act === 'next')
      past = new Past({ step: 1, attempt: past.attempt + 1 }, { earlier: past })
    else if (one.act === 'drop') past = past.without(one.seqs, one)
    else take(past, { n, one })
  }
  return past
}

function take(
  past: Past,
  { n, one }: { readonly n: number; readonly one: Extract<Act, { readonly call: Call }> }
): void {
  const { seq, asks } = one.call
  const requestHash = hashOf(asks)
  const asked = past.requested.get(seq)
  const isAnswered = past.recorded.has(seq)
  if (isAnswered || past.contradiction(seq, requestHash) !== undefined) return
  const entry = { ...place, attempt: past.attempt, n, seq, requestHash }
  if (one.act === 'request') {
    const request = {
      ...entry,
      k: 'requested',
      sideEffects: 'idempotent',
      key: requestHash
    } as const
    if (asked === undefined) past.requested.set(seq, request satisfies Requested)
    return
  }
  const ok = one.act === 'seal'
  const definite = one.act === 'fail_certainly'
  const body = ok ? n : { definite, details: {}, reason: 'no' }
  const salt = hashOf('salt')
  const sealed: Sealed = { ...entry, k: 'sealed', ok, body, salt, responseHash: hashJson(body) }
  past.recorded.add(sealed)
}

/** Everything that a later attempt asks of what earlier ones have left behind. */
function told(past: Past): unknown {
  const calls = Array.from({ length: SEQS }, (_, at) => at + 1).flatMap((seq) =>
    ['a', 'b'].map((asks) => ({ seq, requestHash: hashOf(asks) }))
  )
  const { written, unanswered } = past.outside()
  return {
    hasSent: past.hasSent(),
    outside: [written, unanswered].map((entries) => entries.map(({ n }) => n)),
    keys: [...past.keys()].sort(),
    calls: calls.map(({ seq, requestHash }) => ({
      kept: past.kept({ seq, requestHash })?.answer.body,
      wasSent: past.wasSent(seq, requestHash),
      contradiction: past.contradiction(seq, requestHash)?.n
    })),
    sent: [...past.sent()].map(({ n }) => n).sort()
  }
}

describe('what attempts leave behind', () => {
  it('D6, L7: is the same when a checkpoint has written it out, whatever was dropped', () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 14 }), (acts) => {
        const past = played(acts)
        const restored = restorePast(past.saved())
        expect(restored && told(restored)).toEqual(told(past))
      }),
      { numRuns: 2_000 }
    )
  })

  it('L7: gives a call the answer that any dropped part of the attempt has got', () => {
    const acts: Act[] = [
      { act: 'seal', call: { seq: 1, asks: 'a' } },
      { act: 'seal', call: { seq: 2, asks: 'a' } },
      { act: 'drop', seqs: [1, 2], isStated: true },
      { act: 'seal', call: { seq: 1, asks: 'b' } },
      { act: 'drop', seqs: [1], isStated: true }
    ]
    const kept = played(acts).kept({ seq: 2, requestHash: hashOf('a') })
    expect(kept?.answer.body).toBe(1)
  })

  it('C3: states each write once, whichever part of the attempt has its answer', () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 14 }), (acts) => {
        const all = acts.map((one) => (one.act === 'drop' ? { ...one, isStated: true } : one))
        const past = played(all)
        const { written, unanswered } = past.outside()
        const asked = [...past.sent()]
        const stated = [...written, ...unanswered].map(({ seq, requestHash }) => seq + requestHash)
        expect(new Set(stated)).toEqual(new Set(asked.map((one) => one.seq + one.requestHash)))
        expect(stated.length).toBeLessThanOrEqual(asked.length)
        expect(new Set(written.map(({ n }) => n)).size).toBe(written.length)
      }),
      { numRuns: 1_000 }
    )
  })
})
