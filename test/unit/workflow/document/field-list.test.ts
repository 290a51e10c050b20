import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { parseFlow, parseProtocol } from '../../../../src/workflow/document/parse.js'
import { action, address, call, chain, type Form, meaning } from '../../../support/ais-forms.js'

/**
 * The list of AIS's fields, walked one by one: those of which no other test says what they mean.
 */

const params = (...more: readonly JsonObject[]) => ({ params: [...action.params, ...more] })
const given = (args: JsonObject) => ({ node: { args: { n: { lit: '5' }, ...args } } })
const asset = { chain_id: chain, address, decimals: 6 }
const computed = (cel: string, type = 'string') => ({
  action: {
    calculated_fields: { ...action.calculated_fields, found: { expr: { cel } } },
    ...params({ name: 'unused', type, required: false })
  }
})
const asked = (execution: JsonObject, more: JsonObject = {}) => ({
  node: { type: 'query_ref', action: undefined as unknown as Json, query: 'q', args: {} },
  protocol: { queries: { q: { description: 'reads', execution: { [chain]: execution }, ...more } } }
})
const abi = { name: 'f', inputs: [], outputs: [{ name: 'x', type: 'uint256' }] }
const returns = [{ name: 'x', type: 'uint256' }]

const forms: Readonly<Record<string, Form>> = {
  'deployments name contracts by chain': {
    protocol: { deployments: [{ chain, contracts: { till: address } }] },
    action: { execution: { [chain]: { ...call, to: { ref: 'contracts.till' } } } },
    means: { execution: { to: address } }
  },
  'a parameter that is not required may be left out': {
    action: params({ name: 'm', type: 'string', required: false }),
    means: { params: { n: '5' } }
  },
  'a parameter has its default': {
    action: params({ name: 'm', type: 'string', default: 'x' }),
    means: { params: { n: '5', m: 'x' } }
  },
  'an example is no default': {
    action: params({ name: 'm', type: 'string', example: 'x' }),
    means: ['missing_argument']
  },
  'a least value is kept': {
    action: { params: [{ name: 'n', type: 'uint256', constraints: { min: '6' } }] },
    means: { state: 'failed', errors: [{ code: 'constraint_broken' }] }
  },
  'a greatest value is kept': {
    action: { params: [{ name: 'n', type: 'uint256', constraints: { max: 4 } }] },
    means: { state: 'failed', errors: [{ code: 'constraint_broken' }] }
  },
  'a value is one of a list': {
    action: { params: [{ name: 'n', type: 'uint256', constraints: { enum: ['6', '7'] } }] },
    means: { state: 'failed', errors: [{ code: 'constraint_broken' }] }
  },
  'a text has a pattern': {
    action: params({ name: 'm', type: 'string', constraints: { pattern: '[a-z]{2}' } }),
    ...given({ m: { lit: 'abc' } }),
    means: { state: 'failed', errors: [{ code: 'constraint_broken' }] }
  },
  'a token_amount names its asset': {
    action: {
      params: [
        ...action.params,
        { name: 't', type: 'asset', default: asset },
        { name: 'm', type: 'token_amount', asset_ref: 't' }
      ],
      calculated_fields: {
        ...action.calculated_fields,
        found: { expr: { cel: 'to_atomic(params.m, params.t)' } }
      }
    },
    ...given({ m: { lit: '1.5' } }),
    means: { calculated: { found: '1500000' }, amounts: ['base', 'found', 'twice'] }
  },
  'a token_amount without an asset is refused': {
    action: params({ name: 'm', type: 'token_amount', asset_ref: 'nothing' }),
    ...given({ m: { lit: '1.5' } }),
    means: ['unknown_asset_param']
  },
  'evm_call sends a value': {
    action: { execution: { [chain]: { ...call, value: { cel: 'params.n + 1' } } } },
    means: { execution: { value: '6' } }
  },
  'evm_multicall has calls, conditions of calls and a deadline': {
    action: {
      execution: {
        [chain]: {
          type: 'evm_multicall',
          to: { lit: address },
          deadline: { lit: '1800000000' },
          calls: [
            { abi: call.abi, args: call.args },
            { abi: call.abi, args: call.args, condition: { cel: 'params.n > 5' } }
          ]
        }
      }
    },
    means: {
      execution: {
        type: 'evm_multicall',
        deadline: '1800000000',
        calls: [{ args: { x: '10' } }]
      }
    }
  },
  'evm_multiread asks by a method': {
    ...asked(
      {
        type: 'evm_multiread',
        method: 'multicall3',
        calls: [{ id: 'x', to: { lit: address }, abi, args: {} }]
      },
      { returns }
    ),
    means: { execution: { method: 'multicall3', calls: [{ id: 'x' }] } }
  },
  'solana_instruction has compute units': {
    node: { chain: 'solana:x' },
    action: {
      execution: {
        'solana:*': {
          type: 'solana_instruction',
          program: { lit: 'P' },
          instruction: 'go',
          accounts: [],
          data: { lit: '' },
          compute_units: { lit: 200_000 }
        }
      }
    },
    means: { execution: { compute_units: 200_000 } }
  },
  'solana_read has a method and its parameters': {
    ...asked(
      { type: 'solana_read', method: 'getBalance', params: { object: { address: { lit: 'K' } } } },
      { returns: [{ name: 'lamports', type: 'uint64' }] }
    ),
    means: { execution: { method: 'getBalance', params: { address: 'K' } } }
  },
  'an action is skipped where its condition is false': {
    node: { condition: { cel: '1 > 2' } },
    means: { state: 'skipped' }
  },
  'inputs have types and defaults': {
    flow: { inputs: { amount: { type: 'uint256', default: '7', example: '8', description: 'x' } } },
    node: { args: { n: { ref: 'inputs.amount' } } },
    means: { params: { n: '7' } }
  },
  'an input without a default is asked for': {
    flow: { inputs: { amount: { type: 'uint256', required: true, example: '8' } } },
    node: { args: { n: { ref: 'inputs.amount' } } },
    means: { state: 'blocked', missingRefs: ['inputs.amount'] }
  },
  'a retry and a timeout are those of the node': {
    node: {
      retry: { interval_ms: 5, max_attempts: 7, backoff: 'exp' },
      until: { cel: 'nodes.a.outputs.tx_hash != ""' },
      timeout_ms: 900
    },
    means: { first: { retry: { intervalMs: 5, maxAttempts: 7, backoff: 'exp' }, timeoutMs: 900 } }
  },
  'polling on a composite is refused': {
    node: {
      retry: { interval_ms: 5, max_attempts: 7 },
      until: { cel: 'nodes.a.outputs.tx_hash != ""' }
    },
    action: {
      execution: { [chain]: { type: 'composite', steps: [{ id: 's', execution: call }] } }
    },
    means: ['polling_refused']
  },
  'risk levels of an override count': {
    pack: { overrides: { actions: { '1pay.pay': { risk_level: 4 } } } },
    means: { verdict: 'confirm', hits: ['risk_level'] }
  },
  'an override may ask in any case': {
    pack: { overrides: { actions: { '1pay.pay': { require_approval: true } } } },
    means: { verdict: 'confirm' }
  },
  'bounds of a pack are those of all its actions': {
    pack: { policy: { hard_constraints_defaults: { max_slippage_bps: 1 } } },
    means: { verdict: 'block', hits: ['preview_missing'] }
  },
  '10 / 4 is 2.5': { ...computed('10 / 4'), means: { calculated: { found: '2.5' } } },
  '1 / 3 is an error': { ...computed('1 / 3'), means: { state: 'failed' } },
  'text is no number': { ...computed('params.n > "4"'), means: { state: 'failed' } }
}

const functions: Readonly<Record<string, Json>> = {
  'size("abc")': 3,
  '"abc".contains("b")': true,
  'contains("abc", "d")': false,
  'startsWith("abc", "a")': true,
  'endsWith("abc", "c")': true,
  'matches("abc", "[a-c]+")': true,
  'lower("ABC")': 'abc',
  'upper("abc")': 'ABC',
  'trim(" a ")': 'a',
  'int("7")': 7,
  'uint("7")': 7,
  'double("2.50") * 2': '5',
  'string(5)': '5',
  'bool("true")': true,
  'type(5)': 'int',
  '[1, 2].exists(x, x > 1)': true,
  '[1, 2].all(x, x > 1)': false,
  'abs(-5)': 5,
  'min(3, 2)': 2,
  'max(3, 2)': 3,
  'floor(2.5)': '2',
  'ceil(2.5)': '3',
  'round(2.5)': '3',
  'to_atomic("1.23", 6)': '1230000',
  'to_human(1230000, 6)': '1.23',
  'mul_div(100, 9950, 10000)': '99',
  'pow(2, 10)': 1024
}

describe('W1: fields of AIS, one by one', () => {
  it.each(Object.entries(forms))('%s', async (_, form) => {
    const found = await meaning(form)
    if (Array.isArray(form.means)) expect(found).toEqual(form.means)
    else expect(found).toMatchObject(form.means as JsonObject)
  })

  it.each(['eip155:1', 'solana:x', 'cosmos:a-1', 'bip122:0a', 'aptos:1', 'sui:mainnet'])(
    'takes nodes on %s',
    async (on) => {
      const plugin = { execution: { '*': { type: 'some_plugin', x: { ref: 'params.n' } } } }
      const found = await meaning({ node: { chain: on }, action: plugin, means: null })
      expect(found).toMatchObject({ execution: { type: 'some_plugin', x: '5' } })
    }
  )

  it.each(Object.entries(functions))('W4: %s', async (cel, value) => {
    expect(await meaning({ ...computed(cel), means: null })).toMatchObject({
      calculated: { found: value }
    })
  })

  it('refuses composites within composites', () => {
    const composite = (execution: JsonObject): JsonObject => ({
      type: 'composite',
      steps: [{ id: 's', execution }]
    })
    const protocol = (execution: JsonObject) =>
      parseProtocol({
        schema: 'ais/0.0.2',
        meta: { protocol: 'p', version: '1.0.0' },
        actions: { a: { execution: { [chain]: execution } } }
      }).ok
    const once = composite(call as unknown as JsonObject)
    expect([protocol(once), protocol(composite(once))]).toEqual([true, false])
  })

  it('refuses names of protocols that are none, and versions', () => {
    const protocol = (name: string, version = '1.0.0') =>
      parseProtocol({
        schema: 'ais/0.0.2',
        meta: { protocol: name, version },
        actions: {}
      }).ok
    const all = [protocol('a-b'), protocol('A'), protocol('a_b'), protocol('a', '1.0')]
    expect(all).toEqual([true, false, false, false])
  })

  it('takes protocols from a registry, a file and an address, and chains of packs', () => {
    const node = { id: 'a', type: 'query_ref', protocol: 'p@1.0.0', query: 'q' }
    const flow = { schema: 'ais-flow/0.0.2', meta: { name: 'x', version: '1.0.0' }, nodes: [node] }
    expect(parseFlow(flow).ok).toBe(true)
    expect(parseFlow({ ...flow, nodes: [{ ...node, skill: 'p@1.0.0' }] }).ok).toBe(false)
    expect(parseFlow({ ...flow, nodes: [{ ...node, protocol: 'p' }] }).ok).toBe(false)
  })
})
