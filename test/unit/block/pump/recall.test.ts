import { describe, expect, it } from 'vitest'
import { KeptBodies, Recall, type RecallPort } from '../../../../src/block/pump/recall.js'
import type { AttemptKey, JournalEntry, Sealed } from '../../../../src/block/run/entries.js'
import type { RecordedResult } from '../../../../src/block/run/folded-answers.js'
import { RecordedResults } from '../../../../src/block/run/recorded-results.js'
import { hashJson, type Json, limits, type RunId } from '../../../../src/core/index.js'

const runId = 'recalled' as RunId
const one: AttemptKey = { path: 'root/a', step: 1, attempt: 1 }
const other: AttemptKey = { path: 'root/"b"', step: 2, attempt: 1 }
const ANSWERS = limits.RECORDED_ANSWERS_MAX * 2
const pad = 'x'.repeat(limits.RECORDED_BODY_LENGTH_MAX)

function sealed(place: AttemptKey, seq: number, n: number, round = 0): Sealed {
  const body = { seq, round, pad }
  const hashes = { requestHash: hashJson(seq), responseHash: hashJson(body), salt: hashJson(n) }
  return {
    k: 'sealed',
    run: runId,
    n,
    at: n,
    ...place,
    seq,
    effect: 'look',
    ...hashes,
    ok: true,
    body
  }
}

/** Answers of two attempts in turn; the first of them was sealed once before on another state. */
function recordedTapes() {
  const entries: JournalEntry[] = [sealed(one, 1, 0, 1)]
  const tapes = new Map([one, other].map((place) => [place, new RecordedResults(() => false)]))
  for (let seq = 1; seq <= ANSWERS; seq += 1) {
    for (const [place, results] of tapes) {
      const entry = sealed(place, seq, entries.length)
      entries.push(entry)
      results.add(entry)
    }
  }
  const recalled = [...tapes].map(([place, results]) => ({ place, results }))
  return { entries, recalled }
}

function portOf(entries: readonly JournalEntry[], failsAt = Number.POSITIVE_INFINITY) {
  const passes: number[] = []
  const port: RecallPort = {
    runId,
    durable: async () => undefined,
    journal: {
      async *journal(_, from, isWanted = () => true) {
        passes.push(from)
        for (const entry of entries.slice(from)) {
          if (entry.n === failsAt) throw new Error('the disk is gone')
          if (isWanted(JSON.stringify(entry))) yield { value: entry as unknown as Json }
        }
      }
    }
  }
  return { port, passes }
}

function lostOf(results: RecordedResults): readonly RecordedResult[] {
  return results.lostFrom(1, results.length)
}

describe('answers that only the journal has', () => {
  it('K9: are read once for all attempts that begin again, each at its own pace', async () => {
    const { entries, recalled } = recordedTapes()
    const { port, passes } = portOf(entries)
    const recall = new Recall(port, recalled)
    const reading = recall.run()
    const read = async ({ place, results }: (typeof recalled)[number], most: number) => {
      const reader = recall.reader(place)
      const bodies: unknown[] = []
      for (const answer of lostOf(results).slice(0, most)) {
        if (place === other) await new Promise((resolve) => setImmediate(resolve))
        bodies.push(await reader.next(answer))
      }
      reader.close()
      return bodies
    }
    const [first, second] = recalled
    if (first === undefined || second === undefined) throw new Error('there are two')
    // One needs only a few, and delays no other.
    const [few, all] = await Promise.all([read(first, 3), read(second, ANSWERS)])
    await reading
    const told = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ seq: at + 1, round: 0, pad }))
    expect(few).toEqual(told(3))
    expect(all).toEqual(told(ANSWERS))
    expect(passes).toEqual([1])
  })

  it('D6: that the journal does not have, or cannot give, are missed', async () => {
    const { entries, recalled } = recordedTapes()
    const [, { place, results } = { place: other, results: new RecordedResults(() => false) }] =
      recalled
    const short = portOf(entries.filter((entry) => entry.n < 20))
    const recall = new Recall(short.port, [{ place, results }])
    const reading = recall.run()
    const reader = recall.reader(place)
    const found: boolean[] = []
    for (const answer of lostOf(results)) found.push((await reader.next(answer)) !== undefined)
    expect(found.filter((is) => is).length).toBeLessThan(12)
    expect(found.at(-1)).toBe(false)
    await reading
    const broken = new Recall(portOf(entries, 20).port, [{ place, results }])
    const failing = broken.run()
    await expect(
      (async () => {
        for (const answer of lostOf(results)) await broken.reader(place).next(answer)
      })()
    ).rejects.toThrow('the disk is gone')
    await failing
  })

  it('L7: are given to a later attempt a few at a time, in whatever order it asks', async () => {
    const { entries, recalled } = recordedTapes()
    const { port, passes } = portOf(entries)
    const [{ place, results } = { place: one, results: new RecordedResults(() => false) }] =
      recalled
    const kept = new KeptBodies(port, { place, results })
    const lost = lostOf(results)
    const bodies = await Promise.all(lost.map((answer) => kept.body(answer)))
    expect(bodies).toEqual(lost.map(({ seq }) => ({ seq, round: 0, pad })))
    expect(passes).toHaveLength(ANSWERS / 16)
    const back = [...lost].reverse().slice(0, 20)
    const again = await Promise.all(back.map((answer) => kept.body(answer)))
    expect(again).toEqual(back.map(({ seq }) => ({ seq, round: 0, pad })))
  })
})
