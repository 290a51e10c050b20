import { describe, expect, it } from 'vitest'
import { takeCommand } from '../../../../src/block/run/apply.js'
import { callBody, calledDraft, callHash, returnedDraft } from '../../../../src/block/run/body.js'
import type { OpenAttempt } from '../../../../src/block/run/run-state.js'
import type { FunctionCall, ScopeCall, StepCall } from '../../../../src/code/function-call.js'
import { hashJson } from '../../../../src/core/index.js'
import { succeeded } from '../../../support/fake-pump.js'
import { RunOfTest, runId } from '../../../support/run-of-test.js'

const step: StepCall = {
  kind: 'step',
  name: 'pay',
  block: 'pay@1',
  sideEffects: 'non_idempotent',
  input: { amount: '7' }
}
const scope: ScopeCall = { kind: 'scope', name: 'both' }

/** A run whose root is code that has been started. */
function started(): { readonly run: RunOfTest; readonly attempt: OpenAttempt } {
  const run = new RunOfTest()
  const attempt = run.open('root')
  Object.assign(attempt, { called: new Map<number, FunctionCall>() })
  return { run, attempt }
}

describe('B12: the code of a workflow function', () => {
  it('has its calls as entries, whose hash covers their kind and all that they ask for', () => {
    for (const call of [step, scope]) {
      expect(callBody(call)).toEqual(call)
      expect(callHash(call)).toBe(hashJson({ effect: call.kind, request: call }))
    }
  })

  it('makes calls that its attempt keeps, and its chart executes', () => {
    const { run, attempt } = started()
    const draft = calledDraft(attempt, { seq: 1, call: step }, 2)
    const own = { path: 'root', step: 1, attempt: 1 }
    expect(draft).toEqual({ k: 'called', at: 2, ...own, seq: 1, call: step })
    run.apply(draft)
    expect([...(attempt.called ?? [])]).toEqual([[1, step]])
    expect(run.events.at(-1)).toEqual(['root', { type: 'code.called', seq: 1, call: step, at: 2 }])
  })

  it('is given the end of a child, once it has asked for it', () => {
    const { run, attempt } = started()
    const response = succeeded({ paid: true })
    const answer = { kind: 'answer', path: 'root', seq: 1, response, at: 3 } as const
    takeCommand(run.state, answer, run)
    expect(attempt.past.recorded.length).toBe(0)
    expect(run.noted).toEqual([])
    run.apply(calledDraft(attempt, { seq: 1, call: step }, 2))
    takeCommand(run.state, answer, run)
    expect(attempt.past.recorded.find(1)).toMatchObject({
      run: runId,
      n: 2,
      at: 3,
      effect: 'step',
      requestHash: callHash(step),
      ok: true,
      body: response
    })
    expect(run.noted).toEqual([['answered', 'root', 1]])
  })

  it('is not given an end behind its own', () => {
    const { run, attempt } = started()
    run.apply(calledDraft(attempt, { seq: 1, call: step }, 2))
    const own = { path: 'root', step: 1, attempt: 1 }
    run.apply({ k: 'settled', at: 3, ...own, response: succeeded(1), sent: true })
    const noted = [...run.noted]
    const answer = { kind: 'answer', path: 'root', seq: 1, response: succeeded(1), at: 4 } as const
    takeCommand(run.state, answer, run)
    expect(run.noted).toEqual(noted)
    const other = new RunOfTest()
    other.open('root')
    other.apply({ k: 'called', at: 2, ...own, seq: 1, call: scope })
    takeCommand(other.state, answer, other)
    expect(other.noted).toEqual([])
  })

  it('returns by an entry of its own', () => {
    const { attempt } = started()
    const response = succeeded(1)
    const own = { path: 'root', step: 1, attempt: 1 }
    expect(returnedDraft(attempt, response, 5)).toEqual({ k: 'returned', at: 5, ...own, response })
  })
})
