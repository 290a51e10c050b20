import { evaluate as evaluateByCelJs } from 'cel-js'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Expressions, loadExpressions } from '../../src/expression/index.js'
import { cases } from '../support/effort.js'

let expressions: Expressions
beforeAll(async () => {
  expressions = await loadExpressions()
})

const bindings = { a: 7, b: -3, c: 0, s: 'x', t: 'yy', yes: true, no: false }

// The subset on which cel-js 0.8.2 is right: small integers, comparisons, booleans, choices. For it
// zero times a negative number is not equal to zero, so zero is added to each product.
const { whole, truth } = fc.letrec<{ whole: string; truth: string }>((tie) => ({
  whole: fc.oneof(
    { maxDepth: 4 },
    fc.integer({ min: 0, max: 50 }).map(String),
    fc.constantFrom('a', 'b', 'c'),
    fc
      .tuple(tie('whole'), fc.constantFrom('+', '-', '*'), tie('whole'))
      .map(([left, operator, right]) => `(${left} ${operator} ${right} + 0)`)
  ),
  truth: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('yes', 'no', 'true', 'false', 's == t', 's != t', 's == "x"'),
    fc
      .tuple(tie('whole'), fc.constantFrom('<', '<=', '>', '>=', '==', '!='), tie('whole'))
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    fc
      .tuple(tie('truth'), fc.constantFrom('&&', '||'), tie('truth'))
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`)
  )
}))

describe('agreement with cel-js where cel-js is right', () => {
  it('on small integer arithmetic', () => {
    fc.assert(
      fc.property(whole, (expression) => {
        const ours = expressions.evaluate(expression, bindings)
        expect(ours).toBe(normal(evaluateByCelJs(expression, bindings)))
      }),
      { numRuns: cases({ usual: 100, long: 165 }) }
    )
  })

  it('on comparisons and booleans', () => {
    fc.assert(
      fc.property(truth, (expression) => {
        expect(expressions.evaluate(expression, bindings)).toBe(
          evaluateByCelJs(expression, bindings)
        )
      }),
      { numRuns: cases({ usual: 100, long: 165 }) }
    )
  })
})

// The three lines of docs/decisions/0002-cel-engine.md, executed.
describe('why the engine is not cel-js', () => {
  it('token amounts: cel-js compares them as text', () => {
    const amounts = { allowance: '999', needed: '500000000000000000000' }
    expect(evaluateByCelJs('allowance < needed', amounts)).toBe(false)
    const ours = 'amount(allowance) < amount(needed)'
    expect(expressions.evaluate(ours, amounts)).toBe(true)
  })

  it('integers: cel-js divides them as doubles and rounds them', () => {
    expect(evaluateByCelJs('7 / 2')).toBe(3.5)
    expect(expressions.evaluate('7 / 2', {})).toBe(3)
    expect(evaluateByCelJs('9007199254740993 == 9007199254740992')).toBe(true)
    expect(expressions.evaluate('9007199254740993 == 9007199254740992', {})).toBe(false)
  })

  it('prototypes: cel-js hands functions of the host to the expression', () => {
    expect(typeof evaluateByCelJs('a.constructor', { a: {} })).toBe('function')
    expect(() => expressions.evaluate('a.constructor', { a: {} })).toThrow(
      expect.objectContaining({ code: 'expression.failed' })
    )
  })
})

function normal(value: unknown): unknown {
  return value === 0 ? 0 : value
}
