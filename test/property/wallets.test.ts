import '../support/seed.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Json, type JsonObject, sha256Hex } from '../../src/core/index.js'
import { chainEffects } from '../../src/executor/index.js'
import { createRuntime, MEMORY_LOCATION } from '../../src/runtime/index.js'
import { aisText } from '../support/ais.js'
import { TestChain } from '../support/ais-chain.js'
import { flow } from '../support/ais-flows.js'
import { cases } from '../support/effort.js'

/** The wallet of a node is a function of its chain and its signer, whatever was done before it. */

const numRuns = cases({ usual: 10, long: 33, soak: 3_000 })

interface Shape {
  readonly chain: number
  readonly isWrite: boolean
  readonly deps: readonly number[]
}

const shapes = fc
  .tuple(fc.integer({ min: 2, max: 4 }), fc.integer({ min: 2, max: 8 }))
  .chain(([chains, count]) =>
    fc.tuple(
      ...Array.from({ length: count }, (_, place) =>
        fc.record({
          chain: fc.integer({ min: 1, max: chains }),
          isWrite: fc.boolean(),
          deps: fc.subarray(Array.from({ length: place }, (_, before) => before))
        })
      )
    )
  )

const idOf = (chain: number) => `eip155:${chain}`
const addressOf = (chain: string, account: string) =>
  `0x${sha256Hex(`${chain} ${account}`).slice(0, 40)}`

function nodeOf({ chain, isWrite, deps }: Shape, place: number): JsonObject {
  const token = { chain_id: idOf(chain), address: `0x${'a'.repeat(40)}`, decimals: 6 }
  const wallet = { ref: 'ctx.wallet_address' }
  const common = {
    id: `n${place}`,
    chain: idOf(chain),
    protocol: 'erc20@0.0.2',
    deps: deps.map((one) => `n${one}`)
  }
  return isWrite
    ? {
        ...common,
        type: 'action_ref',
        action: 'transfer',
        args: { token: { lit: token }, to: wallet, amount: { lit: String(place + 1) } }
      }
    : {
        ...common,
        type: 'query_ref',
        query: 'balance',
        args: { token: { lit: token }, owner: wallet }
      }
}

describe('W14: the wallet of a node', () => {
  it('is the one of its own chain and of the account of the run, in any graph', async () => {
    const accounts = fc.constantFrom<string | undefined>(undefined, 'treasury')
    await fc.assert(
      fc.asyncProperty(shapes, accounts, async (nodes, account) => {
        const used: [chain: string, wallet: Json][] = []
        const note = (chain: string, execution: JsonObject) => {
          const { account: holder, to } = execution['args'] as JsonObject
          used.push([chain, holder ?? to ?? null])
        }
        const chain = new TestChain({
          read: ({ chain: id, execution }) => {
            note(id, execution)
            return { balance: '7' }
          }
        })
        await using tally = await createRuntime({
          location: MEMORY_LOCATION,
          providers: [
            ...chain.providers.filter(({ name }) => name !== chainEffects.account),
            {
              name: chainEffects.account,
              perform: ({ request }) => {
                const { chain: id, account: name = 'default' } = request as {
                  readonly chain: string
                  readonly account?: string
                }
                return { address: addressOf(id, name), canSign: true }
              }
            }
          ],
          workflow: {
            protocols: [aisText('erc20')],
            writes: 'broadcast',
            policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
          }
        })
        const given = account === undefined ? {} : { ctx: { account } }
        const run = tally.begin(flow(nodes.map(nodeOf)), { id: 'one', inputs: given })
        expect(await run.result).toMatchObject({ status: 'done' })
        for (const { chain: id, execution } of chain.sent.values()) note(id, execution)
        expect(used).toHaveLength(nodes.length)
        for (const [id, wallet] of used) {
          expect(wallet).toBe(addressOf(id, account ?? 'default'))
        }
        expect(await tally.verify()).toMatchObject({ ok: true })
      }),
      { numRuns }
    )
  })
})
