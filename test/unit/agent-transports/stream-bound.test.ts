import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BytesBound,
  EventsBound,
  EventValuesBound,
  type StreamBound
} from '../../../src/agent/transports/stream-bound.js'

/** Whether a stream keeps its bounds, cut at these places. */
function exceeds(text: string, sizes: readonly number[], bounds: readonly [number, number]) {
  return exceededIn(text, sizes, new EventsBound(new BytesBound(bounds[0]), bounds[1]))
}

function exceededIn(text: string, sizes: readonly number[], bound: StreamBound) {
  const bytes = new TextEncoder().encode(text)
  let [at, piece] = [0, 0]
  while (at < bytes.length) {
    const end = at + (sizes[piece % sizes.length] ?? 1)
    const exceeded = bound.exceededBy(bytes.subarray(at, end))
    if (exceeded !== undefined) return exceeded
    ;[at, piece] = [end, piece + 1]
  }
  return undefined
}

/** Bytes of the longest event, by a reading of the whole text. */
function longest(text: string): number {
  const events = text.split(/(?<=(?:^|\n)\r?\n)/)
  return Math.max(
    0,
    ...events.map((event) => Buffer.byteLength(event.replace(/(?:^|\n)\r?\n$/, '')))
  )
}

const lines = fc.array(
  fc.constantFrom('data: 1\n', 'data: äöü\n', '\n', '\r\n', 'data: x\r\n', ': \n', 'data: '),
  { maxLength: 12 }
)
const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 4 })

describe('a stream of events', () => {
  it('keeps its bound where no event is longer, wherever its bytes are cut', () => {
    fc.assert(
      fc.property(lines, sizes, (parts, cuts) => {
        const text = parts.join('')
        const bytes = longest(text)
        // The end of its last line and the empty one behind it are counted, too.
        expect(exceeds(text, cuts, [1_000, bytes + 3])).toBeUndefined()
        const eventBytesMax = bytes - 2
        if (eventBytesMax > 0) {
          expect(exceeds(text, cuts, [1_000, eventBytesMax])).toEqual({ eventBytesMax })
        }
      }),
      { numRuns: 300 }
    )
  })

  it('exceeds its bound by one event, of one line or of many, and by all of them', () => {
    const event = `data: ${'x'.repeat(100)}\n\n`
    expect(exceeds(event.repeat(20), [64], [10_000, 110])).toBeUndefined()
    expect(exceeds(event.repeat(20), [64], [1_000, 110])).toEqual({ bytesMax: 1_000 })
    expect(exceeds('data: x\n'.repeat(20), [64], [10_000, 110])).toEqual({ eventBytesMax: 110 })
    expect(exceeds('x'.repeat(200), [1], [10_000, 110])).toEqual({ eventBytesMax: 110 })
  })
})

describe('the values of an event', () => {
  const bounded = (text: string, cuts: readonly number[], valuesMax: number) =>
    exceededIn(text, cuts, new EventValuesBound(new BytesBound(1_000_000), valuesMax))

  it('are counted as they are in JSON, wherever its bytes are cut', () => {
    const ends = fc.constantFrom('\n\n', '\r\n\r\n')
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), sizes, ends, (values, cuts, end) => {
        const text = values.map((value) => `data: ${JSON.stringify(value)}${end}`).join('')
        const most = Math.max(...values.map(partsOf))
        expect(bounded(text, cuts, most)).toBeUndefined()
        if (most > 1) {
          expect(bounded(text, cuts, most - 1)).toEqual({ eventValuesMax: most - 1 })
        }
      }),
      { numRuns: 300 }
    )
  })

  it.each([
    ['a comment with a quote', ': "\n'],
    ['a line that ends with CR alone', ': "\r'],
    ['a name with a quote', 'event: "\r\n'],
    ['a string that its line ends', 'data: "\n'],
    ['an escape that its line ends', 'data: "\\\n'],
    ['a line of the same event', 'data: [0,\n']
  ])('are not hidden by %s', (_, before) => {
    const text = `${before}data: [${'0,'.repeat(20)}0]\n\n`
    expect(bounded(text, [3], 20)).toEqual({ eventValuesMax: 20 })
  })

  it('are no text of strings', () => {
    const text = `data: ${JSON.stringify({ code: '{,"[\\'.repeat(100) })}\n\n`
    expect(bounded(text, [5], 1)).toBeUndefined()
  })
})

/** Lists, objects and commas of a value. */
function partsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const members: readonly unknown[] = Object.values(value)
  return (
    1 + Math.max(0, members.length - 1) + members.reduce<number>((n, one) => n + partsOf(one), 0)
  )
}
