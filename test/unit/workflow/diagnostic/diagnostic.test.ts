import { describe, expect, it } from 'vitest'
import {
  type DiagnosticFields,
  diagnosticIn,
  nodeDiagnostic
} from '../../../../src/workflow/diagnostic/diagnostic.js'
import { redacted } from '../../../../src/workflow/diagnostic/redact.js'

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
