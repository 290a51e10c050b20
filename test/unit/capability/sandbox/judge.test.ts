import { describe, expect, it } from 'vitest'
import { judge } from '../../../../src/capability/sandbox/judge.js'
import type { GuestReport } from '../../../../src/capability/sandbox/protocol.js'
import { canonicalize, limits, sha256Hex } from '../../../../src/core/index.js'
import { answered } from '../guest.js'

const facts = {
  gasTicks: 3,
  used: ['storage.write'],
  denied: [{ capability: 'wallet.send', times: 2 }]
}
const plain: GuestReport = {
  ...facts,
  ending: { kind: 'done', text: '{"b":1,"a":2}' },
  calls: [],
  writes: []
}
const call = (seq: number, text: string) => ({ seq, capability: 'network.request', text })
const judged = (report: Partial<GuestReport>, recorded = [] as ReturnType<typeof answered>[]) =>
  judge({ report: { ...plain, ...report }, packageId: 'guest', recorded })

const error = { name: 'TypeError', message: 'no' }
const lone = '"\\ud800"'

describe('what an execution came to', () => {
  it('is its result and its writes, canonical, with all calls that were answered', () => {
    const asked = { url: 'x', get: true }
    const outcome = judged(
      {
        calls: [call(0, '{ "url": "x", "get": true }')],
        writes: [
          ['n', '{"z":1,"y":2}'],
          ['gone', null]
        ]
      },
      [answered(0, asked, 1)]
    )
    expect(outcome).toEqual({
      kind: 'done',
      resultText: '{"a":2,"b":1}',
      writes: new Map([
        ['packages/guest/n', '{"y":2,"z":1}'],
        ['packages/guest/gone', null]
      ]),
      calls: [
        {
          seq: 0,
          capability: 'network.request',
          requestText: canonicalize(asked),
          requestHash: sha256Hex(canonicalize(asked))
        }
      ],
      ...facts
    })
  })

  it.each(['done', 'pending'] as const)('is its open calls alone when it is %s', (kind) => {
    const ending = kind === 'done' ? plain.ending : ({ kind } as const)
    const outcome = judged({ ending, calls: [call(0, '1'), call(1, '2')] }, [answered(0, 1, null)])
    expect(outcome).toEqual({
      kind: 'call',
      calls: [
        { seq: 1, capability: 'network.request', requestText: '2', requestHash: sha256Hex('2') }
      ],
      ...facts
    })
  })

  it.each<[string, Partial<GuestReport>, string, string]>([
    ['a limit', { exceeded: 'gas_exceeded' }, 'gas_exceeded', 'a limit was exceeded'],
    [
      'a limit, whatever the engine said after it',
      { exceeded: 'memory_exceeded', engineFault: 'RangeError' },
      'memory_exceeded',
      'a limit was exceeded'
    ],
    ['loading', { ending: { kind: 'not_loaded', ...error } }, 'not_loaded', 'TypeError: no'],
    ['an error', { ending: { kind: 'thrown', ...error } }, 'thrown', 'TypeError: no'],
    ['no plain result', { ending: { kind: 'unfit', ...error } }, 'invalid_value', 'TypeError: no'],
    [
      'waiting for nothing',
      { ending: { kind: 'pending' } },
      'never_settled',
      'run waits for something that cannot happen'
    ],
    [
      'the stack',
      { ending: { kind: 'thrown', name: 'InternalError', message: 'stack overflow' } },
      'stack_exceeded',
      'InternalError: stack overflow'
    ],
    [
      'the stack of a parser',
      { ending: { kind: 'unfit', name: 'SyntaxError', message: 'stack overflow' } },
      'stack_exceeded',
      'SyntaxError: stack overflow'
    ],
    [
      'an error that borrows the words',
      { ending: { kind: 'thrown', name: 'Error', message: 'stack overflow' } },
      'thrown',
      'Error: stack overflow'
    ],
    [
      'an error that borrows the name',
      { ending: { kind: 'thrown', name: 'InternalError', message: 'no' } },
      'thrown',
      'InternalError: no'
    ],
    [
      'an answer before its call',
      { divergedAt: 4, ending: { kind: 'thrown', ...error } },
      'diverged',
      'call 4 was not made again'
    ],
    ['a key of no characters', { writes: [['', '1']] }, 'invalid_key', 'the storage key ""'],
    [
      'a key that is too long',
      { writes: [['k'.repeat(limits.STATE_KEY_LENGTH_MAX), null]] },
      'invalid_key',
      `the storage key "${'k'.repeat(limits.STATE_KEY_LENGTH_MAX)}"`
    ]
  ])('is a failure that every machine repeats, by %s', (_name, report, code, message) => {
    expect(judged(report)).toEqual({
      kind: 'failed',
      code,
      message,
      isDeterministic: true,
      ...facts
    })
  })

  it.each<[string, Partial<GuestReport>, string]>([
    ['a result', { ending: { kind: 'done', text: lone } }, 'the result: '],
    ['a written value', { writes: [['n', lone]] }, 'the value of n: '],
    ['a request', { calls: [call(0, lone)] }, 'the request to network.request: '],
    ['a result with a reserved key', { ending: { kind: 'done', text: '{"$a":1}' } }, 'the result: ']
  ])('names the value that no ledger keeps: %s', (_name, report, start) => {
    const outcome = judged(report)
    expect(outcome).toMatchObject({ kind: 'failed', code: 'invalid_value', isDeterministic: true })
    expect(outcome.kind === 'failed' && outcome.message.startsWith(start)).toBe(true)
    expect(outcome.kind === 'failed' && outcome.message.length).toBeGreaterThan(start.length)
  })

  it('diverges where a recorded call is missing or asks for something else', () => {
    const recorded = [answered(0, 1, null), answered(1, 2, null)]
    const code = 'diverged'
    expect(judged({ calls: [call(0, '1')] }, recorded)).toMatchObject({
      code,
      message: 'call 1 was not made again'
    })
    expect(judged({ calls: [call(0, '1'), call(1, '3')] }, recorded)).toMatchObject({
      code,
      message: 'call 1 asks for something else than before'
    })
  })

  it('is no outcome when our own code fails: the error is thrown', () => {
    const text = { toString: () => '1' } as unknown as string
    expect(() => judged({ ending: { kind: 'done', text } })).toThrow(TypeError)
  })
})

describe('a fault of the engine', () => {
  it('is nothing that another machine would confirm, and says nothing of the package', () => {
    expect(judged({ engineFault: 'RangeError' })).toEqual({
      kind: 'failed',
      code: 'engine_failed',
      message: 'RangeError',
      isDeterministic: false
    })
  })
})
