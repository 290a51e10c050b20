import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BytesBound, EventsBound } from '../../../src/agent/transports/stream-bound.js'

/** Whether a stream keeps its bounds, cut at these places. */
function exceeds(text: string, sizes: readonly number[], bounds: readonly [number, number]) {
  const bound = new EventsBound(new BytesBound(bounds[0]), bounds[1])
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
