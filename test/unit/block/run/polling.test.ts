import { describe, expect, it } from 'vitest'
import { Attempt, type AttemptPort } from '../../../../src/block/pump/attempt.js'
import type { Sealed } from '../../../../src/block/run/entries.js'
import { unitIdOf } from '../../../../src/block/run/unit.js'
import type { Call } from '../../../../src/code/calls.js'
import { type Block, type BlockContext, defineBlock } from '../../../../src/code/index.js'
import type { Outcome } from '../../../../src/code/outcome.js'
import {
  type ActorPath,
  canonicalize,
  type Json,
  limits,
  nextTurn
} from '../../../../src/core/index.js'
import { place, runId, sealAgain, sealed } from '../../../support/sealed-answers.js'

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

function attemptOf(block: Block = polling): Attempt {
  const unitId = unitIdOf(runId, place.path, place.step)
  return new Attempt({
    runId,
    ask: {
      kind: 'attempt',
      ...place,
      path: place.path as ActorPath,
      block: block.name,
      provider: null,
      sideEffects: 'none',
      request: { payload: {}, context: {}, metadata: {} as never },
      options: {}
    },
    block,
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
    expect(most).toBeLessThanOrEqual(limits.RECORDED_ANSWERS_MAX + limits.RECORDED_BODIES_MAX)
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

/** What the first call of code asks for. */
function requestOf(run: (ctx: BlockContext) => Promise<null>): Json | undefined {
  const block = defineBlock({ name: 'sleeps', version: '1.0.0', sideEffects: 'none', run })
  const calls: Call[] = []
  const attempt = attemptOf(block)
  attempt.start({
    called: (_, call) => calls.push(call),
    settled: () => undefined,
    log: () => undefined,
    returned: () => undefined,
    again: () => undefined,
    halted: () => undefined
  })
  return calls[0]?.request
}

describe('an attempt that sleeps', () => {
  it.each([
    ['a second', 1_000],
    ['half a millisecond', 0.5],
    ['a number written with an exponent', 1e-7],
    ['the largest safe integer', Number.MAX_SAFE_INTEGER],
    ['nothing', 0],
    ['a zero with a sign', -0],
    ['less than nothing', -1]
  ])('asks for %s as its text says', (_, ms) => {
    const request = requestOf((ctx) => ctx.sleep(ms).then(() => null))
    expect(request).toStrictEqual(JSON.parse(canonicalize({ ms })))
  })

  it('asks for the value that its code gave, however the code changes it afterwards', () => {
    const given = { seconds: 1 }
    const request = requestOf((ctx) => {
      const slept = ctx.sleep(given as never)
      given.seconds = 2
      return slept.then(() => null)
    })
    expect(request).toEqual({ ms: { seconds: 1 } })
  })
})
