import { beforeAll, describe, expect, it } from 'vitest'
import { isTallyError, type Json, type JsonObject } from '../../../src/core/index.js'
import { type Expressions, loadExpressions } from '../../../src/expression/index.js'

let ais: Expressions
beforeAll(async () => {
  ais = (await loadExpressions()).ais
})

const usdc = { decimals: 6 }
const data: JsonObject = {
  x: { y: null, half: 0.5, big: 2 ** 53, list: [3, 1, 2], text: '😀', usdc, none: [] },
  a: '500000000000000000000',
  d: '-1.50'
}

function outcome(cel: string): Json {
  try {
    const compiled = ais.compileValue({ cel }, { roots: Object.keys(data), amounts: ['a', 'd'] })
    const result = compiled.evaluate(data)
    return result.ok ? result.value : `! ${result.code}`
  } catch (error) {
    if (isTallyError(error, 'expression.invalid')) return '! invalid'
    throw error
  }
}

const table: Readonly<Record<string, readonly (readonly [string, Json])[]>> = {
  'counts in exact decimals': [
    ['10 / 4', '2.5'],
    ['10 / 5', 2],
    ['1 / 3', '! invalid_argument'],
    ['1 / 0', '! divide_by_zero'],
    ['7 % 0', '! divide_by_zero'],
    ['-7 % 2', -1],
    ['7.5 % 2', '! type_error'],
    ['0.1 + 0.2 == 0.3', true],
    ['0.1 + 0.2', '0.3'],
    ['1.50', '1.5'],
    ['1.5 + 1.5', '3'],
    ['1e3', '1000'],
    ['1.5e-3 * 2', '0.003'],
    ['.5', '0.5'],
    ['-0.25 - -0.75', '0.5'],
    ['1.2345678901234567890123456789', '1.2345678901234567890123456789'],
    ['100000000000000000000 * 100000000000000000000', `1${'0'.repeat(40)}`],
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740992', '9007199254740992'],
    ['9223372036854775807 + 1', '9223372036854775808'],
    ['-(-9223372036854775808)', '9223372036854775808'],
    ['5u', 5],
    ['0x10 + 1', 17],
    ['a / 3 * 3 == a', '! invalid_argument'],
    ['a / 8', '62500000000000000000'],
    ['a - 1', '499999999999999999999'],
    ['d', '-1.5'],
    ['d + 2 < 1', true],
    ['-d', '1.5'],
    ['(1 / 3 == 1) || true', true],
    ['1e999 / 1e998', '10'],
    ['1e-999 * 1e999', '1']
  ],
  'refuses mixed types': [
    ['1 == "1"', '! type_error'],
    ['a == "500000000000000000000"', '! type_error'],
    ['"999" < a', '! type_error'],
    ['1 < "2"', '! type_error'],
    ['true < false', '! type_error'],
    ['true == 1', '! type_error'],
    ['[1] == ["1"]', '! type_error'],
    ['{"k": 1} == {"k": "1"}', '! type_error'],
    ['1 in ["1"]', '! type_error'],
    ['[1] == 1', '! type_error'],
    ['x.y == null', true],
    ['x.y == 1', false],
    ['null != "a"', true],
    ['1 == 1.0', true],
    ['[1, 2.50] == [1.0, 2.5]', true],
    ['2.0 in [1, 2]', true],
    ['"k" in {"k": 1}', true],
    ['1 in {1: 2}', true],
    ['1 - "1"', '! type_error'],
    ['-"1"', '! type_error'],
    ['x.half', '! type_error'],
    ['x.big', '! type_error'],
    ['has(x.half)', true],
    ['1 ? 2 : 3', '! type_error']
  ],
  'joins text': [
    ['"a" + 1', 'a1'],
    ['1.50 + "a"', '1.5a'],
    ['"a" + true', 'atrue'],
    ['"a" + a', 'a500000000000000000000'],
    ['"a" + null', '! type_error'],
    ['"a" + [1]', '! type_error'],
    ['[1] + [2]', [1, 2]]
  ],
  'has the functions of AIS': [
    ['size("😀") + size([1, 2]) + size({"a": 1}) + x.text.size()', 5],
    ['size(1)', '! type_error'],
    ['contains("abc", "b") && "abc".contains("c")', true],
    ['startsWith("abc", "a") && "abc".endsWith("c")', true],
    ['"abc".matches("^[a-c]+$") && matches("abc", "b")', true],
    ['"abc".matches("(")', '! invalid_argument'],
    ['"a".matches("(?=a)")', '! invalid_argument'],
    ['lower("ÀBC")', 'Àbc'],
    ['"abcß".upper()', 'ABCß'],
    ['trim(" \\t a b \\n")', 'a b'],
    ['int("12")', 12],
    ['int(2.9)', 2],
    ['int(-2.9)', -2],
    ['int("2.9")', '! invalid_argument'],
    ['int("")', '! invalid_argument'],
    ['int("0x10")', '! invalid_argument'],
    ['int(true)', '! type_error'],
    ['int(a)', '500000000000000000000'],
    ['int(d)', -1],
    ['uint(5)', 5],
    ['uint(-5)', '! overflow'],
    ['uint("-5")', '! overflow'],
    ['double("1.50")', '1.5'],
    ['double("1e3")', '! invalid_argument'],
    ['double(2)', 2],
    ['string(1.50)', '1.5'],
    ['string(a)', '500000000000000000000'],
    ['string(true)', 'true'],
    ['bool("true")', true],
    ['bool("yes")', '! invalid_argument'],
    ['type(1)', 'int'],
    ['type(a) == int', true],
    ['type(1.5) == double', true],
    ['type("a") == string && type([]) == list && type({}) == map', true],
    ['type(null) == null_type && type(true) == bool', true],
    ['[1, 2].all(n, n > 0) && [1, 2].exists(n, n == 2)', true],
    ['[1, 2, 3].map(n, n * 2)', [2, 4, 6]],
    ['[1, 2, 3].filter(n, n / 2 >= 1)', [2, 3]],
    ['[1, 2, 3].exists_one(n, n == 2)', true],
    ['abs(-1.5)', '1.5'],
    ['min(3, 1.5, 2)', '1.5'],
    ['max([3, 1.5, 2])', 3],
    ['max(x.list)', 3],
    ['min(x.none)', '! invalid_argument'],
    ['min("1", 2)', '! type_error'],
    ['floor(-1.5)', '-2'],
    ['floor(7 / 2)', '3'],
    ['ceil(-1.5)', '-1'],
    ['ceil(1.2)', '2'],
    ['round(2.5)', '3'],
    ['round(-2.5)', '-3'],
    ['round(2.49)', '2'],
    ['pow(2, 10)', 1024],
    ['pow(1.5, 2)', '2.25'],
    ['pow(2, -1)', '! invalid_argument'],
    ['pow(2, 0.5)', '! invalid_argument'],
    ['pow(1, 10001)', '! invalid_argument'],
    ['pow(0, 0)', 1],
    ['size(string(pow(2, 10000)))', 3_011]
  ],
  'scales amounts as the golden vectors say': [
    ['to_atomic("1.23", 6)', '1230000'],
    ['to_atomic("0001.2300", 6)', '1230000'],
    ['to_atomic("0.000000001", 9)', '1'],
    ['to_atomic("1", 0)', '1'],
    ['to_atomic(1.23, x.usdc)', '1230000'],
    ['to_atomic("1.234", 2)', '! invalid_argument'],
    ['to_atomic("0.1", 0)', '! invalid_argument'],
    ['to_atomic("-1", 0)', '! invalid_argument'],
    ['to_atomic(".5", 1)', '! invalid_argument'],
    ['to_atomic("1.", 1)', '! invalid_argument'],
    ['to_atomic("1e2", 1)', '! invalid_argument'],
    ['to_atomic("", 1)', '! invalid_argument'],
    ['to_atomic(" 1", 1)', '! invalid_argument'],
    ['to_atomic("1", 78)', '! invalid_argument'],
    ['to_human(1230000, 6)', '1.23'],
    ['to_human(1, 6)', '0.000001'],
    ['to_human(1000000, 6)', '1'],
    ['to_human(10, 0)', '10'],
    ['to_human(-1, 6)', '! overflow'],
    ['to_human(1, 78)', '! invalid_argument'],
    ['to_human("1.1", 6)', '! invalid_argument'],
    ['mul_div(100, 9950, 10000)', '99'],
    ['mul_div(1, 1, 2)', '0'],
    ['mul_div(1, 1, 2, "ceil")', '1'],
    ['mul_div(1, 1, 0)', '! divide_by_zero'],
    ['mul_div(-1, 1, 1)', '! overflow'],
    ['mul_div("1.1", 1, 1)', '! invalid_argument'],
    ['mul_div(1.1, 1, 1)', '! invalid_argument'],
    ['to_atomic("850.25", x.usdc) - to_atomic("500", x.usdc)', '350250000']
  ],
  'has nothing else': [
    ['amount(1)', '! invalid'],
    ['timestamp(0)', '! invalid'],
    ['duration("1s")', '! invalid'],
    ['bytes("a")', '! invalid'],
    ['b"a"', '! invalid'],
    ['dyn(1)', '! invalid'],
    ['x.text.lower(1)', '! invalid'],
    ['1.abs()', '! invalid'],
    ['abs()', '! invalid'],
    ['min()', '! invalid'],
    ['uint', '! invalid'],
    ['1e1000', '! invalid'],
    ['1e1000000', '! invalid']
  ]
}

describe.each(Object.entries(table))('the profile ais-cel/1 %s', (_, rows) => {
  it.each(rows)('%s', (cel, expected) => {
    expect(outcome(cel)).toEqual(expected)
  })
})

describe('results under ais-cel/1', () => {
  const evaluated = (cel: string) =>
    ais.compileValue({ cel }, { roots: ['a'], amounts: ['a'] }).evaluate({ a: '7' })

  it('say where text is a number, of a whole list by one path', () => {
    expect(evaluated('a')).toEqual({ ok: true, value: '7', amounts: [[]] })
    expect(evaluated('1 + 1')).toEqual({ ok: true, value: 2 })
    expect(evaluated('{"fee": a, "n": 1, "all": [1, a, 2.5], "mixed": [a, "b"]}')).toEqual({
      ok: true,
      value: { all: [1, '7', '2.5'], fee: '7', mixed: ['7', 'b'], n: 1 },
      amounts: [['fee'], ['all', '*'], ['mixed', '0']]
    })
  })

  it('are refused when they have more amounts than may be named one by one', () => {
    const many = 'a'.concat(',a'.repeat(1_500))
    expect(evaluated(`[${many}]`)).toMatchObject({ ok: true, amounts: [['*']] })
    const mixed = `["x"${',a'.repeat(1_500)}]`
    expect(evaluated(mixed)).toMatchObject({ ok: false, code: 'unrepresentable' })
  })
})

describe('the cost of an expression under ais-cel/1 is bounded', () => {
  const list = `[${Array.from({ length: 40 }, (_, index) => index).join(',')}]`
  const inLoops = (cel: string) => `${list}.map(a, ${list}.map(b, ${list}.map(c, ${cel})))`
  it.each([
    ['powers of powers', 'pow(pow(10, 10000), 10000)'],
    ['powers of fractions', 'pow(pow(1.0000001, 10000), 10000)'],
    ['numbers near zero', 'pow(0.1, 10000) * pow(0.1, 10000)'],
    ['quotients that never end', 'pow(3, 10000) / pow(7, 10000)'],
    ['quotients', 'pow(10, 10000) / pow(5, 10000) / pow(2, 10000) / pow(0.2, 10000)'],
    ['loops that multiply', inLoops('pow(a + 2, 3000) * pow(b + 2, 3000) * c')],
    ['loops that divide', inLoops('pow(2, 10000) / pow(5, 3000)')],
    ['loops that print', inLoops('string(pow(9, 10000)) + string(pow(9, 10000))')],
    ['loops that read', inLoops('double(string(pow(9, 10000)))')],
    ['loops that cut zeros', inLoops('(pow(10, 9000) * 1e-999 * 1e-999)')],
    ['nested quotients', `${'(1 / '.repeat(90)}3${')'.repeat(90)}`],
    ['products that grow', `1${' * 1e999'.repeat(100)}`],
    ['products that shrink', `1${' * 1e-999'.repeat(100)}`],
    ['sums of many scales', `0.5${' + 1e-999 * 1e-999'.repeat(60)}`],
    ['comparisons of many scales', inLoops('pow(0.1, 10000) < pow(10, 10000)')]
  ])('%s', (_, cel) => {
    const result = ais.compileValue({ cel }, { roots: [] }).evaluate({})
    if (result.ok) expect(JSON.stringify(result.value).length).toBeLessThan(1_000_000)
    else expect(['overflow', 'budget_exceeded', 'invalid_argument']).toContain(result.code)
  })
})
