import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Sealed } from '../../../../src/block/run/entries.js'
import type { RecordedResult } from '../../../../src/block/run/folded-answers.js'
import { RecordedResults } from '../../../../src/block/run/recorded-results.js'
import { canonicalize, hashJson, type Json, limits } from '../../../../src/core/index.js'
import { cases } from '../../../support/effort.js'
import { sealAgain, sealed } from '../../../support/sealed-answers.js'

const bodies: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json[]>(null, { value: '0' }, 'pending'),
  fc.nat(60).map((block): Json => ({ block })),
  fc.string({ minLength: limits.RECORDED_BODY_LENGTH_MAX, maxLength: 300 })
)

const entries = fc
  .array(
    fc.record({
      seq: fc.nat(limits.ATTEMPT_EFFECTS_MAX),
      effect: fc.constantFrom('look', 'timer', 'wait', 'state.list'),
      request: fc.nat(80),
      ok: fc.boolean(),
      body: bodies
    }),
    { maxLength: 90, size: 'max' }
  )
  .map((list) =>
    list.map(({ seq, effect, request, ok, body }, n) =>
      sealed({ seq, effect, requestHash: hashJson([effect, request]) }, { ok, body, n })
    )
  )

/**
 * Recorded results and what it must say: only listings are answered again, in the place of the
 * earlier.
 */
function filled(list: readonly Sealed[], writes: ReadonlySet<number>) {
  const results = new RecordedResults(({ seq }) => writes.has(seq))
  const model: Sealed[] = []
  for (const entry of list) {
    const known = model.findIndex(({ seq }) => seq === entry.seq)
    const earlier = model[known]
    if (earlier !== undefined && earlier.effect !== 'state.list') continue
    const added = earlier === undefined ? entry : { ...entry, effect: 'state.list' }
    results.add(added)
    if (earlier === undefined) model.push(added)
    else model[known] = added
  }
  return { results, model }
}

function expectSame(results: RecordedResults, model: readonly Sealed[]): void {
  const answers = Array.from({ length: results.length }, (_, at) => results.at(at))
  const known = ({ seq, effect, requestHash, ok }: RecordedResult) => ({
    seq,
    effect,
    requestHash,
    ok
  })
  expect(answers.map((answer) => answer && known(answer))).toEqual(model.map(known))
  for (const [at, answer] of answers.entries()) {
    const entry = model[at]
    if (answer?.body === undefined) expect(answer?.responseHash).toBe(entry?.responseHash)
    else expect(answer.body).toEqual(entry?.body)
    expect(results.find(entry?.seq ?? -1)).toEqual(answer)
  }
  expect(results.lost).toBe(answers.filter((answer) => answer?.body === undefined).length)
  expect(results.references(sealAgain)).toEqual(
    model.map(({ seq, effect, requestHash, responseHash, body }) => {
      const bytes = Buffer.byteLength(canonicalize(body))
      return { seq, effect, requestHash, responseHash, bytes }
    })
  )
  expect(results.seqsFrom(0)).toEqual(model.map(({ seq }) => seq))
  expect(['look', 'timer', 'wait'].map((effect) => results.hasEffect(effect))).toEqual(
    ['look', 'timer', 'wait'].map((effect) => model.some((entry) => entry.effect === effect))
  )
}

describe('recorded results', () => {
  it('K9: says the same of its answers, whether it is folded or not', () => {
    fc.assert(
      fc.property(entries, fc.array(fc.nat(50)), (list, writes) => {
        const { results, model } = filled(list, new Set(writes))
        expectSame(results, model)
        expect(results.isWhole).toBe(model.length <= limits.RECORDED_ANSWERS_MAX)
        const specials = model.filter(
          ({ seq, effect }) => seq === 0 || effect === 'state.list' || writes.includes(seq)
        )
        expect(results.whole()).toEqual(results.isWhole ? model : specials)
      }),
      { numRuns: cases({ usual: 10, long: 22 }) }
    )
  })

  it('L10: is parted into what the code still asks for and what it does not', () => {
    fc.assert(
      fc.property(entries, fc.nat(limits.ATTEMPT_EFFECTS_MAX), (list, border) => {
        const { results, model } = filled(list, new Set())
        const [first, second] = [new RecordedResults(() => false), new RecordedResults(() => false)]
        results.part((seq) => seq < border, first, second)
        expectSame(
          first,
          model.filter(({ seq }) => seq < border)
        )
        expectSame(
          second,
          model.filter(({ seq }) => seq >= border)
        )
      }),
      { numRuns: cases({ usual: 8, long: 16 }) }
    )
  })
})
