import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { hashJson } from '../../../../src/core/index.js'
import { createRuntime, MEMORY_LOCATION } from '../../../../src/runtime/index.js'
import { documentHash } from '../../../../src/workflow/document/parse.js'
import type { WorkflowHost } from '../../../../src/workflow/index.js'
import { aisText, errorsOf, packOf, protocolOf, seedCatalogue } from '../../../support/ais.js'
import { TestChain } from '../../../support/ais-chain.js'
import { flow, transfer } from '../../../support/ais-flows.js'

/** Runs under packs: that of AIS's own repository, pins, and floors of the host. */

const chain = 'eip155:8453'
const usdc = { chain_id: chain, address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', decimals: 6 }
const weth = {
  chain_id: chain,
  address: '0x4200000000000000000000000000000000000006',
  decimals: 18
}

const trade = (amount: string, slippage: string, minimum = '1') =>
  flow(
    [
      {
        id: 'allow',
        type: 'action_ref',
        protocol: 'erc20@0.0.2',
        action: 'approve',
        args: {
          token: { lit: usdc },
          spender: { ref: 'contracts.router' },
          amount: { lit: amount }
        }
      },
      {
        id: 'swap',
        type: 'action_ref',
        protocol: 'uniswap-v3@0.0.2',
        action: 'swap-exact-in',
        deps: ['allow'],
        args: {
          token_in: { lit: usdc },
          token_out: { lit: weth },
          amount_in: { lit: '10' },
          minimum_out: { lit: minimum },
          slippage_bps: { lit: slippage }
        }
      }
    ],
    { default_chain: chain, on_error: 'stop' }
  )

async function traded(document: JsonObject) {
  const chains = new TestChain()
  await using tally = await createRuntime({
    location: MEMORY_LOCATION,
    providers: chains.providers,
    workflow: {
      protocols: [aisText('erc20'), aisText('uniswap-v3')],
      packs: [aisText('safe-defi')],
      writes: 'broadcast'
    }
  })
  const run = tally.begin(document, { id: 'one', inputs: {} })
  const asked: Json[] = []
  for await (const event of run) {
    if (event.type !== 'waiting' || event.reason !== 'confirmation') continue
    const [wait] = await run.waits()
    asked.push((wait as { readonly request: JsonObject }).request['request'] ?? null)
    await run.approve(wait?.token ?? '', { digest: wait?.digest ?? '' })
  }
  const { status, response } = await run.result
  expect(await tally.verify()).toMatchObject({ ok: true })
  return { status, asked, sent: chains.functions, said: JSON.stringify(response) }
}

describe("AIS's safe-defi pack", () => {
  it('lets approve and swap run, and shows what the swap does', async () => {
    const { status, asked, sent } = await traded(trade('10', '50'))
    expect([status, sent]).toEqual(['done', ['approve', 'exactInputSingle']])
    expect(asked).toMatchObject([
      {
        nodeId: 'swap',
        riskLevel: 3,
        undecoded: [],
        effects: [{ kind: 'swap', amount: '10000000', minimum: '1' }]
      }
    ])
  })

  for (const [what, document, sent] of [
    ['an approval without limit', trade((2n ** 255n / 10n ** 6n).toString(), '50'), []],
    ['more slippage than it allows', trade('10', '51'), ['approve']],
    ['a swap that takes any price', trade('10', '50', '0'), ['approve']]
  ] as const) {
    it(`refuses ${what}`, async () => {
      const found = await traded(document)
      expect([found.status, found.sent, found.asked]).toEqual(['failed', sent, []])
      expect(found.said).toContain('policy_blocked')
    })
  }
})

const erc20 = protocolOf(aisText('erc20'))
const pinning = (integrity: string, more: JsonObject = {}): Json => ({
  schema: 'ais-pack/0.0.2',
  meta: { name: 'p', version: '1.0.0' },
  includes: [{ protocol: 'erc20', version: '0.0.2', integrity }],
  ...more
})
const right = `sha256:${documentHash(erc20)}`

describe('W12: a pack', () => {
  it('pins the text of a protocol by its hash', async () => {
    const document = flow([transfer('a')])
    expect(await errorsOf(document, seedCatalogue(), packOf(pinning(right)))).toEqual([])
    const other = protocolOf(aisText('erc20').replace('risk_level: 3', 'risk_level: 1'))
    expect(await errorsOf(document, [other], packOf(pinning(right)))).toEqual([
      'integrity_mismatch'
    ])
    const wrong = pinning(`sha256:${'0'.repeat(64)}`)
    expect(await errorsOf(document, [erc20], packOf(wrong))).toEqual(['integrity_mismatch'])
  })

  it('pins what was written, whichever way it was given', () => {
    const json = { schema: 'ais/0.0.2', meta: { protocol: 'x', version: '1.0.0' }, actions: {} }
    const asText = protocolOf(JSON.stringify(json, null, 2))
    expect(documentHash(asText)).toBe(hashJson(json))
    expect(documentHash(protocolOf(json))).toBe(hashJson(json))
  })

  const start = async (host: WorkflowHost, packs: readonly Json[]) => {
    const chains = new TestChain()
    await using tally = await createRuntime({
      location: MEMORY_LOCATION,
      providers: chains.providers,
      workflow: { protocols: [aisText('erc20')], writes: 'broadcast', ...host }
    })
    const bundle = {
      schema: 'ais-bundle/1',
      flow: flow([transfer('a')], { on_error: 'stop' }),
      protocols: [],
      packs
    } as unknown as Json
    const { status, response } = await tally.begin(bundle, { id: 'one', inputs: {} }).result
    return [status, JSON.stringify(response)]
  }

  it('of a host holds beside those that a document brings, with all that it includes', async () => {
    const free = { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
    const loose = pinning(right)
    expect(await start({ policy: free }, [loose])).toMatchObject(['done', expect.anything()])
    const strict = pinning(`sha256:${'0'.repeat(64)}`)
    const [status, said] = await start({ policy: free, packs: [strict] }, [loose])
    expect(status).toBe('failed')
    expect(said).toContain('integrity_mismatch')
  })

  it('does not widen the bounds of the host', async () => {
    const policy = {
      autoExecuteMaxRisk: 5,
      requireApprovalMinRisk: 6,
      constraints: { max_spend: '4' }
    }
    const wide = pinning(right, { policy: { hard_constraints_defaults: { max_spend: '100' } } })
    const [status, said] = await start({ policy }, [wide])
    expect(status).toBe('failed')
    expect(said).toContain('beyond 4')
    const wrong = { ...policy, constraints: { max_spend: 'much' } }
    await expect(start({ policy: wrong }, [])).rejects.toMatchObject({
      code: 'workflow.invalid_document'
    })
  })
})
