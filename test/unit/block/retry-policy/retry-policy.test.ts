import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decideRetry,
  type FailedAttempt,
  initialCursor,
  retryDelayMs
} from '../../../../src/block/chart/retry-policy.js'
import type { RetryPolicyStep, SideEffectClass } from '../../../../src/code/request.js'
import { failed, testRequest } from '../../../support/fake-pump.js'

const retry: Extract<RetryPolicyStep, { kind: 'retry' }> = {
  kind: 'retry',
  maxAttempts: 3,
  intervalMs: 10,
  backoff: 'fixed'
}

function attempt(change: Partial<FailedAttempt> = {}): FailedAttempt {
  return {
    request: testRequest({ n: 1 }),
    response: failed('boom', 'NetworkError'),
    options: {},
    attempt: 1,
    cursor: initialCursor,
    sideEffects: 'none',
    at: 100,
    sent: undefined,
    canFallBack: true,
    repair: () => undefined,
    ...change
  }
}

describe('recovery', () => {
  it('B8: bubbles by default', () => {
    expect(decideRetry(attempt())).toEqual({
      kind: 'fail',
      response: failed('boom', 'NetworkError')
    })
  })

  it('B8: max_attempts counts executions in all', () => {
    const options = { recovery: [retry] }
    const kinds = [1, 2, 3, 4].map((n) => decideRetry(attempt({ options, attempt: n })).kind)
    expect(kinds).toEqual(['retry', 'retry', 'fail', 'fail'])
  })

  it('W5: delays are fixed i, linear i*k, exp i*2^(k-1), capped', () => {
    const delays = (entry: Partial<typeof retry>) =>
      [1, 2, 3, 4].map((k) => retryDelayMs({ ...retry, ...entry }, k))
    expect(delays({})).toEqual([10, 10, 10, 10])
    expect(delays({ backoff: 'linear' })).toEqual([10, 20, 30, 40])
    expect(delays({ backoff: 'exp' })).toEqual([10, 20, 40, 80])
    expect(delays({ backoff: 'exp', maxIntervalMs: 25 })).toEqual([10, 20, 25, 25])
  })

  it('W5: a delay is always a safe integer', () => {
    const backoff = fc.constantFrom('fixed', 'linear', 'exp')
    fc.assert(
      fc.property(backoff, fc.nat(), fc.integer({ min: 1, max: 1000 }), (kind, intervalMs, k) => {
        const delay = retryDelayMs({ ...retry, backoff: kind, intervalMs }, k)
        expect(Number.isSafeInteger(delay)).toBe(true)
      })
    )
  })

  it.each<[SideEffectClass, string]>([
    ['none', 'retry'],
    ['idempotent', 'retry'],
    ['non_idempotent', 'fail']
  ])('B9: a retry of class %s is a %s', (sideEffects, kind) => {
    expect(decideRetry(attempt({ options: { recovery: [retry] }, sideEffects })).kind).toBe(kind)
  })

  it('B9: a forbidden retry becomes unsafe_to_retry and keeps the reason', () => {
    const decision = decideRetry(
      attempt({ options: { recovery: [retry] }, sideEffects: 'non_idempotent', sent: false })
    )
    expect(decision).toMatchObject({
      kind: 'fail',
      response: {
        reason: 'unsafe_to_retry',
        errorType: 'NetworkError',
        details: { side_effect_class: 'non_idempotent', failure_reason: 'boom' }
      }
    })
  })

  it('B9: on_error ask hands the forbidden retry up for a decision', () => {
    const options = { recovery: [retry], onError: 'ask' } as const
    const decision = decideRetry(attempt({ options, sideEffects: 'non_idempotent' }))
    expect(decision).toMatchObject({ kind: 'ask', response: { reason: 'unsafe_to_retry' } })
  })

  it.each<[SideEffectClass, boolean | undefined, string]>([
    ['none', undefined, 'fallback'],
    ['idempotent', undefined, 'fail'],
    ['idempotent', false, 'fallback'],
    ['idempotent', true, 'fail'],
    ['non_idempotent', false, 'fallback'],
    ['non_idempotent', undefined, 'fail']
  ])('C3: class %s, sent %s: the next provider is a %s', (sideEffects, sent, kind) => {
    const recovery: RetryPolicyStep[] = [{ kind: 'fallback', providers: ['b'] }]
    expect(decideRetry(attempt({ options: { recovery }, sideEffects, sent })).kind).toBe(kind)
  })

  it.each<[RetryPolicyStep[], SideEffectClass, boolean | undefined, string]>([
    [[retry, { kind: 'fallback', providers: ['b'] }], 'non_idempotent', false, 'fallback'],
    [
      [retry, { kind: 'fallback', providers: ['b'] }],
      'non_idempotent',
      undefined,
      'unsafe_to_retry'
    ],
    [[retry, { kind: 'fallback', providers: ['b'] }], 'non_idempotent', true, 'unsafe_to_retry'],
    [[retry, { kind: 'fallback', providers: ['b'] }], 'idempotent', false, 'retry'],
    [[retry, { kind: 'bubble' }], 'non_idempotent', false, 'unsafe_to_retry'],
    [
      [retry, { kind: 'fallback', providers: ['b'], errors: ['Other'] }],
      'non_idempotent',
      false,
      'unsafe_to_retry'
    ]
  ])('C3: where unsafe entries are passed, %j of class %s, sent %s: %s', (...row) => {
    const [recovery, sideEffects, sent, expected] = row
    const options = { recovery, passesUnsafe: true } as const
    const decision = decideRetry(attempt({ options, sideEffects, sent }))
    expect(decision.kind === 'fail' ? decision.response.reason : decision.kind).toBe(expected)
    const before = decideRetry(attempt({ options: { recovery }, sideEffects, sent }))
    expect(before.kind).toBe(sideEffects === 'idempotent' ? 'retry' : 'fail')
  })

  it('B8: the list is walked in order, each provider once, then it bubbles', () => {
    const recovery: RetryPolicyStep[] = [
      { ...retry, maxAttempts: 2 },
      { kind: 'repair', repair: 'fix' },
      { kind: 'fallback', providers: ['b', 'c'] },
      { kind: 'bubble' },
      { ...retry, maxAttempts: 99 }
    ]
    const repair = () => () => ({ payload: 'fixed', context: {} })
    let cursor = initialCursor
    const kinds: string[] = []
    for (let n = 1; n < 9; n += 1) {
      const decision = decideRetry(attempt({ options: { recovery }, attempt: n, cursor, repair }))
      kinds.push(decision.kind === 'fallback' ? decision.provider : decision.kind)
      if (decision.kind === 'fail') break
      cursor = decision.cursor
    }
    expect(kinds).toEqual(['retry', 'repair', 'b', 'c', 'fail'])
  })

  it('B8: entries are chosen by the type of the first failure', () => {
    const recovery: RetryPolicyStep[] = [{ ...retry, errors: ['NetworkError'] }]
    const options = { recovery }
    expect(decideRetry(attempt({ options })).kind).toBe('retry')
    expect(decideRetry(attempt({ options, response: failed('x', 'Other') })).kind).toBe('fail')
    const cursor = { index: 0, fallback: 0, firstErrorType: 'NetworkError' }
    const later = attempt({ options, attempt: 2, cursor, response: failed('x', 'Other') })
    expect(decideRetry(later).kind).toBe('retry')
  })

  it('B8: a repair that throws or declines is passed over', () => {
    const recovery: RetryPolicyStep[] = [{ kind: 'repair', repair: 'fix' }, retry]
    const throwing = () => () => {
      throw new Error('no')
    }
    const options = { recovery }
    expect(decideRetry(attempt({ options, repair: throwing })).kind).toBe('retry')
    expect(decideRetry(attempt({ options, repair: () => () => null })).kind).toBe('retry')
  })

  it('what a person decided is not retried', () => {
    const options = { recovery: [retry] }
    for (const reason of ['cancelled', 'denied']) {
      expect(decideRetry(attempt({ options, response: failed(reason) })).kind).toBe('fail')
    }
  })

  it('W5: a retry that would come after the deadline is timed_out', () => {
    const options = { recovery: [retry], deadline: 110, timeoutMs: 50 }
    expect(decideRetry(attempt({ options }))).toMatchObject({
      kind: 'fail',
      response: { reason: 'timed_out', details: { timeout_ms: 50, failure_reason: 'boom' } }
    })
  })
})
