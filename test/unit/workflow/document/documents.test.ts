import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  isJsonObject,
  type Json,
  type JsonObject,
  readDocument
} from '../../../../src/core/index.js'
import { aisJsonSchemas } from '../../../../src/workflow/document/json-schema.js'
import { parseFlow, parsePack, parseProtocol } from '../../../../src/workflow/document/parse.js'
import { aisText, seedProtocols } from '../../../support/ais.js'

const flow = {
  schema: 'ais-flow/0.0.2',
  meta: { name: 'demo', version: '0.0.2' },
  nodes: [{ id: 'a', type: 'query_ref', protocol: 'erc20@0.0.2', query: 'balance' }]
}

function flowIssues(change: JsonObject): readonly string[] {
  const parsed = parseFlow({ ...flow, ...change })
  return parsed.ok ? [] : parsed.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
}

function nodeIssues(change: JsonObject): readonly string[] {
  return flowIssues({ nodes: [{ ...flow.nodes[0], ...change }] as never })
}

describe('W1: workflows', () => {
  it('refuses unknown keys at their place, in every object', () => {
    expect(flowIssues({ extra: 1 })).toEqual(['extra: extra is not known here'])
    expect(flowIssues({ meta: { name: 'demo', version: '1.0.0', extra: 1 } })).toEqual([
      'meta.extra: extra is not known here'
    ])
    expect(nodeIssues({ skill: 'x' })).toEqual(['nodes.0.skill: skill is not known here'])
    expect(nodeIssues({ retry: { interval_ms: 1, tries: 3 } })).toEqual([
      'nodes.0.retry.tries: tries is not known here'
    ])
    expect(flowIssues({ extensions: { anything: { goes: [1] } } })).toEqual([])
  })

  it('lets only 0.0.3 assert and import', () => {
    expect(nodeIssues({ assert: { lit: true } })).toEqual([
      'nodes.0.assert: assert is not known here'
    ])
    const later = { ...flow, schema: 'ais-flow/0.0.3' }
    const node = { ...flow.nodes[0], assert: { lit: true }, assert_message: 'no', on_error: 'ask' }
    const imports = { protocols: [{ protocol: 'erc20@0.0.2', path: './erc20.yaml' }] }
    expect(parseFlow({ ...later, nodes: [node], imports } as never).ok).toBe(true)
  })

  it.each([
    ['eip155:1', true],
    ['solana:5eyk...', true],
    ['bridge:1', false],
    ['eip155', false],
    ['eip155:*', false],
    ['eip155:1\n', false]
  ])('knows whether %j is a chain', (chain, isOne) => {
    expect(nodeIssues({ chain }).length === 0).toBe(isOne)
  })

  it.each([
    ['a-b', true],
    ['a_b', true],
    ['a__b', true],
    ['a_', true],
    ['a.b', false],
    ['1a', false],
    ['__proto__', false],
    ['constructor', true]
  ])('knows whether %j names a node', (id, isOne) => {
    expect(nodeIssues({ id }).length === 0).toBe(isOne)
  })

  it('wants retries that wait and an end that can be reached', () => {
    expect(nodeIssues({ retry: { interval_ms: 0 } })).toHaveLength(1)
    expect(nodeIssues({ retry: { interval_ms: 5, max_attempts: 0 } })).toHaveLength(1)
    expect(nodeIssues({ retry: { interval_ms: 5, backoff: 'random' } })).toHaveLength(1)
    expect(nodeIssues({ timeout_ms: 0 })).toHaveLength(1)
    expect(nodeIssues({ timeout_ms: 1 })).toEqual([])
  })

  it('tells the line and the column', () => {
    const text = 'schema: ais-flow/0.0.2\nmeta: { name: demo, version: one }\nnodes: []\n'
    const parsed = parseFlow(text)
    expect(parsed.ok ? [] : parsed.issues.map(({ line }) => line)).toEqual([2, 3])
    expect(parseFlow('a: 1\na: 2')).toMatchObject({
      ok: false,
      issues: [{ code: 'malformed_document', line: 2 }]
    })
    expect(parseFlow('schema: ais-flow/9.9.9')).toMatchObject({
      ok: false,
      issues: [{ code: 'unknown_schema' }]
    })
  })
})

describe('W3: values', () => {
  const argument = (value: Json) => nodeIssues({ args: { x: value } })

  it('has exactly one key', () => {
    expect(argument({ lit: 1 })).toEqual([])
    expect(argument({ object: { a: { ref: 'inputs.x' }, b: { array: [{ lit: 1 }] } } })).toEqual([])
    expect(argument(5)).toEqual(['nodes.0.args.x: it is bare JSON; write {lit: ...}'])
    expect(argument({ lit: 1, ref: 'a' })).toHaveLength(1)
    expect(argument({ literal: 1 })).toHaveLength(1)
    expect(argument({ array: [{ lit: 1 }, 2] })).toEqual([
      'nodes.0.args.x.array.1: it is bare JSON; write {lit: ...}'
    ])
  })

  it('knows what detect looks for', () => {
    const candidates = [{ lit: 'a' }]
    expect(argument({ detect: { kind: 'choose_one', candidates } })).toEqual([])
    expect(argument({ detect: { kind: 'choose_one' } })).toHaveLength(1)
    expect(argument({ detect: { kind: 'best' } })).toHaveLength(1)
    expect(argument({ detect: { kind: 'best_quote', pick: 1 } })).toHaveLength(1)
  })
})

describe('protocols', () => {
  it.each(seedProtocols)('%s of the vectors is one', (name) => {
    expect(parseProtocol(aisText(name))).toMatchObject({ ok: true })
  })

  it('tells what is wrong in the execution that was meant', () => {
    const value = readDocument(aisText('erc20')) as JsonObject
    const text = JSON.stringify(value).replace('"to":{"ref":"params.token.address"}', '"to":"0x"')
    const parsed = parseProtocol(JSON.parse(text))
    expect(parsed.ok ? [] : parsed.issues.map(({ path }) => path.join('.'))).toEqual([
      'actions.transfer.execution.eip155:*.to'
    ])
  })

  it('takes other execution types as plugins, whose fields are values', () => {
    const query = (execution: Json) =>
      parseProtocol({
        schema: 'ais/0.0.2',
        meta: { protocol: 'p', version: '1.0.0' },
        actions: {},
        queries: { q: { execution: { '*': execution } } }
      })
    expect(query({ type: 'evm_rpc', method: 'eth_blockNumber' }).ok).toBe(true)
    expect(query({ type: 'my_bridge', route: { lit: 1 } }).ok).toBe(true)
    expect(query({ type: 'my_bridge', route: 1 }).ok).toBe(false)
    expect(query({ type: 'evm_read' }).ok).toBe(false)
  })

  it('takes no pattern that could run for long', () => {
    const param = (pattern: string) =>
      parseProtocol({
        schema: 'ais/0.0.2',
        meta: { protocol: 'p', version: '1.0.0' },
        actions: {
          a: {
            params: [{ name: 'x', type: 'string', constraints: { pattern } }],
            execution: { '*': { type: 'plugin' } }
          }
        }
      }).ok
    expect([param('[a-z]{3}-[0-9]+'), param('(a+)+'), param('a*a*a*b'), param('a|b')]).toEqual([
      true,
      false,
      false,
      false
    ])
  })
})

describe('packs', () => {
  it('reads policies', () => {
    const pack = {
      schema: 'ais-pack/0.0.2',
      meta: { name: 'safe', version: '1.0.0' },
      includes: [{ protocol: 'erc20', version: '0.0.2', chain_scope: ['eip155:*'] }],
      policy: { approvals: { auto_execute_max_risk_level: 1 } },
      providers: { detect: { enabled: ['a', { provider: 'b', priority: 2 }] } },
      overrides: { actions: { 'erc20.approve': { require_approval: true } } }
    }
    expect(parsePack(pack)).toMatchObject({ ok: true })
    expect(parsePack({ ...pack, overrides: { actions: { approve: {} } } })).toMatchObject({
      ok: false
    })
  })
})

describe('published schemas', () => {
  const schemas = aisJsonSchemas()
  it.each(Object.keys(schemas))('docs/schema/%s is current', (name) => {
    const file = new URL(`../../../../docs/schema/${name}`, import.meta.url)
    const text = `${JSON.stringify(schemas[name], null, 2)}\n`
    if (process.env['UPDATE_VECTORS'] === '1') writeFileSync(file, text)
    expect(readFileSync(file, 'utf8')).toBe(text)
    expect(isJsonObject(JSON.parse(text))).toBe(true)
  })
})
