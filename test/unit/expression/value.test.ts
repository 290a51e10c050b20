import { beforeAll, describe, expect, it } from 'vitest'
import { atOnce, type Json } from '../../../src/core/index.js'
import {
  compileValue,
  compilingValue,
  EXPRESSION_PROFILE,
  type Expressions,
  loadExpressions,
  lookUp,
  referenceText,
  usesCel
} from '../../../src/expression/index.js'

let expressions: Expressions
beforeAll(async () => {
  expressions = await loadExpressions()
})
const options = { roots: ['inputs', 'nodes'] }
const bindings = {
  inputs: { to: 'alice', n: 2, list: ['a', 'b'], nothing: null },
  nodes: { wait: { outputs: { arrived: true, allowance: '999' } } }
}

describe('compileValue without an engine', () => {
  it.each<[Json, Json]>([
    [{ lit: { any: [1, null] } }, { any: [1, null] }],
    [{ lit: null }, null],
    [{ ref: 'inputs.to' }, 'alice'],
    [{ ref: 'inputs.nothing' }, null],
    [{ ref: 'inputs.list.1' }, 'b'],
    [{ ref: 'inputs' }, bindings.inputs],
    [{ array: [{ lit: 1 }, { ref: 'inputs.n' }] }, [1, 2]],
    [{ object: { a: { ref: 'inputs.to' }, b: { object: {} } } }, { a: 'alice', b: {} }]
  ])('%j', (value, expected) => {
    expect(compileValue(value, options).evaluate(bindings)).toEqual({ ok: true, value: expected })
  })

  it.each<[Json]>([
    ['text'],
    [1],
    [null],
    [[{ lit: 1 }]],
    [{}],
    [{ lit: 1, ref: 'inputs' }],
    [{ literal: 1 }],
    [{ ref: 1 }],
    [{ ref: 'inputs..a' }],
    [{ ref: '' }],
    [{ ref: 'inputs.a b' }],
    [{ ref: 'other.a' }],
    [{ object: [] }],
    [{ array: {} }],
    [{ object: { a: 1 } }],
    [{ array: [{ lit: 1 }, { wrong: 2 }] }],
    [{ constructor: 1 }]
  ])('refuses %j', (value) => {
    expect(() => compileValue(value, options)).toThrow(
      expect.objectContaining({ code: 'expression.invalid' })
    )
  })

  it.each([
    'inputs.missing',
    'inputs.to.length',
    'inputs.list.2',
    'inputs.list.length',
    'inputs.constructor',
    'inputs.__proto__',
    'nodes.other.outputs'
  ])('names the missing path %s', (ref) => {
    const result = compileValue({ array: [{ lit: 1 }, { ref }] }, options).evaluate(bindings)
    expect(result).toEqual({ ok: false, code: 'missing_reference', detail: ref })
  })

  it('keeps a key named __proto__ as data', () => {
    const value = JSON.parse('{"object": {"__proto__": {"lit": 1}}}')
    const result = compileValue(value, options).evaluate(bindings)
    expect(JSON.stringify(result)).toBe('{"ok":true,"value":{"__proto__":1}}')
  })

  it('needs an engine only for cel', () => {
    expect(() => compileValue({ cel: '1' }, options)).toThrow(
      expect.objectContaining({ code: 'core.internal' })
    )
    expect(usesCel({ object: { a: { array: [{ cel: '1' }] } } })).toBe(true)
    expect(usesCel({ object: { cel: { lit: 'cel' } } })).toBe(false)
    expect(usesCel({ lit: { cel: '1' } })).toBe(false)
  })
})

describe('references', () => {
  it.each<[string, readonly string[]]>([
    ['nodes.wait.outputs.arrived && inputs.n > 1', ['nodes.wait.outputs.arrived', 'inputs.n']],
    ['nodes["wait"]["outputs"].list[0]', ['nodes.wait.outputs.list[0]']],
    ['nodes[inputs.to].outputs', ['nodes', 'inputs.to']],
    ['"nodes.wait" == inputs.to', ['inputs.to']],
    ['inputs.list.exists(nodes, nodes == "a")', ['inputs.list']],
    ['inputs.n + inputs.n', ['inputs.n']],
    ['size(nodes)', ['nodes']],
    ['nodes["a b"].c', ['nodes["a b"].c']]
  ])('of %s', (cel, expected) => {
    const compiled = expressions.compileValue({ cel }, options)
    expect(compiled.references.map(referenceText)).toEqual(expected)
  })

  it('tell a test of existence from a reading', () => {
    const cel = 'has(nodes.wait.outputs) ? nodes.wait.outputs.arrived : false'
    const { references } = expressions.compileValue({ cel }, options)
    expect(references.map(({ path, tested }) => [path.join('.'), tested])).toEqual([
      ['wait.outputs', true],
      ['wait.outputs.arrived', false]
    ])
  })

  it('are gathered from all parts, without repetition', () => {
    const value = { object: { a: { cel: 'inputs.n + 1' }, b: { array: [{ ref: 'inputs.n' }] } } }
    const { references } = expressions.compileValue(value, options)
    expect(references).toEqual([{ root: 'inputs', path: ['n'], tested: false }])
    expect(lookUp(bindings, { root: 'inputs', path: ['n'], tested: false })).toBe(2)
  })

  it.each([
    ['nodes.other.outputs.x == 1', 'nodes.other.outputs.x'],
    ['inputs.n == 1 || nodes.other == 1', 'nodes.other'],
    ['inputs.list[5]', 'inputs.list[5]'],
    ['has(nodes.other.outputs.x)', 'nodes.other.outputs.x']
  ])('that are missing are named: %s', (cel, detail) => {
    const result = expressions.compileValue({ cel }, options).evaluate(bindings)
    expect(result).toEqual({ ok: false, code: 'missing_reference', detail })
  })
})

describe('compileCondition', () => {
  it.each([
    ['nodes.wait.outputs.arrived', true],
    ['inputs.n > 2', false]
  ])('%s', (cel, value) => {
    expect(expressions.compileCondition(cel, options).evaluate(bindings)).toEqual({
      ok: true,
      value
    })
  })

  it.each(['1', '"true"', 'null', '[true]'])('W3: %s is not exactly a boolean', (cel) => {
    const result = expressions.compileCondition(cel, options).evaluate(bindings)
    expect(result).toMatchObject({ ok: false, code: 'type_error' })
  })
})

describe('the engine', () => {
  it('names its profile and gives the same plan for the same text', () => {
    expect(expressions.engine.profile).toBe(EXPRESSION_PROFILE)
    const first = expressions.engine.compile('inputs.n + 1', options)
    expect(expressions.engine.compile('inputs.n + 1', options)).toBe(first)
    expect(expressions.engine.compile('inputs.n + 1', { roots: ['inputs'] })).not.toBe(first)
  })

  it('keeps its cache bounded', () => {
    const first = expressions.engine.compile('0 + 1', options)
    for (let index = 0; index < 1_100; index += 1)
      expressions.engine.compile(`${index} + 2`, options)
    expect(expressions.engine.compile('0 + 1', options)).not.toBe(first)
  })

  it('throws from evaluate with code and detail', () => {
    expect(() => expressions.evaluate('inputs.x', bindings)).toThrow(
      expect.objectContaining({
        code: 'expression.failed',
        context: { expression: 'inputs.x', failure: 'missing_reference', detail: 'inputs.x' }
      })
    )
  })
})

describe('a value that is compiled in pieces', () => {
  const items = Array.from({ length: 200 }, (_, index): Json => {
    return index % 2 === 0 ? { ref: `inputs.list.${index % 4}` } : { lit: index }
  })
  const deep: Json = {
    object: { a: { array: items }, b: { object: { c: { array: [{ array: items }] } } } }
  }

  it.each<[string, Json]>([
    ['a long list', { array: items }],
    ['large parts in each other', deep],
    ['large parts beside expressions', { array: [deep, { cel: 'inputs.n + 1' }] }]
  ])('reads and gives what it does at once: %s', (_, value) => {
    const whole = expressions.compileValue(value, options)
    const inPieces = atOnce(expressions.compilingValue(value, options))
    expect(inPieces.references).toEqual(whole.references)
    expect(inPieces.evaluate(bindings)).toEqual(whole.evaluate(bindings))
  })

  it.each<[string, Json]>([
    ['a part that is none', { array: [...items, 'bare'] }],
    ['two keys', { array: items, object: { a: { lit: 1 } } }],
    ['a list of named values', { object: items }],
    ['named values as a list', { array: Object.fromEntries(items.entries()) }],
    ['a bare large value', items]
  ])('is refused with the words of compiling at once: %s', (_, value) => {
    const compiling = () => atOnce(compilingValue(value, options))
    const refusal = () => {
      try {
        compileValue(value, options)
      } catch (error) {
        return String(error instanceof Error ? error.message : error)
      }
      return 'it compiles'
    }
    expect(compiling).toThrow(refusal())
  })
})
