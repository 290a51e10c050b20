import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '../../src/core/index.js'
import { type Expressions, loadExpressions } from '../../src/expression/index.js'
import { cases } from '../support/effort.js'

/**
 * Numbers of workflows against fractions: an evaluator of its own that knows nothing of digits and
 * scales, and says only at the end whether a fraction is a decimal number.
 */
interface Fraction {
  readonly over: bigint
  readonly under: bigint
}
type Result = Fraction | boolean | 'fails'

type Tree =
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'unary'; readonly name: string; readonly of: Tree }
  | { readonly kind: 'binary'; readonly name: string; readonly left: Tree; readonly right: Tree }
  | { readonly kind: 'choice'; readonly test: Tree; readonly yes: Tree; readonly no: Tree }

const digits = fc.stringMatching(/^(0|[1-9][0-9]{0,24})(\.[0-9]{1,12})?$/)
const unaries = ['-', 'abs', 'floor', 'ceil', 'round', 'int', 'double'] as const
const binaries = ['+', '-', '*', '/', '%', 'min', 'max', 'pow'] as const
const comparisons = ['<', '<=', '>', '>=', '==', '!='] as const

const { number: tree } = fc.letrec<{ number: Tree; test: Tree }>((tie) => ({
  number: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    digits.map((text): Tree => ({ kind: 'number', text })),
    fc.record({
      kind: fc.constant('unary' as const),
      name: fc.constantFrom(...unaries),
      of: tie('number')
    }),
    fc.record({
      kind: fc.constant('binary' as const),
      name: fc.constantFrom(...binaries),
      left: tie('number'),
      right: tie('number')
    }),
    fc.record({
      kind: fc.constant('choice' as const),
      test: tie('test'),
      yes: tie('number'),
      no: tie('number')
    })
  ),
  test: fc.record({
    kind: fc.constant('binary' as const),
    name: fc.constantFrom(...comparisons),
    left: tie('number'),
    right: tie('number')
  })
}))

function celOf(one: Tree): string {
  switch (one.kind) {
    case 'number':
      return one.text
    case 'unary':
      return one.name === '-' ? `(- ${celOf(one.of)})` : `${one.name}(${celOf(one.of)})`
    case 'binary': {
      const [left, right] = [celOf(one.left), celOf(one.right)]
      if (/^[a-z]/.test(one.name)) return `${one.name}(${left}, ${right})`
      return `(${left} ${one.name} ${right})`
    }
    case 'choice':
      return `(${celOf(one.test)} ? ${celOf(one.yes)} : ${celOf(one.no)})`
  }
}

function exactOf(one: Tree): Result {
  switch (one.kind) {
    case 'number': {
      const [whole = '', part = ''] = one.text.split('.')
      return { over: BigInt(whole + part), under: 10n ** BigInt(part.length) }
    }
    case 'unary': {
      const of = exactOf(one.of)
      return typeof of === 'object' ? unary(one.name, of) : 'fails'
    }
    case 'binary': {
      const [left, right] = [exactOf(one.left), exactOf(one.right)]
      if (typeof left !== 'object' || typeof right !== 'object') return 'fails'
      return binary(one.name, left, right)
    }
    case 'choice': {
      const test = exactOf(one.test)
      return typeof test === 'boolean' ? exactOf(test ? one.yes : one.no) : 'fails'
    }
  }
}

function unary(name: string, of: Fraction): Result {
  const below = floor(of)
  switch (name) {
    case '-':
      return { over: -of.over, under: of.under }
    case 'abs':
      return of.over < 0n ? { over: -of.over, under: of.under } : of
    case 'floor':
      return whole(below)
    case 'ceil':
      return whole(-floor({ over: -of.over, under: of.under }))
    case 'round': {
      const half = {
        over: 2n * (of.over < 0n ? -of.over : of.over) + of.under,
        under: 2n * of.under
      }
      return whole(of.over < 0n ? -floor(half) : floor(half))
    }
    case 'int':
      return whole(of.over / of.under)
    default:
      return of
  }
}

function binary(name: string, left: Fraction, right: Fraction): Result {
  const a = left.over * right.under
  const b = right.over * left.under
  const under = left.under * right.under
  switch (name) {
    case '+':
      return { over: a + b, under }
    case '-':
      return { over: a - b, under }
    case '*':
      return { over: left.over * right.over, under }
    case '/':
      return quotient(a, b)
    case '%': {
      if (!isWhole(left) || !isWhole(right) || b === 0n) return 'fails'
      return whole((left.over / left.under) % (right.over / right.under))
    }
    case 'min':
      return a <= b ? left : right
    case 'max':
      return a >= b ? left : right
    case 'pow': {
      const times = right.over / right.under
      if (!isWhole(right) || times < 0n || times > 10_000n) return 'fails'
      // Larger ones have too many digits, or take the oracle too long.
      if (times > 60n) return 'fails'
      return { over: left.over ** times, under: left.under ** times }
    }
    default:
      return { '<': a < b, '<=': a <= b, '>': a > b, '>=': a >= b, '==': a === b, '!=': a !== b }[
        name
      ] as boolean
  }
}

function quotient(over: bigint, under: bigint): Result {
  if (under === 0n) return 'fails'
  const fraction = under < 0n ? { over: -over, under: -under } : { over, under }
  return textOf(fraction) === undefined ? 'fails' : fraction
}

/** The digits of a fraction, if they end. */
function textOf({ over, under }: Fraction): string | undefined {
  const shared = divisor(over < 0n ? -over : over, under)
  let rest = under / shared
  let places = 0
  for (; rest % 10n === 0n; rest /= 10n) places += 1
  for (const factor of [2n, 5n]) for (; rest % factor === 0n; rest /= factor) places += 1
  if (rest !== 1n) return undefined
  const scaled = (over * 10n ** BigInt(places)) / under
  const sign = scaled < 0n ? '-' : ''
  const text = (scaled < 0n ? -scaled : scaled).toString().padStart(places + 1, '0')
  const fraction = text.slice(text.length - places).replace(/0+$/, '')
  return `${sign}${text.slice(0, text.length - places)}${fraction === '' ? '' : `.${fraction}`}`
}

function divisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : divisor(b, a % b)
}

function floor({ over, under }: Fraction): bigint {
  return over >= 0n ? over / under : -((-over + under - 1n) / under)
}

function whole(over: bigint): Fraction {
  return { over, under: 1n }
}

function isWhole({ over, under }: Fraction): boolean {
  return over % under === 0n
}

describe('W4: numbers of workflows', () => {
  let ais: Expressions
  beforeAll(async () => {
    ais = (await loadExpressions()).ais
  })

  const evaluated = (cel: string): Json => {
    const result = ais.compileValue({ cel }, { roots: [] }).evaluate({})
    return result.ok ? String(result.value) : 'fails'
  }

  it('are those of exact fractions, or a failure where a quotient does not end', () => {
    const property = fc.property(tree, (one) => {
      const cel = celOf(one)
      fc.pre(cel.length < 2_000 && hasSmallPowers(one))
      const expected = exactOf(one)
      const text = typeof expected === 'object' ? textOf(expected) : expected
      expect(evaluated(cel), cel).toBe(text)
    })
    fc.assert(property, { numRuns: cases({ usual: 400, long: 5_500, soak: 200_000 }) })
  })

  it('are read from text and written as they were, whatever their size', () => {
    const property = fc.property(fc.bigInt(), fc.nat(40), (int, places) => {
      const text = textOf({ over: int, under: 10n ** BigInt(places) }) ?? ''
      const options = { roots: ['n'], amounts: ['n'] }
      const result = ais.compileValue({ cel: 'n' }, options).evaluate({ n: text })
      expect(result).toEqual({ ok: true, value: text, amounts: [[]] })
    })
    fc.assert(property, { numRuns: cases({ usual: 200, long: 2750 }) })
  })
})

/** Exponents that the oracle computes: it knows no bound of digits. */
function hasSmallPowers(one: Tree): boolean {
  switch (one.kind) {
    case 'number':
      return true
    case 'unary':
      return hasSmallPowers(one.of)
    case 'choice':
      return [one.test, one.yes, one.no].every(hasSmallPowers)
    case 'binary': {
      if (!hasSmallPowers(one.left) || !hasSmallPowers(one.right)) return false
      if (one.name !== 'pow') return true
      const exponent = exactOf(one.right)
      const isLeaf = one.left.kind === 'number'
      return isLeaf && (typeof exponent !== 'object' || exponent.over / exponent.under <= 60n)
    }
  }
}
