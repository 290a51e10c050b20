import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { OutsideCall } from '../../../../src/block/index.js'
import { defineBlock } from '../../../../src/code/index.js'
import { isTallyError, type Json, type RunId } from '../../../../src/core/index.js'
import { Script } from '../../../../src/testing/machine/case.js'
import { play } from '../../../../src/testing/machine/play.js'
import { judge, promises } from '../../../../src/testing/machine/promises/all.js'
import type { Evidence } from '../../../../src/testing/machine/promises/promise.js'
import { stageOf } from '../../../../src/testing/machine/stage.js'
import { prepareTarget } from '../../../../src/testing/machine/target.js'
import { verifyBroken } from '../../../../src/testing/machine/verify-machine.js'

const anything = { inputs: fc.constant<Json>({}), cases: 30 }
const pays = defineBlock({
  name: 'pays',
  version: '1.0.0',
  sideEffects: 'non_idempotent',
  run: async (ctx) => {
    await ctx.effect('pay', { request: { first: true } })
    await ctx.effect('pay', { request: { second: true } })
    ctx.state.set('paid', 2)
    return {}
  }
})
const effects = { pay: { answer: () => ({ paid: true }) } }

async function promiseBrokenBy(verification: Promise<unknown>): Promise<unknown> {
  const error = await verification.then(
    () => undefined,
    (thrown: unknown) => thrown
  )
  return isTallyError(error, 'testing.promise_broken') ? error.context.promise : error
}

/** What the runtime promises is shown to be looked at by breaking what it stands on. */
describe('a machine with a broken part', () => {
  it('breaks "once" when effects are performed twice', async () => {
    const twice = (outside: (asked: OutsideCall) => { perform(call: never): unknown }) => {
      return (asked: OutsideCall) => {
        const { perform } = outside(asked)
        return {
          perform: async (call: never) => {
            await perform(call)
            return perform(call)
          }
        }
      }
    }
    const wrapOutside = twice as never
    expect(
      await promiseBrokenBy(verifyBroken(pays, { ...anything, effects }, { wrapOutside }))
    ).toBe('once')
  })

  it('breaks "keys" when one key is used for two requests', async () => {
    const sameKey = (outside: (asked: OutsideCall) => { perform(call: object): unknown }) => {
      return (asked: OutsideCall) => ({
        perform: (call: object) => outside(asked).perform({ ...call, key: 'same' })
      })
    }
    const wrapOutside = sameKey as never
    expect(
      await promiseBrokenBy(verifyBroken(pays, { ...anything, effects }, { wrapOutside }))
    ).toBe('keys')
  })

  it('breaks a promise when its disk forgets what it has acknowledged', async () => {
    const broken = await promiseBrokenBy(
      verifyBroken(pays, { ...anything, cases: 100, effects }, { disk: { syncs: false } })
    )
    expect(promises.map(({ code }) => code)).toContain(broken)
  })
})

const scope = {
  schema: 'tally-composite/1',
  name: 'scope',
  version: '1.0.0',
  entry_point: 'all',
  nodes: {
    all: {
      composite: {
        atomic: true,
        entry_point: 'one',
        nodes: { one: { block: 'writes' }, two: { block: 'writes' } },
        transitions: { one: 'two' }
      }
    }
  }
}
const writes = defineBlock({
  name: 'writes',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx) => {
    ctx.state.set(ctx.path, 1)
    return {}
  }
})

async function played(): Promise<Evidence> {
  const prepared = await prepareTarget({ document: scope, blocks: [writes] })
  const stage = stageOf(prepared, {})
  const given = { inputs: [{}] }
  const undisturbed = await play(stage, {
    script: new Script(given),
    inputs: [{}],
    deaths: [],
    verifies: true
  })
  const { compiled } = prepared
  const none = { disturbed: undefined, again: undefined, packages: [] }
  return { given, options: {}, compiled, undisturbed, ...none }
}

type Change = (evidence: Evidence) => Partial<Evidence['undisturbed']>

const changes: readonly (readonly [promise: string, what: string, change: Change])[] = [
  ['bounded', 'too much was left', () => ({ overrun: '2 steps, of 1' })],
  ['ends', 'a run is stuck', () => ({ stuck: ['run-1' as RunId] })],
  [
    'continues',
    'an error has ended a run',
    () => ({ error: { code: 'ledger.safe_mode', message: 'it is', run: undefined, life: 2 } })
  ],
  [
    'deterministic',
    'code asked for something else',
    () => ({ error: { code: 'run.diverged', message: 'it did', run: undefined, life: 2 } })
  ],
  [
    'answers',
    'a wrong answer was taken',
    () => ({ wronglyTaken: [{ token: 'token', what: 'a second answer' }] })
  ],
  [
    'atomic',
    'a step inside has left a receipt',
    ({ undisturbed }) => ({
      receipts: undisturbed.receipts.map((stored) => ({
        ...stored,
        receipt: {
          ...stored.receipt,
          inputPayload: {
            ...stored.receipt.inputPayload,
            ...(stored.receipt.inputPayload.run === undefined
              ? {}
              : { run: { ...stored.receipt.inputPayload.run, path: 'root/all/one' } })
          }
        }
      }))
    })
  ],
  [
    'atomic',
    'a committed composite has left no receipt',
    ({ undisturbed }) => ({
      receipts: undisturbed.receipts.filter(({ receipt }) => receipt.intent === 'run.completed')
    })
  ],
  [
    'atomic',
    'a change is not the one that was made inside',
    ({ undisturbed }) => ({
      receipts: undisturbed.receipts.map((stored) => ({
        ...stored,
        writeSet: stored.writeSet.map((entry) => ({ ...entry, after: 2 }))
      }))
    })
  ],
  [
    'verifies',
    'a signature is wrong',
    ({ undisturbed: { report } }) => ({
      report: report && {
        ...report,
        ok: false,
        complete: false,
        failure: { index: 0, field: 'signature', signed: 'a', computed: 'b', commit: 0 } as never
      }
    })
  ],
  [
    'replays',
    'code has gone',
    ({ undisturbed: { report } }) => ({ report: report && { ...report, complete: false } })
  ]
]

describe('a promise', () => {
  it('is kept by an honest play', async () => {
    expect(judge(await played())).toBeUndefined()
  })

  it.each(changes)('"%s" is broken where %s', async (promise, _, change) => {
    const evidence = await played()
    const undisturbed = { ...evidence.undisturbed, ...change(evidence) }
    expect(judge({ ...evidence, undisturbed })?.promise).toBe(promise)
  })

  it('"resumes" is broken where a resumed run leaves another state', async () => {
    const evidence = await played()
    const disturbed = { ...evidence.undisturbed, state: new Map([['other', '1']]) }
    expect(judge({ ...evidence, disturbed })?.promise).toBe('resumes')
  })

  it('has a code of its own, and is judged', () => {
    const codes = promises.map(({ code }) => code)
    expect(new Set(codes).size).toBe(codes.length)
    expect([...codes].sort()).toEqual([
      'always',
      'answers',
      'atomic',
      'bounded',
      'conforms',
      'continues',
      'deterministic',
      'ends',
      'eventually',
      'keys',
      'never_both',
      'once',
      'replays',
      'resumes',
      'verifies'
    ])
  })
})
