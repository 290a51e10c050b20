import type { Address } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { undecodable } from '../../../../src/workflow/policy/measure.js'
import { defaultPolicy } from '../../../../src/workflow/policy/policy.js'
import { bound, free, judgeWrite, type Says, short } from '../../../support/judged-writes.js'
import {
  chain,
  deedOf,
  type Effect,
  friends,
  held,
  known,
  MEMO,
  mint,
  native,
  others,
  source,
  strangers,
  TOKEN_2022,
  token,
  U64_MAX,
  type Writing,
  writings,
  written
} from '../../../support/solana-instructions.js'

const named = (name: string, amount: bigint, to: Address = friends) => {
  const [make] = known[name] ?? []
  if (make === undefined) throw new Error(name)
  return written(make(deedOf(amount, to)))
}
const judge = (execution: JsonObject & { readonly type: string }, policy = free, says: Says = {}) =>
  judgeWrite(chain, execution, policy, says)

describe('W15: a policy measures instructions of Solana', () => {
  it.each(Object.entries(known))('and decodes %s', (_, [make, effects]) => {
    for (const program of [TOKEN_PROGRAM_ADDRESS, TOKEN_2022]) {
      for (const amount of [0n, 7n, U64_MAX]) {
        const deed = { amount, to: strangers, program }
        for (const how of Object.keys(writings) as readonly Writing[]) {
          const execution = written(make(deed), { how, isDerived: true })
          expect(judge(execution).measured).toEqual({ effects: effects(deed), undecoded: [] })
        }
      }
    }
  })

  it.each(Object.entries(others))('and knows nothing of %s', (_, make) => {
    const execution = written(make(deedOf(5n)))
    const { measured, riskLevel } = judge(execution)
    expect([measured?.effects, measured?.undecoded.length, riskLevel]).toEqual([[], 1, 5])
    expect(short(judge(execution, defaultPolicy))).toEqual(['confirm', 'risk_level', 'undecoded'])
    for (const rule of [
      { max_spend: '9' },
      { max_spend_per_run: '9' },
      { allowed_recipients: [] }
    ]) {
      expect(short(judge(execution, bound(rule as JsonObject)))).toEqual(['block', 'undecoded'])
    }
  })

  it('and knows nothing of what could not be sent', () => {
    const whole = named('systemTransfer', 5n)
    for (const odd of [
      { data: 'bare' },
      { program: 'x' },
      { accounts: [{ name: 'a', pubkey: 'x' }] }
    ]) {
      const { measured, riskLevel } = judge({ ...whole, ...odd } as typeof whole)
      expect([measured?.effects, riskLevel]).toEqual([[], 5])
    }
  })

  it('and bounds lamports and tokens by their own keys', () => {
    const policy = bound({ max_spend: { [native]: '5', [token]: '10', '*': '0' } })
    expect(short(judge(named('systemTransfer', 5n), policy))).toEqual(['ok'])
    expect(short(judge(named('systemTransfer', 6n), policy))).toEqual(['block', 'constraint'])
    expect(short(judge(named('transferChecked', 10n), policy))).toEqual(['ok'])
    expect(short(judge(named('transferChecked', 11n), policy))).toEqual(['block', 'constraint'])
    expect(short(judge(named('burnChecked', 11n), policy))).toEqual(['block', 'constraint'])
    const unlimited = bound({ allow_unlimited_approval: false })
    expect(short(judge(named('approveChecked', U64_MAX - 1n), unlimited))).toEqual(['ok'])
    expect(short(judge(named('approveChecked', U64_MAX), unlimited))).toEqual([
      'block',
      'constraint'
    ])
  })

  it('and takes a token that is not named for none that a bound knows, and says so', () => {
    const [pay, allow] = [named('transfer', 1n), named('approve', 1n)]
    const asked = judge(pay, defaultPolicy)
    expect(short(asked)).toEqual(['confirm', 'risk_level', 'undecoded'])
    expect(asked.hits.at(-1)?.message).toBe(
      `the transfer names no token, only the account ${source} that holds it, ` +
        'which counts as risk 5'
    )
    const refused = ['block', 'undecoded']
    for (const bounds of ['5', { [token]: '5' }, { [held]: '5' }]) {
      expect(short(judge(pay, bound({ max_spend: bounds })))).toEqual(refused)
      expect(short(judge(pay, bound({ max_spend_per_run: bounds })))).toEqual(refused)
    }
    expect(short(judge(allow, bound({ max_approval: { [token]: '5' } })))).toEqual(refused)
    expect(short(judge(allow, bound({ max_approval: '5' })))).toEqual(['ok'])
    expect(short(judge(allow, bound({ max_approval: '0' })))).toEqual(['block', 'constraint'])
    const list = bound({ allowed_recipients: [{ chain, address: friends }] })
    expect(short(judge(pay, list))).toEqual(['ok'])
    expect(short(judge(named('transfer', 1n, strangers), list))).toEqual([
      'block',
      'recipient_not_listed'
    ])
  })

  it('and lint names programs that nothing decodes, where they are written out', () => {
    const of = (program: Json) => undecodable({ ...named('memo', 0n), program } as never)
    expect(of({ lit: MEMO })).toBeUndefined()
    expect(of({ ref: 'contracts.program' })).toBeUndefined()
    expect(of({ lit: mint })).toBe(`an instruction of ${mint}`)
  })
})

const amount = fc.oneof(fc.bigInt({ min: 0n, max: 200n }), fc.constantFrom(U64_MAX, U64_MAX - 1n))
const deeds = fc.record({
  amount,
  to: fc.constantFrom(friends, strangers),
  program: fc.constantFrom(TOKEN_PROGRAM_ADDRESS, TOKEN_2022)
})
const amounts = fc.oneof(
  fc.nat(300),
  fc.record({ [token]: fc.nat(300), [native]: fc.nat(300) }, { requiredKeys: [] })
)
const rules = fc.record(
  {
    max_spend: amounts,
    max_approval: amounts,
    allow_unlimited_approval: fc.constant(false),
    allowed_recipients: fc
      .subarray([friends, strangers])
      .map((all) => all.map((one) => ({ chain, address: one as string })))
  },
  { requiredKeys: [] }
)
const lies = fc.record({
  name: fc.constantFrom('read_price', 'approve', 'noop'),
  tags: fc.subarray(['safe']),
  params: fc.record({ amount: fc.constant('0') }, { requiredKeys: [] }),
  calculated: fc.record({ spend: fc.constant('0') }, { requiredKeys: [] })
})
const ways = fc.record({
  how: fc.constantFrom(...(Object.keys(writings) as readonly Writing[])),
  isDerived: fc.boolean(),
  front: fc.constantFrom(0, 1)
})

/** The verdict by what really happens; it knows nothing of instructions. */
function expected(effects: readonly Effect[] | undefined, rule: JsonObject, auto: number) {
  const { max_spend: spend, max_approval: approval, allowed_recipients: allowed } = rule
  const list = allowed as readonly JsonObject[] | undefined
  const isBlocked = (effect: Effect) => {
    const { kind, asset, amount } = effect
    const limit = kind === 'approval' ? approval : spend
    const most = typeof limit === 'object' ? (limit as JsonObject)[asset] : limit
    const isUnnamed = asset === held && limit !== undefined
    const to = 'to' in effect ? effect.to : 'spender' in effect ? effect.spender : undefined
    const isForbidden = rule['allow_unlimited_approval'] === false
    return (
      (most !== undefined && BigInt(amount) > BigInt(String(most))) ||
      (isUnnamed && (kind !== 'approval' || typeof limit === 'object')) ||
      (kind === 'approval' && BigInt(amount) === U64_MAX && isForbidden) ||
      (to !== undefined && list?.some((one) => one['address'] === to) === false)
    )
  }
  if (effects === undefined) {
    if (spend !== undefined || allowed !== undefined) return 'block'
    return auto === 5 ? 'ok' : 'confirm'
  }
  if (effects.some(isBlocked)) return 'block'
  const levels = effects.map(({ kind, asset, amount }) => {
    if (asset === held) return 5
    if (kind === 'approval') return BigInt(amount) === U64_MAX ? 4 : 2
    return BigInt(amount) > 0n ? 3 : 1
  })
  return Math.max(1, ...levels) <= auto ? 'ok' : 'confirm'
}

describe('W15: a protocol of Solana that lies', () => {
  it('is judged by its bytes, however they and its accounts are written', () => {
    const names = fc.constantFrom(...Object.keys(known), ...Object.keys(others))
    const auto = fc.integer({ min: 0, max: 5 })
    fc.assert(
      fc.property(names, deeds, ways, rules, lies, auto, (name, deed, way, rule, says, level) => {
        const [make, effects] = known[name] ?? [others[name], undefined]
        if (make === undefined) throw new Error(name)
        const base = { ...defaultPolicy, autoExecuteMaxRisk: level, requireApprovalMinRisk: 6 }
        const policy = bound(rule as JsonObject, base)
        const wanted = expected(effects?.(deed), rule as JsonObject, level)
        expect(judge(written(make(deed), way), policy, says).kind).toBe(wanted)
      }),
      { numRuns: 400 }
    )
  })
})
