import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/core/index.js'
import { checkLinearizable, type TimedOperation } from '../../../../src/testing/index.js'
import { cases } from '../../../support/effort.js'

/** One operation on the key `x`, from its call to its return. */
const read = (value: Json, calledAt: number, returnedAt?: number): TimedOperation =>
  timed({ reads: { x: value } }, calledAt, returnedAt)
const write = (value: Json, calledAt: number, returnedAt?: number): TimedOperation =>
  timed({ writes: { x: value } }, calledAt, returnedAt)
const change = (
  [before, after]: readonly [Json, Json],
  calledAt: number,
  returnedAt?: number
): TimedOperation => timed({ reads: { x: before }, writes: { x: after } }, calledAt, returnedAt)

function timed(
  operation: Omit<TimedOperation, 'calledAt' | 'returnedAt'>,
  calledAt: number,
  returnedAt: number | undefined
): TimedOperation {
  return { ...operation, calledAt, ...(returnedAt === undefined ? {} : { returnedAt }) }
}

type History = readonly TimedOperation[]

const good: readonly (readonly [string, History])[] = [
  ['nothing', []],
  ['a read of what was never written', [read(null, 0, 1)]],
  ['a read after a write', [write(1, 0, 1), read(1, 2, 3)]],
  ['a read beside a write that sees it', [write(1, 0, 4), read(1, 1, 2)]],
  ['a read beside a write that does not', [write(1, 0, 4), read(null, 1, 2)]],
  ['two reads beside a write, old then new', [write(1, 0, 9), read(null, 1, 2), read(1, 3, 4)]],
  ['writes beside each other, in either order', [write(1, 0, 5), write(2, 0, 5), read(1, 6, 7)]],
  ['a write that never returned and was seen', [write(1, 0), read(1, 5, 6)]],
  ['a write that never returned and was not', [write(1, 0), read(null, 5, 6)]],
  ['increments in a row', [change([null, 1], 0, 5), change([1, 2], 1, 6), read(2, 7, 8)]],
  ['moments that touch', [write(1, 0, 1), read(null, 1, 2)]],
  [
    'a register whose writes overlap reads of other processes',
    [write(0, 0, 1), write(1, 2, 9), read(1, 3, 4), write(0, 5, 8), read(0, 10, 11)]
  ],
  [
    'keys that have nothing to do with each other',
    [write(1, 0, 1), timed({ writes: { y: 2 } }, 0, 1), timed({ reads: { y: 2 } }, 2, 3)]
  ]
]

const bad: readonly (readonly [string, History])[] = [
  ['a read of what nothing wrote', [read(7, 0, 1)]],
  ['a stale read', [write(1, 0, 1), read(null, 2, 3)]],
  ['a read from the future', [read(1, 0, 1), write(1, 2, 3)]],
  ['two reads beside a write, new then old', [write(1, 0, 9), read(1, 1, 2), read(null, 3, 4)]],
  ['a lost update', [change([null, 1], 0, 5), change([null, 1], 1, 6)]],
  [
    'a write that never returned, seen and then not',
    [write(1, 0), read(1, 5, 6), read(null, 7, 8)]
  ],
  ['a return to an earlier value', [write(1, 0, 1), write(2, 2, 3), read(2, 4, 5), read(1, 6, 7)]],
  [
    'readers that disagree about the order of two writes',
    [write(1, 0, 9), write(2, 0, 9), read(1, 10, 11), read(2, 12, 13)]
  ],
  [
    'two keys of which one transaction sees half of another',
    [
      timed({ writes: { x: 1, y: 1 } }, 0, 9),
      timed({ reads: { x: 1, y: null } }, 1, 8),
      timed({ reads: { x: 1, y: 1 } }, 10, 11)
    ]
  ],
  [
    'a write skew',
    [
      timed({ reads: { x: null, y: null }, writes: { x: 1 } }, 0, 9),
      timed({ reads: { x: null, y: null }, writes: { y: 1 } }, 0, 9)
    ]
  ]
]

describe('the check of histories', () => {
  it.each(good)('accepts %s', (_, history) => {
    const found = checkLinearizable(history)
    expect(found.verdict).toBe('linearizable')
    if (found.verdict === 'linearizable') expect(isFit(history, found.order)).toBe(true)
  })

  it.each(bad)('refuses %s', (_, history) => {
    expect(checkLinearizable(history).verdict).toBe('not_linearizable')
  })

  it('names the operations that cannot be next', () => {
    const history = [write(1, 0, 1), write(2, 2, 3), read(1, 4, 5)]
    expect(checkLinearizable(history)).toEqual({ verdict: 'not_linearizable', stuck: [2] })
  })

  it('begins with the state that it is given', () => {
    const history = [read(5, 0, 1)]
    expect(checkLinearizable(history, { initial: { x: 5 } }).verdict).toBe('linearizable')
    expect(checkLinearizable(history, { initial: { x: 6 } }).verdict).toBe('not_linearizable')
  })

  it('ends undecided at its bound, and says how far it went', () => {
    const beside = Array.from({ length: 12 }, (_, value) => write(value, 0, 100))
    const history = [...beside, read('never written', 101, 102)]
    const found = checkLinearizable(history, { configurationsMax: 50 })
    expect(found).toEqual({ verdict: 'undecided', configurations: 50 })
  })

  it('says of every short history what trying all orders says', () => {
    const value = fc.constantFrom<Json>(null, 1, 2)
    const entries = fc.dictionary(fc.constantFrom('x', 'y'), value, { maxKeys: 2 })
    const operation = fc
      .tuple(entries, entries, fc.nat(6), fc.nat(4), fc.boolean())
      .map(([reads, writes, calledAt, takes, returns]) =>
        timed({ reads, writes }, calledAt, returns ? calledAt + takes : undefined)
      )
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 5 }), (history) => {
        const found = checkLinearizable(history)
        const expected = isLinearizable(history) ? 'linearizable' : 'not_linearizable'
        expect(found.verdict).toBe(expected)
        if (found.verdict === 'linearizable') expect(isFit(history, found.order)).toBe(true)
      }),
      { numRuns: cases({ usual: 500, long: 11_000 }) }
    )
  })
})

/** By trying every order of every choice of what never returned. */
function isLinearizable(history: History): boolean {
  const places = history.map((_, place) => place)
  const optional = places.filter((place) => history[place]?.returnedAt === undefined)
  return subsets(optional).some((left) => {
    const taken = places.filter((place) => !left.includes(place))
    return orders(taken).some((order) => isFit(history, order))
  })
}

/** Whether operations can have happened in an order, those left out never having returned. */
function isFit(history: History, order: readonly number[]): boolean {
  const isWhole = history.every(
    ({ returnedAt }, place) => returnedAt === undefined || order.includes(place)
  )
  const inTime = order.every((place, index) =>
    order.slice(index + 1).every((later) => {
      const returned = history[later]?.returnedAt ?? Number.POSITIVE_INFINITY
      return returned >= (history[place]?.calledAt ?? 0)
    })
  )
  const state = new Map<string, Json>()
  const isTrue = order.every((place) => {
    const { reads = {}, writes = {} } = history[place] ?? {}
    const held = Object.entries(reads).every(([key, value]) => (state.get(key) ?? null) === value)
    for (const [key, value] of Object.entries(writes)) state.set(key, value)
    return held
  })
  return isWhole && inTime && isTrue
}

function orders(places: readonly number[]): readonly (readonly number[])[] {
  if (places.length === 0) return [[]]
  return places.flatMap((first) =>
    orders(places.filter((place) => place !== first)).map((rest) => [first, ...rest])
  )
}

function subsets(places: readonly number[]): readonly (readonly number[])[] {
  const [first, ...rest] = places
  if (first === undefined) return [[]]
  return subsets(rest).flatMap((one) => [one, [first, ...one]])
}
