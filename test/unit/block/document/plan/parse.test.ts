import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { itemAt, itemsOf, rowsOf, withItem } from '../../../../../src/block/chart/rows.js'
import { compilePlan } from '../../../../../src/block/document/compile.js'
import { drawGraph } from '../../../../../src/block/document/draw.js'
import { lintDocument } from '../../../../../src/block/document/lint.js'
import { parsePlan } from '../../../../../src/block/document/parse.js'
import { planJsonSchema } from '../../../../../src/block/document/schema.js'
import { ordering } from '../../../../../src/block/document/validate.js'
import { atOnce, type JsonObject, placesIn, readDocument } from '../../../../../src/core/index.js'
import { loadExpressions } from '../../../../../src/expression/index.js'
import { none, testRegistry } from '../../../../support/composites.js'

const node = (id: string, deps: readonly string[] = [], more: JsonObject = {}) => ({
  id,
  deps,
  block: 'none.x',
  ...more
})

const planDocument = (fields: JsonObject) => ({
  schema: 'tally-plan/1',
  name: 'demo',
  version: '1',
  ...fields
})

function problems(fields: JsonObject): readonly string[] {
  const parsed = parsePlan(planDocument(fields))
  return parsed.ok
    ? []
    : parsed.diagnostics.map(({ path, message }) => `${path.join('.')}: ${message}`)
}

async function compiled(fields: JsonObject) {
  const parsed = parsePlan(planDocument(fields))
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics))
  return compilePlan(parsed.definition, {
    registry: testRegistry,
    expressions: await loadExpressions()
  })
}

async function compileProblems(fields: JsonObject): Promise<readonly string[]> {
  const result = await compiled(fields)
  return result.ok
    ? []
    : result.diagnostics.map(({ path, message }) => `${path.join('.')}: ${message}`)
}

describe('the order of a plan (C2)', () => {
  const ids = (nodes: readonly (readonly [string, ...string[]])[]) => {
    const ordered = atOnce(ordering(nodes.map(([id, ...deps]) => ({ id, deps }))))
    return ordered.ok ? ordered.order.map((place) => nodes[place]?.[0]) : ordered.diagnostics
  }

  it('puts every node behind what it depends on, and ties as declared', () => {
    expect(ids([['a'], ['b', 'a'], ['c', 'a'], ['d', 'b', 'c']])).toEqual(['a', 'b', 'c', 'd'])
    expect(ids([['d', 'c', 'b'], ['c', 'a'], ['b', 'a'], ['a']])).toEqual(['a', 'c', 'b', 'd'])
    expect(ids([['z'], ['b', 'z'], ['y'], ['a', 'y']])).toEqual(['z', 'y', 'b', 'a'])
  })

  it('names what is double, unknown or in a circle', () => {
    expect(ids([['a'], ['a']])).toMatchObject([
      { path: ['nodes', 1, 'id'], message: 'two nodes have the id a' }
    ])
    expect(ids([['a', 'x']])).toMatchObject([
      { reason: 'unknown_node', path: ['nodes', 0, 'deps', 0], message: 'no node x' }
    ])
    expect(ids([['a', 'a']])).toMatchObject([{ message: 'the nodes depend on each other: a -> a' }])
    expect(ids([['x'], ['a', 'c', 'x'], ['b', 'a'], ['c', 'b'], ['d', 'c']])).toMatchObject([
      { path: ['nodes', 1, 'deps'], message: 'the nodes depend on each other: a -> c -> b -> a' }
    ])
    expect(ids([['a'], ['b', 'a', 'a']])).toMatchObject([{ path: ['nodes', 1, 'deps'] }])
  })

  it('takes thousands of nodes in a row without a deep stack', () => {
    const chain = Array.from({ length: 10_000 }, (_, at): [string, ...string[]] =>
      at === 0 ? ['n0'] : [`n${at}`, `n${at - 1}`]
    )
    expect(ids(chain)).toHaveLength(10_000)
    expect(ids([...chain.slice(1), ['n0', 'n9999']])).toHaveLength(1)
  })
})

describe('a plan document', () => {
  it('is refused for what cannot run', () => {
    expect(problems({ nodes: [node('a')] })).toEqual([])
    expect(problems({ nodes: [] })).toHaveLength(1)
    expect(problems({ nodes: [node('a', [], { more: 1 })] })).toHaveLength(1)
    expect(problems({ nodes: [node('a', [], { lane: 'x' })] })).toEqual(['nodes.0.lane: no lane x'])
    expect(problems({ order: 'declared', lanes: { x: 1 }, nodes: [node('a')] })).toEqual([
      'lanes: lanes need order: arrival; which node comes first would hang on timing'
    ])
    expect(problems({ parallel: false, nodes: [node('a')] })).toHaveLength(1)
    expect(problems({ nodes: [{ id: 'a', use: 'shared', confirm: true }] })).toHaveLength(1)
  })

  it('points at the line', () => {
    const head = 'schema: tally-plan/1\nname: p\nversion: "1"\n'
    const text = `${head}nodes:\n  - id: a\n    block: x\n    deps: [b]\n`
    const parsed = parsePlan(readDocument(text), { locate: placesIn(text) })
    expect(parsed).toMatchObject({ ok: false, diagnostics: [{ line: 7, message: 'no node b' }] })
  })

  it('is not compiled when an input reads what need not be done', async () => {
    const reads = (ref: string) => ({ nodes: [node('a'), node('b', [], { input: { ref } })] })
    expect(await compileProblems(reads('nodes.a.response.data'))).toEqual([
      'nodes.1.input: its input reads a, which it does not depend on: name it in deps'
    ])
    expect(await compileProblems(reads('request.payload'))).toEqual([])
    expect(
      await compileProblems({ nodes: [node('a', [], { input: { cel: '1 +' } })] })
    ).toHaveLength(1)
    expect(await compileProblems({ nodes: [node('a', [], { block: 'missing' })] })).toHaveLength(1)
  })

  it('C4, D3: on an overlay it has declared order, and nothing that cannot be undone', async () => {
    expect(await compileProblems({ atomic: true, nodes: [node('a')] })).toEqual([
      'order: an atomic plan, and a plan inside an atomic composite, needs order: declared'
    ])
    const atomic = { atomic: true, order: 'declared' }
    const writes = node('a', [], { block: 'idempotent.x' })
    expect(await compileProblems({ ...atomic, nodes: [writes] })).toHaveLength(1)
    const deferred = { ...writes, deferred: true }
    expect(await compileProblems({ ...atomic, nodes: [deferred] })).toEqual([])
    expect(await compileProblems({ ...atomic, nodes: [deferred, node('b', ['a'])] })).toEqual([
      'nodes.1.deps: a is deferred'
    ])
  })

  it('is linted, and so are composites inside', () => {
    const inner = { entry_point: 's', nodes: { s: none('s'), t: none('t') } }
    const parsed = parsePlan(
      planDocument({
        lanes: { empty: 1 },
        nodes: [{ id: 'a', composite: inner, recovery: [{ fallback: ['none.y'] }] }]
      })
    )
    const found = parsed.ok ? lintDocument(parsed.definition) : []
    expect(found.map(({ message }) => message)).toEqual([
      'no node is in this lane',
      'a composite has no providers to fall back to',
      'nothing leads to this node'
    ])
  })

  it('is drawn as what needs what', async () => {
    const result = await compiled({ nodes: [node('b-1', ['a']), node('a')] })
    expect(result.ok && drawGraph(result.compiled)).toBe(
      'flowchart TD\n  s_a["a"]\n  s_b_2d_1["b-1"]\n  s_a --> s_b_2d_1\n'
    )
  })

  it('has the same hash whatever the order of its keys, and another for other nodes', async () => {
    const hash = async (fields: JsonObject) => {
      const result = await compiled(fields)
      return result.ok ? result.compiled.definitionHash : ''
    }
    const one = await hash({ nodes: [{ id: 'a', block: 'none.x' }] })
    expect(await hash({ nodes: [{ block: 'none.x', id: 'a' }] })).toBe(one)
    expect(await hash({ nodes: [{ id: 'b', block: 'none.x' }] })).not.toBe(one)
  })

  it('has a published schema', () => {
    const text = readFileSync('docs/schema/tally-plan-1.json', 'utf8')
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(planJsonSchema())))
  })
})

describe('rows', () => {
  it('are a list that is changed by copying', () => {
    const items = Array.from({ length: 200 }, (_, at) => at)
    const rows = rowsOf(items)
    const changed = withItem(rows, 130, -1)
    expect([...itemsOf(rows)]).toEqual(items)
    expect([...itemsOf(changed)]).toEqual(items.with(130, -1))
    expect([itemAt(changed, 130), itemAt(rows, 130), itemAt(rows, 200)]).toEqual([
      -1,
      130,
      undefined
    ])
    expect(changed[0]).toBe(rows[0])
    expect(withItem(rows, 900, 1)).toBe(rows)
  })
})
