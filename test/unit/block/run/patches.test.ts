import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { patchRefusal } from '../../../../src/block/run/waits.js'
import { type Block, defineBlock } from '../../../../src/code/block.js'
import { type Json, limits } from '../../../../src/core/index.js'

/** W14: a patch of what failed takes effect as a whole, or is refused and says why. */

const run = () => null
const named = { name: 'pay', version: '1.0.0', run } as const
const inner = z.object({ to: z.string() })
const open = { amount: z.int(), memo: z.string().nullish(), inner: inner.optional() }
const pay: Block = defineBlock({ ...named, input: z.object(open) })
const strict: Block = defineBlock({ ...named, input: z.strictObject(open) })
const any: Block = defineBlock(named)
const deaf: Block = defineBlock({ ...named, input: z.unknown().transform(() => 1) })

const paid = { amount: 5_000, inner: { to: 'anna' } }

describe('a patch of what failed', () => {
  it.each<[string, Block | undefined, Json, Json]>([
    ['another value', pay, paid, { amount: 5 }],
    ['the same value', pay, paid, { amount: 5_000 }],
    ['no value', pay, paid, {}],
    ['a value inside', pay, paid, { inner: { to: 'bert' } }],
    ['a value that may be there', pay, paid, { memo: 'for June' }],
    ['what is removed', pay, paid, { inner: null }],
    ['a value of a strict schema', strict, paid, { memo: 'for June' }],
    ['a member, without a schema', any, paid, { amount: 5 }],
    ['any member of what has none, without a schema', any, {}, { amount: 5 }],
    ['any member of what is null, without a schema', any, null, { amount: 5 }],
    ['the whole, without a schema', any, 5, 6],
    ['a member, without a block', undefined, paid, { amount: 5 }],
    ['any member of what has none, without a block', undefined, {}, { amount: 5 }]
  ])('is taken: %s', (_, block, payload, value) => {
    expect(patchRefusal(block, { payload, value })).toBeUndefined()
  })

  it.each<[string, Block | undefined, Json, Json, RegExp]>([
    ['of another type', pay, paid, { amount: '5,5' }, /^pay does not take what it makes: amount/],
    ['of a fraction', pay, paid, { amount: 0.5 }, /^pay does not take what it makes: amount/],
    [
      'that a strict schema has not',
      strict,
      paid,
      { amont: 5 },
      /^pay does not take what it makes/
    ],
    ['that nothing reads', pay, paid, { amont: 5 }, /^nothing reads amont$/],
    ['beside one that is read', pay, paid, { amount: 5, amont: 6 }, /^nothing reads amont$/],
    ['inside', pay, paid, { inner: { too: 'bert' } }, /^nothing reads inner\.too$/],
    ['inside what is not there', pay, paid, { memo: { a: 1 } }, /^pay does not take what it makes/],
    ['that is removed and is not there', pay, paid, { memo: null }, /^nothing reads memo$/],
    ['that is new, without a schema', any, paid, { amont: 5 }, /^nothing reads amont$/],
    ['that is new inside', any, paid, { inner: { too: 1 } }, /^nothing reads inner\.too$/],
    ['that every object has', any, paid, { toString: 1 }, /^nothing reads toString$/],
    ['inside of a text', any, paid, { amount: { a: 1 } }, /^nothing reads amount\.a$/],
    ['that is new, without a block', undefined, paid, { amont: 5 }, /^nothing reads amont$/],
    ['as a whole', deaf, 5, 6, /^nothing reads the value$/]
  ])('is refused: a value %s', (_, block, payload, value, problem) => {
    expect(patchRefusal(block, { payload, value })).toMatch(problem)
  })

  it('is refused with more changes than one may have', () => {
    const members = (count: number) => {
      return Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, at]))
    }
    const most = members(limits.RUNTIME_PATCHES_MAX)
    expect(patchRefusal(any, { payload: {}, value: most })).toBeUndefined()
    const more = members(limits.RUNTIME_PATCHES_MAX + 1)
    expect(patchRefusal(any, { payload: {}, value: more })).toMatch(
      /^it has more than \d+ changes$/
    )
  })

  it('is judged by blocks that know how they are patched', () => {
    const asked: unknown[] = []
    const refuses = (answer: unknown) => {
      asked.push(answer)
      return 'no'
    }
    const failure = { success: false, data: null, metadata: {} }
    const given = { payload: paid, value: { amount: 5 }, failure, hasSent: true }
    expect(patchRefusal({ ...pay, refuses }, given)).toBe('no')
    expect(asked).toEqual([{ ...given, question: null }])
  })
})
