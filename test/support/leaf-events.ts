import type { LeafEvent } from '../../src/block/chart/protocol.js'
import type { NodeOptions } from '../../src/code/request.js'
import { failed, succeeded, testRequest } from './fake-pump.js'

/** Events that between them walk every transition of the leaf chart. */

export const leafIdentity = {
  path: 'root',
  node: 'root',
  block: 'demo',
  sideEffects: 'none'
} as const

export const leafLibrary = {
  repair: (name: string) =>
    name === 'fix' ? () => ({ payload: { fixed: true }, context: {} }) : undefined
}

const optionSets: readonly NodeOptions[] = [
  {},
  { onError: 'ask', timeoutMs: 500 },
  {
    recovery: [
      { kind: 'retry', maxAttempts: 2, intervalMs: 5, backoff: 'exp' },
      { kind: 'repair', repair: 'fix' },
      { kind: 'fallback', providers: ['b', 'c'] }
    ],
    onError: 'ask'
  },
  { recovery: [{ kind: 'retry', maxAttempts: 3, intervalMs: 0, backoff: 'fixed' }] },
  {
    recovery: [{ kind: 'retry', maxAttempts: 3, intervalMs: 0, backoff: 'fixed' }],
    sideEffects: 'non_idempotent'
  }
]

const wait = { reason: 'external', request: null, actions: ['resume'] } as const

export const leafEvents: readonly LeafEvent[] = [
  ...optionSets.map(
    (options): LeafEvent => ({
      type: 'block.execute',
      request: testRequest({ n: 1 }),
      step: 1,
      options,
      at: 10
    })
  ),
  { type: 'block.cancel', reason: 'test', at: 20 },
  { type: 'attempt.settled', response: succeeded(7), at: 30 },
  { type: 'attempt.settled', response: failed('boom'), at: 40 },
  { type: 'attempt.settled', response: failed('boom'), at: 41, sent: false },
  { type: 'attempt.waiting', wait, at: 50 },
  { type: 'attempt.resumed', at: 60 },
  { type: 'timer.fired', at: 70 },
  { type: 'decision.made', action: 'retry', at: 80 },
  { type: 'decision.made', action: 'patch', patch: { n: 2, extra: { a: null } }, at: 81 },
  { type: 'decision.made', action: 'skip', at: 82 },
  { type: 'decision.made', action: 'abort', at: 83 },
  { type: 'scope.conflict', at: 90 }
]
