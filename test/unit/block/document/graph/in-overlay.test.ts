import { describe, expect, it } from 'vitest'
import { compileComposite } from '../../../../../src/block/document/compile.js'
import { parseComposite } from '../../../../../src/block/document/parse.js'
import type { JsonObject } from '../../../../../src/core/index.js'
import { compositeDocument, testRegistry } from '../../../../support/composites.js'
import { fakeExpressions } from '../../../../support/fake-expressions.js'

const registry = {
  ...testRegistry,
  block: (name: string) => {
    if (name === 'undone')
      return { name, version: '1', sideEffects: 'idempotent', compensate: 'x' } as const
    if (name === 'routed' || name === 'half') {
      const capabilities = name === 'half' ? ['pay', 'shout'] : ['pay']
      return { name, version: '1', sideEffects: 'idempotent', capabilities } as const
    }
    return testRegistry.block(name)
  },
  provider: (name: string) => (name === 'pay' ? { compensate: 'refund' } : {})
}

/** What is wrong with a document, as `path: message`. */
function problemsOf(fields: JsonObject): readonly string[] {
  const parsed = parseComposite(compositeDocument(fields))
  if (!parsed.ok) return parsed.diagnostics.map(({ message }) => message)
  const result = compileComposite(parsed.definition, { registry, expressions: fakeExpressions })
  if (result.ok) return []
  return result.diagnostics.map(({ path, message }) => `${path.join('.')}: ${message}`)
}

const pay = { block: 'pay' }
const a = { block: 'none.a' }

describe('what may stand inside an atomic composite', () => {
  it('C4: refuses a write that nothing undoes', () => {
    expect(problemsOf({ atomic: true, nodes: { pay } })).toEqual([
      'nodes.pay: pay acts outside (non_idempotent); an atomic composite cannot undo that: ' +
        'declare a compensation, or defer the step'
    ])
  })

  it('C4: takes one whose block or providers can undo it, or that is deferred', () => {
    const nodes = {
      one: { block: 'undone' },
      two: { block: 'routed' },
      three: { block: 'pay', deferred: true }
    }
    expect(problemsOf({ atomic: true, nodes, transitions: { one: 'two', two: 'three' } })).toEqual(
      []
    )
    expect(problemsOf({ atomic: true, nodes: { half: { block: 'half' } } })).toHaveLength(1)
  })

  it('C4: refuses to defer what is not a block, has a timeout, or is not inside', () => {
    const graph = { entry_point: 'a', nodes: { a } }
    expect(problemsOf({ nodes: { x: { block: 'pay', deferred: true } } })).toEqual([
      'nodes.x.deferred: only a step inside an atomic composite can be deferred'
    ])
    expect(
      problemsOf({ atomic: true, nodes: { x: { composite: graph, deferred: true } } })
    ).toEqual(['nodes.x.deferred: only a node that is a block can be deferred'])
    const timed = { block: 'pay', deferred: true, timeout_ms: 5 }
    expect(problemsOf({ atomic: true, nodes: { x: timed } })).toHaveLength(1)
  })

  it('C4: refuses whatever reads the response of a deferred step', () => {
    const nodes = {
      x: { block: 'pay', deferred: true },
      y: { block: 'none.y', input: { ref: 'nodes.x.response.data' } }
    }
    expect(problemsOf({ atomic: true, nodes, transitions: { x: 'y' } })).toEqual([
      'nodes.y.input: x is deferred'
    ])
    const branches = [{ condition: 'large', target: 'a' }]
    const conditional = { nodes: { x: nodes.x, a }, transitions: { x: branches } }
    expect(problemsOf({ atomic: true, ...conditional })).toEqual([
      'transitions.x: x is deferred: what follows cannot depend on its response'
    ])
    const output = { ref: 'nodes.x.response.data' }
    expect(problemsOf({ atomic: true, nodes: { x: nodes.x }, output })).toEqual([
      'output: x is deferred'
    ])
  })
})
