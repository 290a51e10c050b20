import { describe, expect, it, vi } from 'vitest'
import type { Requested, Sealed } from '../../../../src/block/run/entries.js'
import { KeptWrites } from '../../../../src/block/run/kept-writes.js'
import { Past } from '../../../../src/block/run/past.js'
import { RecordedResults } from '../../../../src/block/run/recorded-results.js'
import { type Hash, type Json, sha256Hex } from '../../../../src/core/index.js'

/** L7: which answers of earlier attempts a write is given, and what finding them costs. */

const place = { run: 'r', path: 'root/a', step: 1, at: 0, effect: 'act' } as const

function asked(seq: number, requestHash: Hash): Requested {
  const named = { requestHash, key: requestHash, sideEffects: 'idempotent' } as const
  return { ...place, ...named, k: 'requested', attempt: 1, n: seq, seq }
}

function sealed(seq: number, requestHash: Hash, body: Json = seq): Sealed {
  const answer = { requestHash, responseHash: requestHash, salt: requestHash, ok: true, body }
  return { ...place, k: 'sealed', attempt: 1, n: 100 + seq, seq, ...answer }
}

/** An attempt that has sent these writes, by the names of what they ask for. */
function sentOf(attempt: number, names: readonly string[], earlier?: Past): Past {
  const past = new Past({ step: 1, attempt }, { earlier })
  for (const [at, name] of names.entries()) {
    past.requested.set(at + 1, asked(at + 1, sha256Hex(name)))
  }
  for (const [at, name] of names.entries()) {
    past.recorded.add(sealed(at + 1, sha256Hex(name), `${name} of ${attempt}.${at + 1}`))
  }
  return past
}

const next = (earlier: Past) => new Past({ step: 1, attempt: earlier.attempt + 1 }, { earlier })

/** Reads of requests and answers, of which there are as many as an attempt has calls. */
function countReads(parts: readonly Past[]): () => number {
  let reads = 0
  const at = vi.spyOn(RecordedResults.prototype, 'at')
  const whole = vi.spyOn(RecordedResults.prototype, 'whole')
  for (const { requested } of parts) {
    const values = requested.values.bind(requested)
    requested.values = () => {
      reads += requested.size
      return values()
    }
  }
  return () => {
    for (const { value } of whole.mock.results) reads += (value as readonly Sealed[]).length
    reads += at.mock.calls.length
    at.mockRestore()
    whole.mockRestore()
    return reads
  }
}

describe('writes of an attempt behind others', () => {
  it('L7: get the answers to the same write, the oldest first, each once', () => {
    const past = next(sentOf(2, ['b', 'a'], sentOf(1, ['a', 'b'])))
    const writes = new KeptWrites(past)
    const ask = (seq: number, name: string) =>
      writes.take({ seq, requestHash: sha256Hex(name) })?.answer.body
    expect([ask(9, 'a'), ask(2, 'b'), ask(4, 'a')]).toEqual(['a of 1.1', 'b of 1.2', 'a of 2.2'])
    expect([ask(5, 'a'), ask(9, 'a'), ask(6, 'c')]).toEqual([undefined, 'a of 1.1', undefined])
    // A place that asks for something else now does not keep what it was being given.
    expect([ask(4, 'b'), ask(5, 'a')]).toEqual(['b of 2.1', 'a of 2.2'])
  })

  it('L7: count what the journal says was given, and not what the attempt has sent itself', () => {
    const past = next(sentOf(1, ['a', 'a', 'a']))
    past.recorded.add(sealed(5, sha256Hex('a'), 'a of 1.1'))
    past.requested.set(6, asked(6, sha256Hex('a')))
    past.recorded.add(sealed(6, sha256Hex('a'), 'its own'))
    const writes = new KeptWrites(past)
    const ask = (seq: number) => writes.take({ seq, requestHash: sha256Hex('a') })?.answer.body
    expect([ask(7), ask(8)]).toEqual(['a of 1.2', 'a of 1.3'])
    past.recorded.add(sealed(7, sha256Hex('a'), 'a of 1.2'))
    expect([ask(9), ask(8)]).toEqual([undefined, 'a of 1.3'])
  })

  it.each([
    ['one after another', true],
    ['at once', false]
  ])('L7: read what there is a fixed number of times, however many there are: %s', (_, isAdded) => {
    const reads = (writes: number) => {
      const names = Array.from({ length: writes }, (_, at) => `write ${at % 200}`)
      const first = sentOf(1, names)
      const past = next(first)
      const readsSoFar = countReads([first, past])
      const kept = new KeptWrites(past)
      for (const [at, name] of names.entries()) {
        const call = { seq: at + 1, requestHash: sha256Hex(name) }
        const { answer } = kept.take(call) ?? {}
        expect(answer?.body).toBe(`${name} of 1.${at + 1}`)
        if (isAdded) past.recorded.add(sealed(call.seq, call.requestHash))
      }
      return readsSoFar()
    }
    expect(reads(600)).toBeLessThanOrEqual(2 * reads(300) + 10)
    expect(reads(300)).toBeLessThan(1_500)
  })
})
