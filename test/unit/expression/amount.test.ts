import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { isTallyError, type Json, type JsonObject } from '../../../src/core/index.js'
import {
  AMOUNT_MAX,
  type Expressions,
  isAmountText,
  loadExpressions,
  toAtomic,
  toHuman
} from '../../../src/expression/index.js'

interface Golden {
  readonly cases: readonly { readonly cel: string; readonly value: Json }[]
  readonly failures: readonly { readonly cel: string; readonly code: string }[]
}
const golden: Golden = JSON.parse(
  readFileSync(new URL('../../vectors/amounts.json', import.meta.url), 'utf8')
)
let expressions: Expressions
beforeAll(async () => {
  expressions = await loadExpressions()
})

const usdc = { chain_id: 'eip155:1', address: '0x00', decimals: 6 }

function failureOf(cel: string, bindings: JsonObject = {}): string {
  try {
    return `value ${JSON.stringify(expressions.evaluate(cel, bindings))}`
  } catch (error) {
    if (isTallyError(error, 'expression.failed')) return String(error.context.failure)
    throw error
  }
}

describe('W4: amounts', () => {
  it.each(golden.cases)('$cel', ({ cel, value }) => {
    expect(expressions.evaluate(cel, { usdc })).toEqual(value)
  })

  it.each(golden.failures)('$cel fails', ({ cel, code }) => {
    expect(failureOf(cel, { usdc })).toBe(code)
  })

  it('binds text as an amount where the schema says so, and only there', () => {
    const cel = 'nodes.a.outputs.allowance < to_atomic(inputs.bridge, usdc)'
    const bindings = {
      nodes: { a: { outputs: { allowance: '999' } } },
      inputs: { bridge: '500000000000000' },
      usdc
    }
    const roots = ['nodes', 'inputs', 'usdc']
    const amounts = ['nodes.*.outputs.allowance']
    const typed = expressions.compileCondition(cel, { roots, amounts })
    expect(typed.evaluate(bindings)).toEqual({ ok: true, value: true })
    const untyped = expressions.compileCondition(cel, { roots })
    expect(untyped.evaluate(bindings)).toMatchObject({ ok: false, code: 'type_error' })
    const wrong = { ...bindings, nodes: { a: { outputs: { allowance: 'max' } } } }
    expect(typed.evaluate(wrong)).toMatchObject({ ok: false, code: 'type_error' })
    const guarded = expressions.compileCondition(`usdc.decimals == 6 || ${cel}`, { roots, amounts })
    expect(guarded.evaluate(wrong)).toEqual({ ok: true, value: true })
  })

  it('types amounts inside lists and whole objects', () => {
    const options = { roots: ['v'], amounts: ['v.list.*', 'v.one'] }
    const bindings = { v: { list: ['1', '2'], one: '3', text: '4' } }
    const of = (cel: string) => expressions.compileValue({ cel }, options).evaluate(bindings)
    expect(of('v.list.exists(a, a == v.one - 1)')).toEqual({ ok: true, value: true })
    const amounts = [['list', '0'], ['list', '1'], ['one']]
    expect(of('v')).toEqual({ ok: true, value: bindings.v, amounts })
    expect(of('v.text == "4"')).toEqual({ ok: true, value: true })
  })

  it('to_human undoes to_atomic', () => {
    const decimals = fc.integer({ min: 0, max: 77 })
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: AMOUNT_MAX }), decimals, (value, places) => {
        expect(toAtomic(toHuman(value, BigInt(places)), BigInt(places))).toBe(value)
      })
    )
  })

  it('agrees with exact integers on + - * / % and comparisons', () => {
    const amount = fc.bigInt({ min: 0n, max: 2n ** 130n })
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        const bindings = { a: a.toString(), b: b.toString() }
        const of = (cel: string) => failureOf(cel, bindings)
        const [x, y] = ['amount(a)', 'amount(b)']
        const shown = (value: bigint) =>
          value < 0n || value > AMOUNT_MAX ? 'overflow' : `value "${value}"`
        expect(of(`${x} + ${y}`)).toBe(shown(a + b))
        expect(of(`${x} - ${y}`)).toBe(shown(a - b))
        expect(of(`${x} * ${y}`)).toBe(shown(a * b))
        expect(of(`${x} / ${y}`)).toBe(b === 0n ? 'divide_by_zero' : shown(a / b))
        expect(of(`${x} % ${y}`)).toBe(b === 0n ? 'divide_by_zero' : shown(a % b))
        expect(of(`${x} < ${y}`)).toBe(`value ${a < b}`)
        expect(of(`${x} == ${y}`)).toBe(`value ${a === b}`)
      }),
      { numRuns: 50 }
    )
  })

  it('knows the text of an amount', () => {
    expect(['0', '10', AMOUNT_MAX.toString()].every(isAmountText)).toBe(true)
    const others = ['', '01', '-1', '+1', '1.0', ' 1', '1e3', '0x1', (AMOUNT_MAX + 1n).toString()]
    expect(others.some(isAmountText)).toBe(false)
  })
})
