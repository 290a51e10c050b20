import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createMachine } from 'xstate'
import { blockChart } from '../../../../../machines/block.js'
import { compileComposite } from '../../../../../src/block/document/compile.js'
import type { Diagnostic } from '../../../../../src/block/document/definition.js'
import { drawChart, drawMermaid } from '../../../../../src/block/document/draw.js'
import { lintDocument } from '../../../../../src/block/document/lint.js'
import { parseComposite } from '../../../../../src/block/document/parse.js'
import { compositeJsonSchema } from '../../../../../src/block/document/schema.js'
import type { JsonObject } from '../../../../../src/core/index.js'
import {
  compiledFrom,
  compositeDocument,
  none,
  testRegistry
} from '../../../../support/composites.js'
import { fakeExpressions } from '../../../../support/fake-expressions.js'

function diagnosticsOf(fields: JsonObject): readonly Diagnostic[] {
  const parsed = parseComposite(compositeDocument(fields))
  return parsed.ok ? [] : parsed.diagnostics
}

function compileDiagnosticsOf(fields: JsonObject): readonly Diagnostic[] {
  const parsed = parseComposite(compositeDocument(fields))
  if (!parsed.ok) return parsed.diagnostics
  const result = compileComposite(parsed.definition, {
    registry: testRegistry,
    expressions: fakeExpressions
  })
  return result.ok ? [] : result.diagnostics
}

describe('tally-composite/1', () => {
  it('fills in defaults', () => {
    const parsed = parseComposite(compositeDocument({ nodes: { a: { block: 'x' } } }))
    expect(parsed).toEqual({
      ok: true,
      definition: {
        name: 'demo',
        version: '1.0.0',
        maxSteps: 128,
        atomic: false,
        entryPoint: 'a',
        nodes: {
          a: { work: { kind: 'block', block: 'x' }, context: [], recovery: [], onError: 'stop' }
        },
        transitions: {}
      }
    })
  })

  it('refuses unknown keys and points at them', () => {
    expect(diagnosticsOf({ nodes: { a: { block: 'x', retries: 3 } } })).toMatchObject([
      { reason: 'invalid_graph', path: ['nodes', 'a', 'retries'] }
    ])
  })

  it.each([
    ['a dot', 'a.b'],
    ['a hash', '#a'],
    ['a star', '*'],
    ['an integer', '10'],
    ['a prototype', '__proto__x']
  ])('refuses node names with %s', (_, name) => {
    expect(diagnosticsOf({ entry_point: 'a', nodes: { [name]: { block: 'x' } } })).not.toEqual([])
  })

  it('B4: entry point, sources and targets must exist, in nested graphs too', () => {
    const found = diagnosticsOf({
      entry_point: 'gone',
      nodes: {
        a: none('a'),
        inner: {
          composite: { entry_point: 'x', nodes: { x: none('x') }, transitions: { x: 'nowhere' } }
        }
      },
      transitions: { lost: 'a', a: [{ condition: 'default', target: 'void' }] }
    })
    expect(found.map(({ reason, path }) => [reason, path.join('.')])).toEqual([
      ['unknown_node', 'entry_point'],
      ['unknown_node', 'transitions.lost'],
      ['unknown_node', 'transitions.a.0'],
      ['unknown_node', 'nodes.inner.composite.transitions.x.0']
    ])
  })

  it('a node has exactly one kind of work, and only blocks confirm', () => {
    const inner = { entry_point: 'x', nodes: { x: none('x') } }
    expect(diagnosticsOf({ nodes: { a: { block: 'x', composite: inner } } })).toHaveLength(1)
    expect(diagnosticsOf({ nodes: { a: {} } })).toHaveLength(1)
    expect(diagnosticsOf({ nodes: { a: { composite: inner, confirm: true } } })).toMatchObject([
      { path: ['nodes', 'a', 'confirm'] }
    ])
  })

  it('a time limit is at least a millisecond', () => {
    const limited = (timeout: number) =>
      diagnosticsOf({ nodes: { a: { block: 'x', timeout_ms: timeout } } })
    expect(limited(1)).toEqual([])
    expect(limited(0)).toMatchObject([{ path: ['nodes', 'a', 'timeout_ms'] }])
  })

  it('gives line and column when the text is at hand', () => {
    const parsed = parseComposite(compositeDocument({ nodes: { a: { block: 'x', odd: 1 } } }), {
      locate: (path) => ({ line: path.length, column: 7 })
    })
    expect(parsed).toMatchObject({ ok: false, diagnostics: [{ line: 3, column: 7 }] })
  })

  it('the published JSON Schema is the one of the code', () => {
    const text = readFileSync('docs/schema/tally-composite-1.json', 'utf8')
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(compositeJsonSchema())))
  })
})

describe('lint', () => {
  it('B4: warns of missing defaults, dead branches, unreachable nodes and idle fallbacks', () => {
    const parsed = parseComposite(
      compositeDocument({
        nodes: {
          a: none('a'),
          b: none('b'),
          lost: none('lost'),
          inner: {
            composite: { entry_point: 'x', nodes: { x: none('x') } },
            recovery: [{ fallback: ['p'] }]
          }
        },
        transitions: {
          a: [{ condition: 'large', target: 'inner' }],
          inner: [
            { condition: 'default', target: 'b' },
            { condition: 'large', target: 'lost' }
          ]
        }
      })
    )
    const found = parsed.ok ? lintDocument(parsed.definition) : []
    expect(found.map(({ path }) => path.join('.'))).toEqual([
      'transitions.a',
      'transitions.inner.1',
      'nodes.lost',
      'nodes.inner.recovery'
    ])
    expect(found.every(({ reason }) => reason === 'lint')).toBe(true)
  })

  it('finds nothing in a loop with a default', () => {
    const parsed = parseComposite(
      compositeDocument({ nodes: { a: none('a') }, transitions: { a: 'a' } })
    )
    expect(parsed.ok && lintDocument(parsed.definition)).toEqual([])
  })
})

describe('compile', () => {
  it('B4: what does not resolve fails construction, all of it at once', () => {
    const found = compileDiagnosticsOf({
      nodes: {
        a: { block: 'missing.x', recovery: [{ repair: 'gone' }] },
        b: { use: 'gone' },
        c: { ...none('c'), recovery: [{ repair: 'gone' }], confirm: { when: 'gone' } }
      },
      transitions: {
        c: [
          { condition: 'gone', target: 'a' },
          { condition: { cel: '((' }, target: 'b' }
        ]
      }
    })
    expect(found.map(({ reason, path }) => [reason, path.join('.')])).toEqual([
      ['unknown_block', 'nodes.a.block'],
      ['unknown_block', 'nodes.b.use'],
      ['condition_resolution_error', 'nodes.c.confirm.when'],
      ['condition_resolution_error', 'transitions.c.0.condition'],
      ['condition_resolution_error', 'transitions.c.1.condition'],
      ['invalid_graph', 'nodes.c.recovery.0']
    ])
  })

  it('B9: the class of a composite is the highest of its leaves', () => {
    const classOf = (nodes: JsonObject) => compiledFrom({ nodes }).sideEffects
    expect(classOf({ a: none('a') })).toBe('none')
    expect(classOf({ a: none('a'), b: { block: 'idempotent.b' } })).toBe('idempotent')
    expect(classOf({ a: { block: 'pay' }, b: { use: 'shared' } })).toBe('non_idempotent')
    expect(classOf({ a: { block: 'pay', side_effects: 'none' } })).toBe('none')
  })

  it('the definition hash changes with what runs, and not with the order of keys', () => {
    const hashOf = (fields: JsonObject) => compiledFrom(fields).definitionHash
    const base = hashOf({ nodes: { a: none('a') }, max_steps: 5 })
    expect(hashOf({ max_steps: 5, nodes: { a: none('a') } })).toBe(base)
    expect(hashOf({ nodes: { a: none('a') }, max_steps: 6 })).not.toBe(base)
    expect(hashOf({ nodes: { a: none('z') }, max_steps: 5 })).not.toBe(base)
  })

  it('configs are JSON that createMachine takes, and draw', () => {
    const { config } = compiledFrom({
      nodes: { a: none('a'), 'b-1': none('b') },
      transitions: {
        a: [
          { condition: 'large', target: 'b-1' },
          { condition: 'default', target: 'a' }
        ]
      }
    })
    const copy = JSON.parse(JSON.stringify(config))
    expect(copy).toEqual(config)
    expect(createMachine(copy).getStateNodeById('n:a').id).toBe('n:a')
    expect(drawMermaid(config)).toBe(
      [
        'stateDiagram-v2',
        '  [*] --> s_a',
        '  state "a" as s_a',
        '  s_a --> s_b_2d_1 : large',
        '  s_a --> s_a',
        '  state "b-1" as s_b_2d_1',
        '  s_b_2d_1 --> [*]',
        ''
      ].join('\n')
    )
    expect(drawChart(config)).toContain('always [exhausted]')
    expect(drawChart(blockChart)).toContain(
      's_block_2e_BUSY --> s_block_2e_WAITING_2e_retry : attempt.settled [retriesLater]'
    )
  })

  it('keeps only responses that a value may refer to', () => {
    const kept = (fields: JsonObject) => compiledFrom(fields).plan.kept
    const nodes = { a: none('a'), b: none('b') }
    expect(kept({ nodes })).toEqual([])
    expect(kept({ nodes, output: { ref: 'nodes.b.response.data' } })).toEqual(['b'])
  })

  it('shows a value the responses that it may read, however long the graph is', () => {
    const ref = (name: string) => ({ object: { of: { ref: `nodes.${name}.response.data` } } })
    const names = Array.from({ length: 200 }, (_, index) => `s${index}`)
    const nodes = Object.fromEntries(
      names.map((name, at) => [
        name,
        at === 0 ? none('a') : { ...none('a'), input: ref(`s${at - 1}`) }
      ])
    )
    const all = { object: { n: { ref: 'nodes' } } }
    const { plan } = compiledFrom({
      nodes: { ...nodes, last: { ...none('a'), input: all } },
      output: ref('s7')
    })
    const namesOf = (value: { readonly reads: readonly number[] } | null | undefined) =>
      value?.reads.map((place) => plan.kept[place])
    expect(namesOf(plan.nodes.get('s0')?.input)).toBeUndefined()
    expect(namesOf(plan.nodes.get('s9')?.input)).toEqual(['s8'])
    expect(namesOf(plan.output)).toEqual(['s7'])
    expect(namesOf(plan.nodes.get('last')?.input)).toEqual(plan.kept)
    expect(plan.kept).toHaveLength(201)
    const turned = Object.fromEntries(Object.entries({ ...nodes }).reverse())
    const order = compiledFrom({ nodes: turned, output: ref('s7') }).plan.kept
    expect(order).toEqual(compiledFrom({ nodes, output: ref('s7') }).plan.kept)
  })
})
