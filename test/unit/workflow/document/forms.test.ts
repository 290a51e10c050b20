import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { parseFlow, parsePack, parseProtocol } from '../../../../src/workflow/document/parse.js'
import { defaultPolicy, tightened } from '../../../../src/workflow/policy/policy.js'
import { packOf } from '../../../support/ais.js'
import { fieldsOfSchemas } from '../../../support/ais-fields.js'
import {
  action,
  address,
  call,
  chain,
  type Form,
  meaning,
  packWith,
  query
} from '../../../support/ais-forms.js'

/**
 * The forms of AIS's documents: each loads, and what it leads to is what AIS means by it.
 */

const override = (overrides: JsonObject) => ({ node: { calculated_overrides: overrides } })
const bounded = (bounds: JsonObject, more: JsonObject = {}) => ({
  action: { hard_constraints: bounds, ...more }
})
const approves = { risk_tags: ['approval'] }
const spends = (n: string) => ({
  calculated_fields: {
    ...action.calculated_fields,
    approval: { expr: { lit: n } },
    spend: { expr: { lit: '100' } }
  },
  ...approves
})
const token = (decimals: number) => ({
  params: [
    ...action.params,
    {
      name: 't',
      type: 'asset',
      default: { chain_id: chain, address, decimals }
    }
  ]
})
const listed = { chain, symbol: 'T', address, decimals: 6, tags: ['stable'] }
const elsewhere = { ...listed, address: `0x${'b'.repeat(40)}` }
const solana = (more: JsonObject) => ({
  node: { chain: 'solana:x' },
  action: {
    execution: {
      'solana:*': {
        type: 'solana_instruction',
        program: { lit: 'P' },
        instruction: 'go',
        accounts: [],
        data: { lit: '' },
        ...more
      }
    }
  }
})
const multiplier = { hard_constraints_defaults: { max_approval_multiplier: 1.5 } }

const forms: Readonly<Record<string, Form>> = {
  'an override with an expr reads parameters and calculated fields': {
    ...override({ twice: { expr: { cel: 'params.n + params.n + params.n + calculated.base' } } }),
    means: { calculated: { base: '5', twice: '20' } }
  },
  'a bare override reads what the workflow knows': {
    ...override({ twice: { lit: '7' } }),
    means: { execution: { args: { x: '7' } } }
  },
  'overrides that need each other are a cycle': {
    ...override({
      base: { expr: { ref: 'calculated.twice' } },
      twice: { expr: { ref: 'calculated.base' } }
    }),
    means: ['cycle']
  },
  'an override that reads itself is a cycle': {
    ...override({ twice: { expr: { ref: 'calculated.twice' } } }),
    means: ['cycle']
  },
  'an override that reads no parameter of its action is refused': {
    ...override({ twice: { expr: { ref: 'params.other' } } }),
    means: ['unknown_reference']
  },
  'bounds that are literals hold': {
    ...bounded({ max_spend: { lit: '4' } }, { params: [{ name: 'amount', type: 'uint256' }] }),
    node: { args: { amount: { lit: '5' } }, calculated_overrides: { base: { lit: '1' } } },
    means: { verdict: 'block', hits: ['constraint'] }
  },
  'bounds that are computed hold': {
    ...bounded({ max_approval: { cel: 'params.n + params.n' } }, { ...spends('11'), ...approves }),
    means: { constraints: { max_approval: '10' }, verdict: 'block', hits: ['constraint'] }
  },
  'bounds that are computed let pass what keeps them': {
    ...bounded({ max_approval: { cel: 'params.n + params.n' } }, spends('10')),
    means: { verdict: 'ok' }
  },
  'a computed bound that is none stops the node': {
    ...bounded({ max_spend: { cel: '"much"' } }),
    means: { state: 'failed' }
  },
  'a literal bound that is none is refused': {
    ...bounded({ max_slippage_bps: { lit: 'much' } }),
    means: ['invalid_value']
  },
  'flags, discriminators and lookup tables are values': {
    ...solana({
      accounts: [
        { name: 'a', pubkey: { lit: 'K' }, signer: { lit: true }, writable: { cel: '1 > 2' } }
      ],
      discriminator: { cel: '"0x" + "01"' },
      lookup_tables: { array: [{ lit: 'T' }] }
    }),
    means: {
      execution: {
        accounts: [{ name: 'a', pubkey: 'K', signer: true, writable: false }],
        discriminator: '0x01',
        lookup_tables: ['T']
      }
    }
  },
  'flags, discriminators and lookup tables stand as they are': {
    ...solana({
      accounts: [{ name: 'a', pubkey: { lit: 'K' }, signer: true, writable: false }],
      discriminator: '01',
      lookup_tables: [{ lit: 'T' }]
    }),
    means: {
      execution: {
        accounts: [{ name: 'a', pubkey: 'K', signer: true, writable: false }],
        discriminator: '01',
        lookup_tables: ['T']
      }
    }
  },
  'a bitcoin_psbt is an execution that a pack has to enable': {
    node: { chain: 'bip122:x' },
    action: {
      execution: {
        'bip122:*': {
          type: 'bitcoin_psbt',
          script_type: 'p2tr',
          mapping: { n: { ref: 'params.n' } }
        }
      }
    },
    pack: { plugins: { execution: { enabled: [] } } },
    means: {
      execution: { type: 'bitcoin_psbt', script_type: 'p2tr', mapping: { n: '5' } },
      hits: ['plugin_not_enabled']
    }
  },
  'extensions change nothing of an execution': {
    action: { execution: { [chain]: { ...call, extensions: { note: 1 } } } },
    means: { first: { execution: { type: 'evm_call' } } }
  },
  'a precondition in text is for people': {
    action: { pre_conditions: ['enough money'] },
    means: { state: 'ready' }
  },
  'a precondition that is a value must hold': {
    action: { pre_conditions: [{ cel: 'params.n > 5' }] },
    means: { state: 'failed', errors: [{ code: 'precondition_failed' }] }
  },
  'preflight.simulate of a node is simulated before it is signed': {
    flow: { preflight: { simulate: { a: true } } },
    means: { first: { simulate: true } }
  },
  'preflight.simulate of a node that is not there is refused': {
    flow: { preflight: { simulate: { b: true } } },
    means: ['unknown_reference']
  },
  'approvals of a workflow tighten': {
    flow: { policy: { approvals: { auto_execute_max_risk_level: 1 } } },
    means: { verdict: 'confirm', hits: ['risk_level'] }
  },
  'hard constraints of a workflow hold': {
    flow: { policy: { hard_constraints: { max_slippage_bps: 1 } } },
    means: { verdict: 'block', hits: ['preview_missing'] }
  },
  'hard constraints of a workflow that are none are refused': {
    flow: { policy: { hard_constraints: { max_slippage_bps: 'few' } } },
    means: ['schema_violation']
  },
  'a query may ask for one block where it reads one': {
    node: { type: 'query_ref', action: undefined as unknown as Json, query: 'q', args: {} },
    protocol: {
      queries: {
        q: {
          ...query,
          cache_ttl: 30,
          consistency: { require_same_block: true, block_tag: 'safe' },
          execution: {
            [chain]: { ...query.execution[chain], abi: { name: 'f', inputs: [], outputs: [] } }
          }
        }
      }
    },
    means: { first: { block: 'safe' } }
  },
  'a query may not ask for one block where nobody knows': {
    node: { type: 'query_ref', action: undefined as unknown as Json, query: 'q', args: {} },
    protocol: {
      queries: {
        q: {
          description: 'x',
          consistency: { require_same_block: true },
          execution: { [chain]: { type: 'some_plugin' } }
        }
      }
    },
    means: ['schema_violation']
  },
  'tokens of a list pass, with its decimals': {
    action: token(6),
    pack: { token_policy: { resolution: {}, allowlist: [listed] } },
    means: { verdict: 'ok' }
  },
  'a token that is said to have other decimals than the list says is refused': {
    action: token(18),
    pack: { token_policy: { resolution: {}, allowlist: [listed] } },
    means: { verdict: 'block', hits: ['constraint'] }
  },
  'a token beyond the list is asked about': {
    action: token(6),
    pack: { token_policy: { resolution: { allow_symbol_input: true }, allowlist: [elsewhere] } },
    means: { verdict: 'confirm', hits: ['token_not_listed'] }
  },
  'a token beyond the list is refused where the list is required': {
    action: token(6),
    pack: {
      token_policy: {
        resolution: { require_allowlist_for_symbol_resolution: true },
        allowlist: [elsewhere]
      }
    },
    means: { verdict: 'block' }
  },
  'an approval is bounded by a multiple of what is spent': {
    action: spends('150'),
    pack: { policy: multiplier },
    means: { verdict: 'ok' }
  },
  'an approval beyond the multiple is refused': {
    action: spends('151'),
    pack: { policy: multiplier },
    means: { verdict: 'block', hits: ['constraint'] }
  },
  'an approval that does not say what is spent is refused under a multiple': {
    action: approves,
    pack: { policy: multiplier },
    means: { verdict: 'block', hits: ['preview_missing'] }
  },
  'approvals are asked for by tag': {
    action: { risk_tags: ['leverage'] },
    pack: { policy: { approval_required: ['leverage'] } },
    means: { verdict: 'confirm', hits: ['approval_required'] }
  },
  'a threshold of risk is where approvals begin': {
    pack: { policy: { risk_threshold: 1 } },
    means: { verdict: 'confirm', hits: ['risk_level'] }
  },
  'tags of an override count': {
    pack: {
      policy: { approval_required: ['leverage'] },
      overrides: { actions: { '1pay.pay': { risk_tags: ['leverage'] } } }
    },
    means: { verdict: 'confirm', hits: ['approval_required'] }
  }
}

describe('W1: forms of AIS documents', () => {
  it.each(Object.entries(forms))('%s', async (_, form) => {
    const found = await meaning(form)
    if (Array.isArray(form.means)) expect(found).toEqual(form.means)
    else expect(found).toMatchObject(form.means as JsonObject)
  })

  it('loads a pack as AIS writes it, and one with its name beside meta', () => {
    const detect = {
      enabled: [
        { kind: 'best_quote', provider: 'q', candidates: [{ fee: 500 }, 'x'], rule: 'least' },
        { kind: 'choose_one', provider: 'q', chains: [chain], priority: 10 }
      ]
    }
    const providers = { detect, quote: { enabled: [{ provider: 'q' }] }, routing: ['r'] }
    const pack = packOf(packWith({ providers }))
    expect(pack.meta).toMatchObject({ name: 'p', version: '1.0.0' })
    const { detectProviders, pathProviders } = tightened(defaultPolicy, pack)
    expect(pathProviders).toEqual(['r'])
    expect(detectProviders).toMatchObject([
      { provider: 'q', kinds: ['best_quote'], candidates: [{ fee: 500 }, 'x'], rule: 'least' },
      { provider: 'q', kinds: ['choose_one'], chains: [chain], priority: 10 }
    ])
    const twice = { ...(packWith({}) as JsonObject), meta: { name: 'p', version: '1.0.0' } }
    expect(parsePack(twice).ok).toBe(false)
    expect(parsePack({ schema: 'ais-pack/0.0.2', includes: [] }).ok).toBe(false)
  })

  it('takes candidates of a choice bare, or as values', async () => {
    const n = { detect: { kind: 'choose_one', candidates: ['9', { lit: '8' }] } }
    const found = await meaning({ node: { args: { n } }, means: null })
    expect(found).toMatchObject({ params: { n: '9' } })
  })

  it('allows extensions in every object, and other members in none', () => {
    const flow = {
      schema: 'ais-flow/0.0.3',
      meta: { name: 'x', version: '1.0.0', extensions: { a: 1 } },
      requires_pack: { name: 'p', version: '1.0.0', extensions: {} },
      nodes: [
        {
          id: 'a',
          type: 'query_ref',
          protocol: 'p@1.0.0',
          query: 'q',
          retry: { interval_ms: 1, extensions: {} },
          args: { x: { detect: { kind: 'best_path', extensions: {} } } }
        }
      ]
    }
    expect(parseFlow(flow).ok).toBe(true)
    expect(parseFlow({ ...flow, meta: { ...flow.meta, more: 1 } }).ok).toBe(false)
  })

  it('tells what is wrong in the form of an override that was meant', () => {
    const node = { id: 'a', type: 'query_ref', protocol: 'p@1.0.0', query: 'q' }
    const issues = (value: Json) => {
      const parsed = parseFlow({
        schema: 'ais-flow/0.0.3',
        meta: { name: 'x', version: '1.0.0' },
        nodes: [{ ...node, calculated_overrides: { f: value } }]
      })
      return parsed.ok ? [] : parsed.issues.map(({ path }) => path.join('.'))
    }
    const at = 'nodes.0.calculated_overrides.f'
    expect(issues({ expr: 5 })).toEqual([`${at}.expr`])
    expect(issues({ lit: 1, ref: 'a' })).toEqual([at])
  })

  it('loads the parts of a protocol that are for people', () => {
    const parsed = parseProtocol({
      schema: 'ais/0.0.2',
      meta: { protocol: 'p', version: '1.0.0', homepage: 'https://x.example', tags: ['dex'] },
      deployments: [{ chain, contracts: {}, rpc_hints: ['https://rpc.example'] }],
      actions: {},
      risks: [{ level: 'warning', text: 'it may fail', applies_to: ['x'] }],
      supported_assets: [
        { symbol: 'T', decimals: { [chain]: 6 }, addresses: { [chain]: address } }
      ],
      capabilities_required: ['cel'],
      tests: [{ name: 't', action: 'x', params: {}, expect: { execution_type: 'evm_call' } }]
    })
    expect(parsed).toMatchObject({ ok: true })
  })
})

describe('W1: ids that hold "__"', () => {
  it('names a node by its id, and a step by its node', async () => {
    const steps = [
      { id: '1', execution: call },
      { id: 'b', execution: call }
    ]
    const composite = { execution: { [chain]: { type: 'composite', steps } } }
    const node = { id: 'a__x', ...{ deps: [] } }
    const found = await meaning({ node, action: composite, means: null })
    expect(found).toMatchObject({
      first: { id: 'a__x__1', places: { a__x: { node: 'a__x', step: null } } }
    })
  })

  it.each(['run__outputs', 'run__inputs'])('keeps %s for the engine', async (id) => {
    expect(await meaning({ node: { id }, means: null })).toEqual(['duplicate_node_id'])
  })
})

describe('fields of AIS documents', () => {
  const page = readFileSync(new URL('../../../../docs/ais-departures.md', import.meta.url), 'utf8')
  const informational = new Set(
    [...page.matchAll(/^\| `([^`]+)` \|/gm)].flatMap(([, names = '']) => names.split(' '))
  )
  const { fields, isRead } = fieldsOfSchemas()

  it('are each read by the code, or listed as informational', () => {
    const silent = fields.filter((field) => !informational.has(field) && !isRead(field))
    expect(silent).toEqual([])
  })

  it('are listed as informational only if they exist', () => {
    const gone = [...informational].filter((field) => !fields.includes(field))
    expect(gone).toEqual([])
  })
})
