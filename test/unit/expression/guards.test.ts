import { beforeAll, describe, expect, it } from 'vitest'
import { isTallyError, type Json, type JsonObject } from '../../../src/core/index.js'
import { type Expressions, loadExpressions } from '../../../src/expression/index.js'

let expressions: Expressions
beforeAll(async () => {
  expressions = await loadExpressions()
})

function outcome(expression: string, bindings: JsonObject = {}): Json {
  try {
    return expressions.evaluate(expression, bindings)
  } catch (error) {
    if (isTallyError(error, 'expression.failed')) return `! ${error.context.failure}`
    if (isTallyError(error, 'expression.invalid')) return '! invalid'
    throw error
  }
}

const data: JsonObject = {
  x: { y: null, one: 1, half: 0.5, big: 2 ** 53, list: [3, 1, 2], map: { b: 1, a: 2 }, text: '😀' },
  nodes: { wait: { outputs: { arrived: true } } },
  odd: JSON.parse('{"constructor": 1, "$typeName": "a.B", "__proto__": 2, "toString": 3}')
}

describe('guards of the profile tally-cel/1', () => {
  it.each<[string, Json]>([
    ['9007199254740993 == 9007199254740992', false],
    ['string(9007199254740993)', '9007199254740993'],
    ['9223372036854775807 + 1', '! overflow'],
    ['-(-9223372036854775808)', '! overflow'],
    ['-9223372036854775808 / -1', '! overflow'],
    ['int(1e99)', '! overflow'],
    ['9223372036854775808', '! invalid'],
    ['18446744073709551616u', '! invalid'],
    ['1e999', '! invalid'],
    ['7 / 2', 3],
    ['-7 / 2', -3],
    ['-7 % 2', -1],
    ['1 / 0', '! divide_by_zero'],
    ['1 % 0', '! divide_by_zero'],
    ['1 + 1.0', '! type_error'],
    ['"1" + 1', '! type_error'],
    ['(1 / 0 == 1) || true', true],
    ['true || (1 / 0 == 1)', true],
    ['(1 / 0 == 1) && false', false],
    ['[1, 2].all(e, e > 0)', true],
    ['[].all(e, e > 0)', true],
    ['"abc".startsWith("ab")', true],
    ['"\\x41\\n"', 'A\n'],
    ['size("😀")', 1],
    ['x.text.size()', 1],
    ['"\\uFFFD" < "😀"', true],
    ['"\\uFFFD" >= "😀"', false],
    ['has(x.y)', true],
    ['"y" in x', true],
    ['"z" in x', false],
    ['has(x.z)', false],
    ['has(x.z.a)', '! missing_reference'],
    ['x.y == null', true],
    ['{"a": null}.a == null', true],
    ['has({"a": null}.a)', true],
    ['[x].exists(v, has(v.y))', true],
    ['[true][0]', true],
    ['[1, 2][true]', '! type_error'],
    ['x.list[0]', 3],
    ['x.list[3]', '! missing_reference'],
    ['x.list[x.one]', 1],
    ['x["one"]', 1],
    ['x.one + 1', 2],
    ['x.half + 1.0', 1.5],
    ['x.big == 9007199254740992.0', true],
    ['x.map.map(k, k)', ['a', 'b']],
    ['{"b": 1, "a": 2}', { a: 2, b: 1 }],
    ['{"a": 1, "a": 2}', '! invalid_argument'],
    ['{1: "a"}', '! unrepresentable'],
    ['{1.0: "a"}[1]', '! type_error'],
    ['timestamp(1700000000) == timestamp("2023-11-14T22:13:20Z")', true],
    ['timestamp("2024-02-30T00:00:00Z") == timestamp(0)', '! invalid_argument'],
    ['timestamp("2024-01-01 00:00:00.0") == timestamp(0)', '! invalid_argument'],
    ['timestamp("2024-01-01T00:00:00").getHours()', '! invalid_argument'],
    ['timestamp("2024-03-10T02:30:00Z").getHours()', 2],
    ['timestamp("2024-12-31T23:59:59Z").getDayOfYear()', 365],
    ['timestamp("2024-03-10T02:30:00Z").getHours("-05:00")', 21],
    ['timestamp("2024-03-10T02:30:00Z").getDate("-05:00")', 9],
    ['timestamp("2026-12-01T00:00:00Z").getHours("America/Vancouver")', '! invalid_argument'],
    ['timestamp(0)', '! unrepresentable'],
    ['timestamp(0).seconds', '! type_error'],
    ['string(timestamp(0))', '1970-01-01T00:00:00Z'],
    ['int("")', '! invalid_argument'],
    ['int("0x10")', '! invalid_argument'],
    ['int(" 1")', '! invalid_argument'],
    ['int("42")', 42],
    ['uint("-1")', '! invalid_argument'],
    ['double("")', '! invalid_argument'],
    ['double("1e3")', 1000],
    ['"aaaa".matches("^(a+)+$")', true],
    ['"a".matches("(?=a)")', '! invalid_argument'],
    ['"aa".matches("(a)\\\\1")', '! invalid_argument'],
    ['constructor', '! invalid'],
    ['toString', '! invalid'],
    ['__proto__', '! invalid'],
    ['x.constructor', '! missing_reference'],
    ['x.__proto__', '! missing_reference'],
    ['[x][0].constructor', '! missing_reference'],
    ['[x].map(v, v["__proto__"])', '! missing_reference'],
    ['odd.constructor', 1],
    ['odd["$typeName"]', 'a.B'],
    ['odd.__proto__', 2],
    ['[odd][0]["__proto__"]', 2],
    ['nodes.main-prompt', '! invalid'],
    ['nodes["main-prompt"]', '! missing_reference'],
    ['nodes.wait.outputs.arrived == true', true],
    ['9007199254740992', '! unrepresentable'],
    ['0.0 / 0.0', '! unrepresentable'],
    ['-0.0', 0],
    ['b"abc"', '! unrepresentable'],
    ['int', '! unrepresentable'],
    ['type(1) == int', true],
    ['google.protobuf.Timestamp{seconds: 1}', '! invalid'],
    ['x.map(v, w, v)', '! invalid'],
    ['unknown(1)', '! invalid'],
    ['size(1, 2)', '! invalid'],
    ['1.size()', '! type_error'],
    ['', '! invalid'],
    ['1 +', '! invalid'],
    ['"\\ud800"', '! invalid'],
    ['[1].map(a, [1].map(b, [1].map(c, 1)))', [[[1]]]],
    ['[1].map(a, [1].map(b, [1].map(c, [1].map(d, 1))))', '! invalid']
  ])('%s', (expression, expected) => {
    expect(outcome(expression, data)).toEqual(expected)
  })

  const many = Array.from({ length: 20_000 }, (_, index) => index)
  it.each<[string, string, JsonObject]>([
    ['nested loops', 'b.all(x, b.all(y, true))', { b: many }],
    ['loops behind ||', 'b.all(x, b.all(y, y >= 0)) || true', { b: many }],
    ['searches', 'b.all(x, x in b)', { b: many }],
    ['doubling text', `[s]${'.map(a, a + a)'.repeat(100)}[0].size()`, { s: 'x' }],
    ['doubling lists', `[[s]]${'.map(a, a + a)'.repeat(100)}[0].size()`, { s: 'x' }],
    ['shared structure', `[s]${'.map(a, [a, a])'.repeat(40)}`, { s: 'x' }],
    [
      'comparing long texts',
      'b.all(x, s == t || true)',
      { b: many, s: 'a'.repeat(1e5), t: 'b'.repeat(1e5) }
    ],
    ['counting long texts', 'b.all(x, size(s) > 0)', { b: many, s: 'a'.repeat(1e5) }],
    ['patterns', 'b.exists(x, s.matches("^(a+)+$"))', { b: many, s: `${'a'.repeat(4_000)}!` }]
  ])('D7: %s end by the budget', (_name, expression, bindings) => {
    expect(outcome(expression, bindings)).toBe('! budget_exceeded')
  })

  it.each([
    ['length', `1${'+1'.repeat(3_000)}`],
    ['depth of a chain', `1${'+1'.repeat(1_000)}`],
    ['brackets', `${'('.repeat(200)}1${')'.repeat(200)}`],
    ['unclosed brackets', '['.repeat(4_000)],
    ['choices', `${'true?1:'.repeat(300)}1`],
    ['members', `x${'.a'.repeat(2_000)}`],
    ['macros', `x${'.map(v, v)'.repeat(300)}`]
  ])('refuses too much %s before it evaluates', (_name, expression) => {
    expect(outcome(expression, data)).toBe('! invalid')
  })

  it('runs a long list through map in linear time and without a stack', () => {
    expect(outcome('b.map(x, x * 2).filter(x, x > 10)[0]', { b: many })).toBe(12)
  })

  it.each<[string, () => unknown]>([
    [
      'a getter',
      () => ({
        get one() {
          return 1
        }
      })
    ],
    ['a function', () => ({ one: () => 1 })],
    ['undefined', () => ({ one: undefined })],
    ['a class instance', () => ({ one: new Map() })],
    ['a symbol key', () => ({ one: 1, [Symbol('s')]: 2 })],
    ['NaN', () => ({ one: Number.NaN })],
    ['a proxy', () => new Proxy({}, {})],
    ['a hole', () => new Array(3)]
  ])('refuses %s among the values it reads', (_name, make) => {
    expect(() => expressions.evaluate('size(v)', { v: make() as Json })).toThrow(
      expect.objectContaining({ code: 'core.not_json' })
    )
  })

  it('D4: gives no engine text away and does not alias its bindings', () => {
    const bindings = { secret: 'hunter2', list: [1] }
    const compiled = expressions.compileValue({ cel: 'secret + 1' }, { roots: ['secret'] })
    expect(JSON.stringify(compiled.evaluate(bindings))).not.toContain('hunter2')
    expect(expressions.evaluate('list', bindings)).not.toBe(bindings.list)
  })
})
