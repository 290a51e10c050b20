import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/core/index.js'
import {
  type DiagnosticFields,
  diagnosticIn,
  nodeDiagnostic
} from '../../../../src/workflow/diagnostic/diagnostic.js'
import { redacted } from '../../../../src/workflow/diagnostic/redact.js'
import { overreaches } from '../../../../src/workflow/engine/diagnose.js'

const fields: DiagnosticFields = {
  code: 'rpc_down',
  message: 'the endpoint https://user:hunter2@rpc.example/v2/abcdef does not answer',
  nodeId: 'send',
  chain: 'eip155:1',
  executionType: 'evm_call',
  phase: 'send',
  attempt: 2,
  elapsedMs: 1_500,
  lastCheckpoint: null,
  retryable: true,
  sent: true
}

describe('W3: a patch of a node', () => {
  const patches = [{ path: 'inputs.amount', value: '5' }]
  const spec = { lit: { node: { id: 'a', timeoutMs: 5 } } }
  const planned = { id: 'a', work: { kind: 'block' }, input: { object: { spec } } }
  const workflow = { nodes: [{ id: 'z' }, planned] }
  const late = (path: string) => ({ path, request: { reason: 'timed_out', details: null } })
  const used = (name: string) => (name === 'pay' ? workflow : null)
  const judged = (path: string, definition: Json, value: Json) =>
    overreaches(late(path), value, { definition, used })

  it('holds nothing but patches, where the node says what has failed', () => {
    const failed = (shown: Json) => ({ path: 'root/a', request: shown })
    const details = { diagnostic: nodeDiagnostic(fields) as never }
    for (const wait of [failed({ details }), failed({ request: { details } })]) {
      const refused: readonly Json[] = [
        null,
        'patches',
        [],
        {},
        { patches, spec: {} },
        { spec: { node: {} } },
        { nodes: {} },
        { patches: 'all' },
        { patches: [{ path: 'inputs.a' }] },
        { patches: [{ path: 'inputs.a', value: 1, op: 'delete' }] },
        { patches: Array.from({ length: 257 }, () => patches[0] ?? null) }
      ]
      for (const value of refused)
        expect(overreaches(wait, value), JSON.stringify(value)).toBe(true)
      expect(overreaches(wait, { patches })).toBe(false)
      expect(overreaches(wait, { patches: [] })).toBe(false)
    }
  })

  it('is known by the plan where its time was over, wherever the workflow stands', () => {
    const composite = (work: Json) => ({ nodes: { x: { work } } })
    const nested = [
      composite({ kind: 'use', use: 'pay' }),
      composite({ kind: 'composite', graph: workflow }),
      { nodes: [{ id: 'x', work: { kind: 'use', use: 'pay' } }] }
    ]
    for (const definition of nested) {
      expect(judged('root/x/a', definition, { spec: {} })).toBe(true)
      expect(judged('root/x/a', definition, { patches })).toBe(false)
    }
    expect(judged('root/a', workflow, { given: {} })).toBe(true)
    expect(judged('root/a', workflow, { patches })).toBe(false)
  })

  it('is not judged for what is no node of a workflow', () => {
    const free = { anything: 1 }
    expect(judged('root/z', workflow, free)).toBe(false)
    expect(judged('root/none', workflow, free)).toBe(false)
    expect(judged('root', workflow, free)).toBe(false)
    expect(judged('root/x/a', { nodes: { x: { work: { use: 'other' } } } }, free)).toBe(false)
    expect(judged('root/constructor/a', { nodes: {} }, free)).toBe(false)
    expect(overreaches(late('root/a'), free)).toBe(false)
    expect(overreaches({ path: 'root/a', request: 'a text' }, free)).toBe(false)
  })
})

describe('W10: diagnostics', () => {
  it('hold only the fields of the list', () => {
    const more = { ...fields, stack: 'at secret', cause: new Error('secret') }
    const diagnostic = nodeDiagnostic(more)
    expect(diagnostic).toEqual({
      code: 'rpc_down',
      message: 'the endpoint [address] does not answer',
      nodeId: 'send',
      chain: 'eip155:1',
      executionType: 'evm_call',
      phase: 'send',
      attempt: 2,
      elapsedMs: 1_500,
      lastCheckpoint: null,
      retryable: true,
      actions: ['retry', 'ask_user', 'abort']
    })
  })

  it('show no secret, wherever it stands', () => {
    const secret = 'PLANTED'
    const rpc = {
      method: 'eth_sendRawTransaction',
      request: [
        { rawTransaction: secret, privateKey: secret, private_key: secret },
        { headers: { Authorization: secret, 'x-api-key': secret } },
        `wss://node/${secret}`,
        `Bearer ${secret}${secret}`
      ],
      response: { error: { data: { deep: { mnemonic: secret } } }, signature: secret }
    }
    const text = JSON.stringify(
      nodeDiagnostic({
        ...fields,
        rpc,
        revert: { passphrase: secret },
        logs: [`see http://x/?key=${secret}`],
        lastOutputs: { seed: secret }
      })
    )
    expect(text).not.toContain(secret)
    expect(text).toContain('eth_sendRawTransaction')
  })

  it('cut what is long or deep', () => {
    const deep = { a: { b: { c: { d: { e: { f: { g: 1 } } } } } } }
    expect(JSON.stringify(redacted(deep))).toContain('[cut]')
    expect(redacted(Array.from({ length: 1_000 }, () => 1))).toHaveLength(64)
    expect(String(redacted('x'.repeat(5_000)))).toHaveLength(1_003)
  })

  it('say what may be done', () => {
    const at = (more: Partial<DiagnosticFields>) => nodeDiagnostic({ ...fields, ...more }).actions
    expect(at({ phase: 'arguments', retryable: false })).toEqual(['patch', 'ask_user', 'abort'])
    expect(at({ code: 'reverted', retryable: false })).toEqual(['patch', 'ask_user', 'abort'])
    expect(at({ code: 'denied', phase: 'confirm', retryable: false })).toEqual(['abort'])
  })

  it('are found again in the details of a response', () => {
    const diagnostic = nodeDiagnostic(fields)
    expect(diagnosticIn({ diagnostic: diagnostic as never })).toEqual(diagnostic)
    expect(diagnosticIn({ diagnostic: { code: 1 } })).toBeUndefined()
    expect(diagnosticIn(null)).toBeUndefined()
  })
})
