import { compileComposite } from '../../src/block/document/compile.js'
import type { CompiledComposite } from '../../src/block/document/compiled.js'
import { parseComposite } from '../../src/block/document/parse.js'
import type { BlockRegistry } from '../../src/block/document/registry.js'
import type { JsonObject } from '../../src/core/index.js'
import { fakeExpressions } from './fake-expressions.js'

/**
 * A registry of blocks named after their class: `none.x`, `idempotent.x`, anything else is not
 * safe.
 */
export const testRegistry: BlockRegistry = {
  block: (name) => {
    if (name.startsWith('missing')) return undefined
    const sideEffects = name.startsWith('none')
      ? 'none'
      : name.startsWith('idempotent')
        ? 'idempotent'
        : 'non_idempotent'
    return { name, version: '1.0.0', sideEffects }
  },
  composite: (name) => {
    if (name !== 'shared') return undefined
    const parsed = parseComposite(compositeDocument({ name: 'shared', nodes: { s: none('s') } }))
    return parsed.ok ? parsed.definition : undefined
  },
  condition: (name) => {
    if (name === 'large') return ({ data }) => Number(data) > 100
    if (name === 'throws') {
      return () => {
        throw new Error('no')
      }
    }
    return undefined
  },
  repair: (name) =>
    name === 'fix' ? (request) => ({ ...request, payload: { fixed: true } }) : undefined
}

export function none(name: string): JsonObject {
  return { block: `none.${name}` }
}

/** A document with defaults: the first node is the entry point. */
export function compositeDocument(fields: JsonObject): JsonObject {
  const nodes = fields['nodes'] ?? {}
  return {
    schema: 'tally-composite/1',
    name: 'demo',
    version: '1.0.0',
    entry_point: Object.keys(nodes as JsonObject)[0] ?? '',
    ...fields
  }
}

export function compiledFrom(fields: JsonObject): CompiledComposite {
  const parsed = parseComposite(compositeDocument(fields))
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics))
  const { definition } = parsed
  const result = compileComposite(definition, {
    registry: testRegistry,
    expressions: fakeExpressions
  })
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics))
  return result.compiled
}
