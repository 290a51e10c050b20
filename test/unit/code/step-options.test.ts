import { describe, expect, it } from 'vitest'
import { nodeOptionsOf, type StepOptions } from '../../../src/code/step-options.js'
import { limits } from '../../../src/core/index.js'

const block = { name: 'pay', version: '1.0.0' }

/** What is refused, as programs that no compiler has looked at give it. */
function refusedOption(options: object): unknown {
  try {
    return nodeOptionsOf(options as StepOptions, block)
  } catch (error) {
    return (error as { details?: { option?: unknown } }).details?.option
  }
}

describe('options of a step of a workflow in code', () => {
  it.each([
    [3, { maxAttempts: 3, intervalMs: 1_000, backoff: 'exp' }],
    [
      { attempts: 2, interval: '5s', backoff: 'fixed' as const },
      { maxAttempts: 2, intervalMs: 5_000, backoff: 'fixed' }
    ],
    [
      { attempts: 2, interval: 0, maxInterval: '1m', errors: ['timeout'] },
      { maxAttempts: 2, intervalMs: 0, backoff: 'exp', maxIntervalMs: 60_000, errors: ['timeout'] }
    ]
  ])('says how often it is tried: %j', (retry, expected) => {
    expect(nodeOptionsOf({ retry }, block)).toEqual({ recovery: [{ kind: 'retry', ...expected }] })
  })

  it.each<[string, object]>([
    ['retry.attempts', { retry: 0 }],
    ['retry.attempts', { retry: 1.5 }],
    ['retry.attempts', { retry: limits.RETRY_ATTEMPTS_MAX + 1 }],
    ['retry.attempts', { retry: { attempts: '3' } }],
    ['retry.backoff', { retry: { attempts: 3, backoff: 2 } }],
    ['retry.backoff', { retry: { attempts: 3, backoff: 'double' } }],
    ['retry.interval', { retry: { attempts: 3, interval: 'soon' } }],
    ['retry.maxInterval', { retry: { attempts: 3, maxInterval: Number.NaN } }],
    ['timeout', { timeout: -1 }]
  ])('refuses %s of %j', (option, options) => {
    expect(refusedOption(options)).toBe(option)
  })

  it('are none where all are the defaults', () => {
    expect(nodeOptionsOf({ onError: 'fail' }, block)).toBeUndefined()
  })
})
