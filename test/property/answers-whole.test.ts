import '../support/seed.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { OpenWait } from '../../src/block/index.js'
import { type Block, defineBlock } from '../../src/code/index.js'
import type { Json, JsonObject } from '../../src/core/index.js'
import { createRuntime, MEMORY_LOCATION, type RunHandle } from '../../src/runtime/index.js'
import { aisText } from '../support/ais.js'
import { TestChain } from '../support/ais-chain.js'
import { asset, flow, transfer } from '../support/ais-flows.js'
import { cases } from '../support/effort.js'

/** Whatever a person answers, a run takes all of it, or it changes nothing and asks as before. */

const numRuns = cases({ usual: 15, long: 44, soak: 4_000 })

async function waiting(run: RunHandle): Promise<OpenWait> {
  for await (const event of run) {
    if (event.type === 'run.finished') break
    const [wait] = event.type === 'run.parked' ? await run.waits() : []
    if (wait !== undefined) return wait
  }
  throw new Error('the run has ended')
}

const one = `0x${'1'.repeat(40)}`
const two = `0x${'2'.repeat(40)}`

const document = flow(
  [
    transfer('pay', {
      args: { token: asset, to: { ref: 'ctx.friend' }, amount: { ref: 'inputs.amount' } },
      condition: { cel: 'inputs.amount < policy.most' },
      on_error: 'ask'
    })
  ],
  {
    inputs: {
      amount: { type: 'uint256', required: true },
      most: { type: 'uint256' },
      memo: { type: 'string' }
    },
    policy: { most: 100 }
  }
)

const reverted = {
  fails: {
    code: 'reverted',
    phase: 'send',
    chain: 'eip155:1',
    executionType: 'evm_call',
    retryable: false,
    sent: false,
    message: 'it is refused'
  }
}

/** Refuses the first payment. */
function once() {
  let isRefused = false
  return () => {
    const isFirst = !isRefused
    isRefused = true
    return isFirst
  }
}

function opened({ providers }: TestChain) {
  return createRuntime({
    location: MEMORY_LOCATION,
    providers,
    workflow: {
      protocols: [aisText('erc20')],
      writes: 'broadcast',
      policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
    }
  })
}

/** The workflow with its payment refused, at the question what to do. */
async function failed(given: JsonObject, refuses: (execution: JsonObject) => boolean = once()) {
  const chain = new TestChain({
    write: ({ execution }) => (refuses(execution) ? reverted : {})
  })
  const tally = await opened(chain)
  const run = tally.begin(document, { id: 'one', inputs: given })
  return { tally, chain, run, wait: await waiting(run) }
}

const paid = (chain: TestChain) =>
  [...chain.sent.values()].map(({ execution }) => execution['args'] as JsonObject)

const paths = fc.constantFrom<string | string[]>(
  'inputs.amount',
  'inputs.ammount',
  'input.amount',
  'inputs.amount.value',
  'inputs',
  'inputs.memo',
  'ctx.friend',
  'ctx.frend',
  'ctx.friend.address',
  'ctx.account',
  'contracts.token',
  'policy.most',
  'policy.mots',
  'nodes.pay.outputs',
  'calculated.amount',
  'inputs.',
  '',
  ['inputs', 'amount'],
  ['__proto__', 'amount']
)
const values = fc.constantFrom<Json>('5', 7, '5,5', '-5', 5.5, '5e3', null, true, {}, [], one, two)
const patches = fc.array(
  fc.record({ path: paths, value: values, op: fc.constantFrom('set', 'merge') }),
  { maxLength: 3 }
)

describe('W14: a patch of a node that has failed', () => {
  it('takes effect as a whole, or changes nothing and is refused with the reason', async () => {
    await fc.assert(
      fc.asyncProperty(patches, async (given) => {
        const { tally, chain, run, wait } = await failed({
          inputs: { amount: '50' },
          ctx: { friend: one }
        })
        await using _ = tally
        const answer = { digest: wait.digest, action: 'patch', value: { patches: given } } as const
        const outcome = await run.resume(wait.token, answer)
        let expected = { amount: '50', friend: one }
        if (outcome.accepted) {
          const last = (path: string) =>
            given.findLast((patch) => [patch.path].flat().join('.') === path)?.value
          const amount = last('inputs.amount') ?? '50'
          expected = { amount: String(amount), friend: String(last('ctx.friend') ?? one) }
        } else {
          expect(outcome).toMatchObject({ reason: 'answer_refused' })
          expect(outcome).toHaveProperty('problem', expect.stringMatching(/\S/))
          const [still] = await run.waits()
          expect(still).toEqual(wait)
          const { token, digest } = wait
          const again = await run.resume(token, { digest, action: 'retry' })
          expect(again.accepted).toBe(true)
        }
        const { response } = await run.result
        expect(response.success).toBe(true)
        const most = outcome.accepted ? mostOf(given) : 100
        if (BigInt(expected.amount) < BigInt(most)) {
          const { to, value } = paid(chain).at(-1) ?? {}
          expect({ amount: value, friend: to }).toEqual(expected)
        } else expect(chain.sent.size).toBe(1)
        expect(await tally.verify()).toMatchObject({ ok: true })
      }),
      { numRuns }
    )
  })

  function mostOf(given: readonly { readonly path: string | string[]; readonly value: Json }[]) {
    return Number(given.findLast(({ path }) => path === 'policy.most')?.value ?? 100)
  }

  it('is refused where it would take an earlier one back unsaid', async () => {
    const given = { inputs: { amount: '50' }, ctx: { friend: one } }
    const toOne = ({ args }: JsonObject) => (args as JsonObject)['to'] === one
    const { tally, chain, run, wait } = await failed(given, toOne)
    await using _ = tally
    const amount = { path: 'inputs.amount', value: '5' }
    const friend = { path: 'ctx.friend', value: two }
    const patch = (asked: OpenWait, patches: Json) => {
      const { token, digest } = asked
      return run.resume(token, { digest, action: 'patch', value: { patches } })
    }
    expect((await patch(wait, [amount])).accepted).toBe(true)
    const again = await waiting(run)
    expect(await patch(again, [friend])).toMatchObject({
      reason: 'answer_refused',
      problem: expect.stringContaining('inputs.amount')
    })
    expect((await patch(again, [friend, amount])).accepted).toBe(true)
    expect((await run.result).status).toBe('done')
    expect(paid(chain).at(-1)).toMatchObject({ to: two, value: '5' })
  })
})

describe('W14: what a node lacks', () => {
  const answers: readonly [Json, RegExp][] = [
    [{ 'inputs.amount': '5,5' }, /inputs\.amount: it is not a whole number/],
    [{ 'input.amount': '5' }, /input\.amount: only inputs, ctx, contracts, policy/],
    [{ 'inputs.ammount': '5' }, /inputs\.ammount: the workflow has no input ammount/],
    [{ 'inputs.amount': '5', 'nodes.pay': 1 }, /nodes\.pay: only/],
    [{ 'inputs.amount': '5', 'ctx.frend': one }, /nothing reads ctx\.frend/],
    [{ 'inputs.amount': '5', 'ctx.friend': 'nobody here' }, /args\/to: to: it is not an address/],
    [{ 'inputs.amount': '5', 'contracts.other': one }, /nothing reads contracts\.other/],
    [{ patches: [], 'inputs.amount': '5' }, /either patches or values/],
    [{ choices: { best: 1 } }, /no choice best/],
    [{ patches: 'none' }, /patches must be a list/],
    [{}, /it gives nothing/],
    ['5', /names values by their paths/]
  ]

  for (const [value, problem] of answers) {
    it(`is asked for until it is given whole: ${JSON.stringify(value)} is refused`, async () => {
      const chain = new TestChain()
      await using tally = await opened(chain)
      const run = tally.begin(document, { id: 'one', inputs: {} })
      const wait = await waiting(run)
      const { token, digest } = wait
      expect(await run.resume(token, { digest, value })).toMatchObject({
        accepted: false,
        reason: 'answer_refused',
        problem: expect.stringMatching(problem)
      })
      expect(await run.waits()).toEqual([wait])
      const right = { 'inputs.amount': '5', 'ctx.friend': two }
      expect(await run.resume(token, { digest, value: right })).toMatchObject({ accepted: true })
      expect(await run.result).toMatchObject({ status: 'done' })
      expect(paid(chain)).toMatchObject([{ to: two, value: '5' }])
    })
  }
})

describe('W14: a merge patch of a block that has failed', () => {
  const seen: Json[] = []
  const pays = (name: string, input?: z.ZodType): Block =>
    defineBlock({
      name,
      version: '1.0.0',
      sideEffects: 'none',
      ...(input === undefined ? {} : { input }),
      run: (ctx, given) => {
        if (ctx.attempt === 1) ctx.fail('no_funds')
        seen.push(given as Json)
        return given
      }
    })
  const known = z.object({
    amount: z.string().regex(/^[0-9]+$/),
    to: z.object({ name: z.string() }),
    memo: z.string().optional()
  })
  const blocks = [
    pays('declared', known),
    pays('strict', z.strictObject(known.shape)),
    pays('open')
  ]
  const start = { amount: '50', to: { name: 'ann' } }

  const names = fc.constantFrom('amount', 'ammount', 'memo', 'patches', 'to')
  const given: fc.Arbitrary<Json> = fc.dictionary(
    names,
    fc.constantFrom<Json>('5', '5,5', 7, null, [], { name: 'bob' }, { nam: 'bob' }),
    { maxKeys: 3 }
  )

  it('takes effect as a whole, or changes nothing and is refused with the reason', async () => {
    await using tally = await createRuntime({ location: MEMORY_LOCATION, blocks })
    let count = 0
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...blocks), given, async ({ name }, value) => {
        count += 1
        const run = tally.begin(
          {
            schema: 'tally-composite/1',
            name: 'pays',
            version: '1.0.0',
            entry_point: 'pay',
            nodes: { pay: { block: name, on_error: 'ask' } },
            transitions: {}
          },
          { id: `run-${count}`, inputs: start }
        )
        const { token, digest } = await waiting(run)
        const outcome = await run.resume(token, { digest, action: 'patch', value })
        if (!outcome.accepted) {
          expect(outcome.reason).toBe('answer_refused')
          await run.resume(token, { digest, action: 'retry' })
        }
        expect((await run.result).status).toBe('done')
        const expected = outcome.accepted ? merged(start, value as JsonObject) : start
        expect(seen.at(-1)).toEqual(expected)
      }),
      { numRuns }
    )
  })

  function merged(target: JsonObject, patch: JsonObject): JsonObject {
    const entries = Object.entries({ ...target, ...patch }).map(([name, value]): [string, Json] => [
      name,
      name === 'to' && isObject(value) ? { ...(target['to'] as JsonObject), ...value } : value
    ])
    return Object.fromEntries(entries.filter(([, value]) => value !== null))
  }

  function isObject(value: Json): value is JsonObject {
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  }
})
