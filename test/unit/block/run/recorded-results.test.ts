import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Call } from '../../../../src/block/code/calls.js'
import type { Outcome } from '../../../../src/block/code/outcome.js'
import { defineBlock } from '../../../../src/block/index.js'
import { Attempt, type AttemptPort } from '../../../../src/block/pump/attempt.js'
import type { Sealed } from '../../../../src/block/run/entries.js'
import type { RecordedResult } from '../../../../src/block/run/folded-answers.js'
import { RecordedResults } from '../../../../src/block/run/recorded-results.js'
import { unitIdOf } from '../../../../src/block/run/unit.js'
import {
  type ActorPath,
  canonicalize,
  hashJson,
  type Json,
  limits,
  nextTurn,
  type RunId
} from '../../../../src/core/index.js'

const runId = 'polling' as RunId
const place = { path: 'root/a', step: 1, attempt: 1 }

function sealAgain(seq: number, bodyText: string) {
  return hashJson([seq, bodyText])
}

function sealed(
  call: Pick<Call, 'seq' | 'effect' | 'requestHash'>,
  given: { readonly ok: boolean; readonly body: Json; readonly n?: number }
): Sealed {
  const { seq, effect, requestHash } = call
  const { ok, body, n = seq } = given
  const responseHash = sealAgain(seq, canonicalize(body))
  const salt = hashJson(['salt', seq])
  const answer = { seq, effect, requestHash, responseHash, salt, ok, body }
  return { k: 'sealed', run: runId, n, at: 1_000 + n, ...place, ...answer }
}

const bodies: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json[]>(null, { value: '0' }, 'pending'),
  fc.nat(60).map((block): Json => ({ block })),
  fc.string({ minLength: limits.TAPE_BODY_LENGTH_MAX, maxLength: 400 })
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
    { maxLength: 90 }
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
  const tape = new RecordedResults(({ seq }) => writes.has(seq))
  const model: Sealed[] = []
  for (const entry of list) {
    const known = model.findIndex(({ seq }) => seq === entry.seq)
    const earlier = model[known]
    if (earlier !== undefined && earlier.effect !== 'state.list') continue
    const added = earlier === undefined ? entry : { ...entry, effect: 'state.list' }
    tape.add(added)
    if (earlier === undefined) model.push(added)
    else model[known] = added
  }
  return { tape, model }
}

function expectSame(tape: RecordedResults, model: readonly Sealed[]): void {
  const answers = Array.from({ length: tape.length }, (_, at) => tape.at(at))
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
    expect(tape.find(entry?.seq ?? -1)).toEqual(answer)
  }
  expect(tape.lost).toBe(answers.filter((answer) => answer?.body === undefined).length)
  expect(tape.references(sealAgain)).toEqual(
    model.map(({ seq, effect, requestHash, responseHash, body }) => {
      const bytes = Buffer.byteLength(canonicalize(body))
      return { seq, effect, requestHash, responseHash, bytes }
    })
  )
  expect(tape.seqsFrom(0)).toEqual(model.map(({ seq }) => seq))
  expect(['look', 'timer', 'wait'].map((effect) => tape.hasEffect(effect))).toEqual(
    ['look', 'timer', 'wait'].map((effect) => model.some((entry) => entry.effect === effect))
  )
}

describe('a tape', () => {
  it('K9: says the same of its answers, whether it is folded or not', () => {
    fc.assert(
      fc.property(entries, fc.array(fc.nat(50)), (list, writes) => {
        const { tape, model } = filled(list, new Set(writes))
        expectSame(tape, model)
        expect(tape.isWhole).toBe(model.length <= limits.TAPE_ANSWERS_MAX)
        const specials = model.filter(
          ({ seq, effect }) => seq === 0 || effect === 'state.list' || writes.includes(seq)
        )
        expect(tape.whole()).toEqual(tape.isWhole ? model : specials)
      }),
      { numRuns: 40 }
    )
  })

  it('L10: is parted into what the code still asks for and what it does not', () => {
    fc.assert(
      fc.property(entries, fc.nat(limits.ATTEMPT_EFFECTS_MAX), (list, border) => {
        const { tape, model } = filled(list, new Set())
        const [first, second] = [new RecordedResults(() => false), new RecordedResults(() => false)]
        tape.part((seq) => seq < border, first, second)
        expectSame(
          first,
          model.filter(({ seq }) => seq < border)
        )
        expectSame(
          second,
          model.filter(({ seq }) => seq >= border)
        )
      }),
      { numRuns: 30 }
    )
  })
})

/** Asks until the answer says stop, and returns the answers. */
const polling = defineBlock({
  name: 'polling',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => {
    let rounds = 0
    let sum = 0
    for (let isOver = false; !isOver; rounds += 1) {
      const seen = await ctx.effect<{ over: boolean; block: number }>('look', {
        perform: () => null as never
      })
      sum += seen.block
      isOver = seen.over
      if (!isOver) await ctx.sleep(1_000)
    }
    return { rounds, sum }
  }
})

function attemptOf(): Attempt {
  const unitId = unitIdOf(runId, place.path, place.step)
  return new Attempt({
    runId,
    ask: {
      kind: 'attempt',
      ...place,
      path: place.path as ActorPath,
      block: 'polling',
      provider: null,
      sideEffects: 'none',
      request: { payload: {}, context: {}, metadata: {} as never },
      options: {}
    },
    block: polling,
    at: 1_000,
    base: 'GENESIS',
    unitId,
    below: () => undefined,
    textOf: canonicalize,
    earlier: undefined,
    principal: null,
    current: () => undefined,
    seal: sealAgain
  })
}

describe('an attempt that polls', () => {
  it('K9: holds no more after 3,000 polls than after a few, and runs again to the same end', async () => {
    const attempt = attemptOf()
    const journal: Sealed[] = []
    const calls: Call[] = []
    const outcomes: Outcome[] = []
    const port: AttemptPort = {
      called: (_, call) => calls.push(call),
      settled: (_, outcome) => outcomes.push(outcome),
      log: () => undefined,
      returned: () => undefined,
      again: () => undefined,
      halted: () => undefined
    }
    attempt.start(port)
    let most = 0
    for (let call = calls.shift(); call !== undefined; call = calls.shift()) {
      const block = call.seq
      const over = call.seq > limits.POLL_ATTEMPTS_MAX * 2 - 2
      const entry = sealed(call, { ok: true, body: call.kind === 'sleep' ? null : { block, over } })
      journal.push(entry)
      attempt.recorded.add(entry)
      attempt.release(entry)
      most = Math.max(most, attempt.recorded.held)
      for (let tick = 0; tick < 4; tick += 1) await undefined
    }
    expect(journal).toHaveLength(limits.POLL_ATTEMPTS_MAX * 2 - 1)
    // Bodies that were first, effects and requests; none of the answers themselves.
    expect(most).toBeLessThanOrEqual(limits.TAPE_ANSWERS_MAX + limits.TAPE_BODIES_MAX)
    expect(attempt.recorded.whole()).toEqual([])
    expect(attempt.recorded.lost).toBeGreaterThan(limits.POLL_ATTEMPTS_MAX * 0.9)
    expect(attempt.sealedReferences()).toEqual(
      journal.map(({ seq, effect, requestHash, responseHash, body }) => {
        const bytes = Buffer.byteLength(canonicalize(body))
        return { seq, effect, requestHash, responseHash, bytes }
      })
    )
    attempt.rewind()
    attempt.start(port)
    const dropped = await attempt.replayAll(async ({ seq, responseHash }) => {
      const entry = journal[seq - 1]
      expect(entry?.responseHash).toBe(responseHash)
      return entry?.body ?? null
    })
    await nextTurn()
    expect(dropped).toEqual([])
    expect(calls).toEqual([])
    expect(outcomes).toHaveLength(2)
    expect(outcomes[1]).toEqual(outcomes[0])
    expect(outcomes[0]?.ok).toBe(true)
  })
})
