import { describe, expect, it } from 'vitest'
import type { Requested, Sealed } from '../../../../src/block/run/entries.js'
import { Past, restorePast } from '../../../../src/block/run/past.js'
import { RecordedResults } from '../../../../src/block/run/recorded-results.js'
import { type Json, limits, sha256Hex } from '../../../../src/core/index.js'

/** L7: which answers a later attempt keeps, and what it may not ask for again. */

const place = { run: 'r', path: 'root/a', step: 1, at: 0, effect: 'act' } as const
const hash = sha256Hex('request')
const other = sha256Hex('other')

function asked(seq: number, requestHash = hash): Requested {
  const named = { requestHash, key: requestHash, sideEffects: 'idempotent' } as const
  return { ...place, ...named, k: 'requested', attempt: 1, n: seq, seq }
}

function sealed(seq: number, more: Partial<Sealed> = {}): Sealed {
  const answer = { requestHash: hash, responseHash: hash, salt: hash, ok: true, body: seq as Json }
  return { ...place, k: 'sealed', attempt: 1, n: 100 + seq, seq, ...answer, ...more }
}

const failure = (definite: boolean | undefined) => ({
  ok: false,
  body: (definite === undefined ? null : { definite, reason: 'no', details: null }) as Json
})

interface Told {
  readonly requests?: readonly Requested[]
  readonly answers?: readonly Sealed[]
  readonly earlier?: Past
  readonly attempt?: number
  readonly keepsAll?: boolean
}

function pastOf({ requests = [], answers = [], earlier, attempt = 1, keepsAll }: Told): Past {
  const past = new Past({ step: 1, attempt }, { earlier, keepsAll: keepsAll ?? false })
  for (const one of requests) past.requested.set(one.seq, one)
  for (const one of answers) past.recorded.add(one)
  return past
}

const call = (seq: number, requestHash = hash) => ({ seq, requestHash })
const body = (past: Past, seq: number, requestHash = hash) =>
  past.kept(call(seq, requestHash))?.answer.body

describe('the answers of an attempt', () => {
  it('K9: were given to its code where they have a number', () => {
    expect([pastOf({}).hasAnswered, pastOf({}).answers]).toEqual([false, 0])
    const confirmed = pastOf({ answers: [sealed(0)] })
    expect([confirmed.hasAnswered, confirmed.answers]).toEqual([false, 1])
    const given = pastOf({ answers: [sealed(1)] })
    expect([given.hasAnswered, given.answers]).toEqual([true, 1])
  })

  it('L7: are kept before the first failure, and after it where they were sent', () => {
    const answers = [sealed(1), sealed(3, failure(true)), sealed(4), sealed(5)]
    const past = pastOf({ requests: [asked(5)], answers })
    expect([1, 2, 3, 4, 5].map((seq) => body(past, seq))).toEqual([
      1,
      undefined,
      undefined,
      undefined,
      5
    ])
    expect(body(past, 1, other)).toBeUndefined()
    const whole = pastOf({ answers: [sealed(1), sealed(2)] })
    expect([body(whole, 1), body(whole, 2)]).toEqual([1, 2])
  })

  it('L7: are kept where a part was dropped, before what failed in it', () => {
    const first = pastOf({ answers: [sealed(1), sealed(2, failure(true)), sealed(3)] })
    const rest = first.without([3], { isStated: true })
    expect([1, 2, 3].map((seq) => body(rest, seq))).toEqual([1, undefined, undefined])
    const later = pastOf({ attempt: 2, earlier: first, answers: [sealed(4)] })
    // An earlier attempt has its own failures.
    expect([body(later, 4), body(later, 1)]).toEqual([4, undefined])
    const dropped = pastOf({ answers: [sealed(1), sealed(5)] }).without([5], { isStated: true })
    dropped.recorded.add(sealed(3, failure(true)))
    expect([body(dropped, 1), body(dropped, 5)]).toEqual([1, undefined])
  })

  it('L10: were given to a call before, in this part or an earlier one', () => {
    const first = pastOf({ answers: [sealed(1), sealed(2, failure(true))] })
    const later = pastOf({ attempt: 2, earlier: first, answers: [sealed(3)] })
    const given = (seq: number, requestHash = hash, responseHash = hash) =>
      later.hasGiven({ seq, requestHash, responseHash })
    expect([1, 2, 3, 4].map((seq) => given(seq))).toEqual([true, false, true, false])
    expect([
      given(1, other),
      given(3, other),
      given(1, hash, other),
      given(3, hash, other)
    ]).toEqual([false, false, false, false])
    expect(pastOf({}).hasGiven({ seq: 1, requestHash: hash, responseHash: hash })).toBe(false)
  })
})

describe('what an attempt has sent', () => {
  it.each<[string, Partial<Sealed> | undefined, boolean]>([
    ['without an answer', undefined, true],
    ['with success', {}, true],
    ['with a failure that may have done something', failure(false), true],
    ['with a failure that says nothing', failure(undefined), true],
    ['with a failure that certainly did nothing', failure(true), false]
  ])('L7: may have happened: %s', (_, answer, isSent) => {
    const past = pastOf({
      requests: [asked(1)],
      answers: answer === undefined ? [] : [sealed(1, answer)]
    })
    expect([past.hasSent(), past.wasSent(1, hash)]).toEqual([isSent, isSent])
    expect(past.contradiction(1, other)).toEqual(isSent ? asked(1) : undefined)
    expect(past.contradiction(1, hash)).toBeUndefined()
    const later = pastOf({ attempt: 2, earlier: past })
    expect([later.hasSent(), later.wasSent(1, hash)]).toEqual([isSent, isSent])
    // What another attempt has sent stands in no place of this one.
    expect([later.contradiction(1, other), [...later.sent()]]).toEqual([undefined, []])
  })

  it('L7: is of its own number and request', () => {
    const past = pastOf({ requests: [asked(1)] })
    expect([past.wasSent(2, hash), past.wasSent(1, other)]).toEqual([false, false])
    expect([pastOf({}).hasSent(), pastOf({}).wasSent(1, hash)]).toEqual([false, false])
    const answered = pastOf({ answers: [sealed(1)] })
    expect([answered.hasSent(), answered.isRequested(1)]).toEqual([false, false])
  })

  it('L10: stays sent where its part was dropped', () => {
    const past = pastOf({ requests: [asked(1), asked(2)] }).without([1], { isStated: true })
    expect([past.isRequested(1), past.isRequested(2)]).toEqual([false, true])
    expect([past.hasSentAs(1), past.hasSentAs(2), past.hasSentAs(3)]).toEqual([true, true, false])
    const later = pastOf({ attempt: 2, earlier: past })
    expect(later.hasSentAs(1)).toBe(false)
    expect([...past.sent()].map(({ seq }) => seq).sort()).toEqual([1, 2])
  })
})

describe('an attempt with many answers', () => {
  const many = (more: Told = {}) => {
    const past = pastOf({ requests: [asked(3)], ...more })
    for (let seq = 1; seq <= limits.RECORDED_ANSWERS_MAX + 1; seq += 1) {
      past.recorded.add(sealed(seq, { n: 100 + seq }))
    }
    return past
  }

  it('D6: is not whole in memory, nor is one after it', () => {
    expect([pastOf({}).isWhole, many().isWhole]).toEqual([true, false])
    expect(pastOf({ attempt: 2, earlier: many() }).isWhole).toBe(false)
    expect(pastOf({ attempt: 2, earlier: pastOf({ answers: [sealed(1)] }) }).isWhole).toBe(true)
  })

  it('L7: keeps the answers of writes whole, and in a verification all of them', () => {
    expect(
      many()
        .recorded.whole()
        .map(({ seq }) => seq)
    ).toEqual([3])
    const all = many({ keepsAll: true }).recorded.whole()
    expect(all).toHaveLength(limits.RECORDED_ANSWERS_MAX + 1)
    const parted = many({ keepsAll: true }).without([2], { isStated: false })
    expect(parted.recorded.whole()).toHaveLength(limits.RECORDED_ANSWERS_MAX)
    expect(parted.outside()).toMatchObject({ written: [{ seq: 3 }], unanswered: [] })
  })

  it('D6: says of a part that evidence leaves it out', () => {
    const past = pastOf({ requests: [asked(1)], answers: [sealed(1)] })
    const parted = past.without([1], { isStated: false })
    expect(parted.saved().map(({ isStated }) => isStated)).toEqual([false, undefined])
    expect([parted.outside(), [...parted.keys()]]).toEqual([{ written: [], unanswered: [] }, []])
    const restored = restorePast(parted.saved())
    expect(restored?.outside()).toEqual({ written: [], unanswered: [] })
    expect(restorePast([])).toBeUndefined()
  })
})

describe('recorded results', () => {
  const results = (entries: readonly Sealed[], staysWhole = false) => {
    const one = new RecordedResults(() => staysWhole)
    for (const entry of entries) one.add(entry)
    return one
  }
  const looks = (from: number, count: number, more: Partial<Sealed> = {}) =>
    Array.from({ length: count }, (_, at) => sealed(from + at, more))
  const most = limits.RECORDED_ANSWERS_MAX
  const long = 'x'.repeat(limits.RECORDED_BODY_LENGTH_MAX)

  it('K9: have the number of their first entry, and of the call that failed first', () => {
    expect([results([]).firstEntry, results([]).firstFailure]).toEqual([
      0,
      Number.POSITIVE_INFINITY
    ])
    const failed = results([sealed(2), sealed(5, failure(true)), sealed(3, failure(true))])
    expect([failed.firstEntry, failed.firstFailure, failed.hasCalls]).toEqual([102, 5, true])
    expect(results([sealed(0)]).hasCalls).toBe(false)
  })

  it('K9: hold what they are, until there are too many', () => {
    const few = results(looks(1, most))
    expect([few.held, few.isWhole, few.lost, few.length]).toEqual([most, true, 0, most])
    const many = results(looks(1, most + 1, { body: null }))
    // One body, one effect and one request.
    expect([many.held, many.isWhole, many.lost, many.length]).toEqual([3, false, 0, most + 1])
    expect(results(looks(1, most + 1), true).whole()).toHaveLength(most + 1)
  })

  it('K9: keep confirmations, listings and what is undone as they are', () => {
    const special = [
      sealed(0),
      sealed(1, { effect: 'state.list' }),
      sealed(2, { undo: null }),
      sealed(3, { undo: { effect: 'x', request: null, sideEffects: 'none' } })
    ]
    const many = results([...special, ...looks(4, most)])
    expect(many.whole()).toEqual(special)
    expect([many.hasEffect('state.list'), many.hasEffect('act'), many.hasEffect('no')]).toEqual([
      true,
      true,
      false
    ])
    const again = sealed(1, { effect: 'state.list', body: ['k'], n: 400 })
    many.add(again)
    expect([many.find(1), many.length]).toEqual([again, most + 4])
    expect(() => many.add(sealed(9))).toThrow('listings stay whole')
  })

  it('K9: keep short bodies up to a number, and say which are lost', () => {
    const bodies = looks(1, 60).map((one, at) => ({ ...one, body: `${at} ${long.slice(10)}` }))
    const many = results(bodies)
    expect(many.lost).toBe(60 - limits.RECORDED_BODIES_MAX)
    const lost = many.lostFrom(1, 5)
    expect(lost.map(({ seq }) => seq)).toEqual([33, 34, 35, 36, 37])
    expect(lost[0]).toEqual({
      ...{ seq: 33, effect: 'act', requestHash: hash, ok: true, body: undefined },
      responseHash: hash
    })
    expect(many.lostFrom(50, 100).map(({ seq }) => seq)).toEqual([
      ...[50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60]
    ])
    expect(many.lostFrom(500, 2).map(({ seq }) => seq)).toEqual([33, 34])
    expect(results(looks(1, 3)).lostFrom(1, 5)).toEqual([])
    expect([many.seqsFrom(57), results(bodies.slice(0, 4)).seqsFrom(2)]).toEqual([
      [58, 59, 60],
      [3, 4]
    ])
    const quoted = (length: number) =>
      results(looks(1, most + 1, { body: 'x'.repeat(length) })).lost
    expect([
      quoted(limits.RECORDED_BODY_LENGTH_MAX - 2),
      quoted(limits.RECORDED_BODY_LENGTH_MAX - 1)
    ]).toEqual([0, most + 1])
  })

  it('K9: have a place for each answer, and none behind the last', () => {
    const many = results(looks(1, most + 1))
    expect([many.at(most)?.seq, many.at(most + 1), many.find(most + 2)]).toEqual([
      most + 1,
      undefined,
      undefined
    ])
    expect([many.has(1), many.has(most + 2)]).toEqual([true, false])
    expect([most, 1, most - 1, 2, most].map((seq) => many.find(seq)?.body)).toEqual([
      ...[most, 1, most - 1, 2, most]
    ])
  })

  it('K9: have the same first failure in parts as in the whole', () => {
    const many = results([
      ...looks(1, most + 1),
      sealed(90, failure(true)),
      sealed(80, failure(true))
    ])
    const [low, high] = [results([]), results([])]
    many.part((seq) => seq < 20, low, high)
    expect([low.firstFailure, high.firstFailure]).toEqual([Number.POSITIVE_INFINITY, 90])
    expect([low.firstEntry, high.firstEntry, low.length, high.length]).toEqual([101, 101, 19, 16])
    expect([low.hasCalls, high.find(80)?.ok, high.find(25)?.body]).toEqual([true, false, 25])
  })

  it('K9: count the calls of an attempt in 16 bits', () => {
    const many = results(looks(1, most + 1))
    many.add(sealed(0xffff))
    expect(many.find(0xffff)?.seq).toBe(0xffff)
    expect(() => many.add(sealed(0x10000))).toThrow('can be counted in 16 bits')
  })
})
