import fc from 'fast-check'
import { encodeFunctionData, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { defaultPolicy, type Policy, tightened } from '../../../../src/workflow/policy/policy.js'
import { packOf } from '../../../support/ais.js'
import { bound, free, judgeWrite, type Says, short } from '../../../support/judged-writes.js'

const chain = 'eip155:1'
const [token, router, unknown] = ['aa', 'bb', 'cc'].map((byte) => `0x${byte.repeat(20)}`) as [
  string,
  string,
  string
]
const friend = `0x${'11'.repeat(20)}`
const stranger = `0x${'22'.repeat(20)}`
const erc20 = (address: string) => `${chain}/erc20:${address}`
const native = `${chain}/native`

const judge = (
  execution: JsonObject & { readonly type: string },
  policy: Policy,
  says: Says = {},
  times = 1
) => judgeWrite(chain, execution, policy, says, times)

const single =
  'address a, address b, uint24 c, address d, uint256 e, uint256 f, uint256 g, uint160 h'

/** A call as protocols write it. */
function call(to: string, signature: string, args: JsonObject, value?: string) {
  return {
    type: 'evm_call',
    to,
    ...parts(signature, args),
    ...(value === undefined ? {} : { value })
  }
}

function parts(signature: string, args: JsonObject) {
  const [abi] = parseAbi([`function ${signature}`] as readonly string[]) as unknown as [JsonObject]
  return { abi, args }
}

const pay = (amount: string, to = friend) =>
  call(token, 'transfer(address to, uint256 qty)', { to, qty: amount })
const allow = (amount: string) =>
  call(token, 'approve(address who, uint256 much)', { who: friend, much: amount })

describe('W15: a policy measures the call', () => {
  it('and lets, asks or refuses by amounts of each asset, native ones included', () => {
    const policy = bound({ max_spend: { [erc20(token)]: '1000', [native]: '5' } })
    expect(short(judge(pay('1000'), policy))).toEqual(['ok'])
    expect(short(judge(pay('1001'), policy))).toEqual(['block', 'constraint'])
    const beside = { ...pay('1'), value: '6' }
    expect(short(judge(beside, policy))).toEqual(['block', 'constraint'])
    const spelled = bound({
      max_spend: { [`${chain}/erc20:${token.toUpperCase().replace('X', 'x')}`]: '9' }
    })
    expect(short(judge(pay('10'), spelled))).toEqual(['block', 'constraint'])
    expect(judge(pay('7'), policy).measured).toEqual({
      effects: [{ kind: 'transfer', asset: erc20(token), amount: '7', to: friend }],
      undecoded: []
    })
  })

  it('and counts what an action sends again while it polls', () => {
    const policy = bound({ max_spend: '10' })
    expect(short(judge(pay('4'), policy, {}, 2))).toEqual(['ok'])
    expect(short(judge(pay('4'), policy, {}, 3))).toEqual(['block', 'constraint'])
  })

  it('and takes an amount that no token reaches for an approval without limit', () => {
    const policy = bound({ allow_unlimited_approval: false })
    for (const bits of [256n, 255n, 160n, 128n, 96n]) {
      const amount = (2n ** bits - 1n).toString()
      expect([bits, ...short(judge(allow(amount), policy))]).toEqual([bits, 'block', 'constraint'])
    }
    expect(short(judge(allow((10n ** 30n).toString()), policy))).toEqual(['ok'])
    const all = call(token, 'setApprovalForAll(address a, bool b)', { a: friend, b: true })
    expect(short(judge(all, policy))).toEqual(['block', 'constraint'])
  })

  it('and asks about calls that it cannot decode, or refuses them under a bound', () => {
    const strange = call(unknown, 'read_price(address a)', { a: token })
    expect(short(judge(strange, defaultPolicy))).toEqual(['confirm', 'risk_level', 'undecoded'])
    expect(judge(strange, defaultPolicy).hits.at(-1)?.message).toContain('could not be decoded')
    expect(short(judge(strange, free))).toEqual(['ok'])
    for (const rule of [
      { max_spend: '1' },
      { max_spend: { [native]: 1 } },
      { allowed_recipients: [] }
    ]) {
      expect(short(judge(strange, bound(rule as JsonObject)))).toEqual(['block', 'undecoded'])
    }
    for (const type of ['bitcoin_psbt', 'plugin.send', 'solana_instruction']) {
      expect(judge({ type }, defaultPolicy).riskLevel).toBe(5)
    }
  })

  it('and is not deceived by a function that shares its selector with another', () => {
    // Found by search: its first four bytes are those of transfer(address,uint256).
    const other = call(token, 'many_msg_babbage(bytes1 a)', { a: '0x01' })
    expect(judge(other, defaultPolicy).measured).toEqual({
      effects: [],
      undecoded: [`many_msg_babbage(bytes1) of ${token}`]
    })
  })

  it('and knows who is paid, who may take, and to whom a swap pays out', () => {
    const list = (...addresses: readonly string[]) =>
      bound({ allowed_recipients: addresses.map((address) => ({ chain, address })) })
    const swap = call(
      router,
      'swapExactTokensForTokens(uint256 a, uint256 b, address[] c, address d, uint256 e)',
      { a: '5', b: '1', c: [token, unknown], d: stranger, e: '9' }
    )
    const refused = ['block', 'recipient_not_listed']
    expect(short(judge(pay('1'), list(friend.toUpperCase().replace('X', 'x'))))).toEqual(['ok'])
    expect(short(judge(pay('1', stranger), list(friend)))).toEqual(refused)
    expect(short(judge(allow('1'), list(stranger)))).toEqual(refused)
    expect(short(judge(swap, list(router)))).toEqual(refused)
    expect(short(judge(swap, list(router, stranger)))).toEqual(['ok'])
  })

  it('and a swap that takes any price breaks every bound of slippage', () => {
    const swap = (minimum: string) =>
      call(router, `exactInputSingle((${single}) p)`, {
        p: { a: token, b: unknown, c: 500, d: friend, e: '9', f: '100', g: minimum, h: '0' }
      })
    const policy = bound({ max_slippage_bps: 50 })
    const says = { params: { slippage_bps: 50 } }
    expect(short(judge(swap('99'), policy, says))).toEqual(['ok'])
    expect(short(judge(swap('0'), policy, says))).toEqual(['block', 'constraint'])
    expect(short(judge(swap('99'), policy))).toEqual(['block', 'preview_missing'])
    // Neither has a price that could slip.
    expect(short(judge(allow('5'), policy))).toEqual(['ok'])
    expect(short(judge(pay('5'), policy))).toEqual(['ok'])
  })

  it('and hears of tokens that only the call names', () => {
    const meta = { name: 'p', version: '1.0.0' }
    const token_policy = { resolution: 'allowlist', allowlist: [{ chain, address: unknown }] }
    const pack = packOf({ schema: 'ais-pack/0.0.2', meta, includes: [], token_policy } as Json)
    expect(short(judge(pay('1'), tightened(free, pack)))).toEqual(['block', 'token_not_listed'])
  })

  it('and gives the most that its transaction may cost, by number and by what it sends', () => {
    const fee = (rule: JsonObject, value = '0') => judge({ ...pay('1'), value }, bound(rule)).maxFee
    expect(fee({ max_fee: '7' })).toBe('7')
    expect(fee({ max_fee: { [native]: '7', '*': '1' } })).toBe('7')
    expect(fee({ max_fee: { [erc20(token)]: '7' } })).toBeUndefined()
    expect(fee({ max_fee_bps: 100 })).toBeUndefined()
    expect(fee({ max_fee_bps: 100 }, '500')).toBe('5')
    expect(fee({ max_fee_bps: 100, max_fee: '9' }, '500')).toBe('5')
    expect(fee({ max_fee_bps: 100, max_fee: '4' }, '500')).toBe('4')
    const other = judge({ type: 'plugin.send' }, bound({ max_fee: '9' }))
    expect(short(other)).toEqual(['block', 'constraint'])
  })

  it('and what an action says of itself only makes it tighter', () => {
    const policy = bound({ max_spend: '10', allow_unlimited_approval: false })
    expect(short(judge(pay('1'), policy, { calculated: { spend: '11' } }))).toEqual([
      'block',
      'constraint'
    ])
    const says = { tags: ['approval'], params: { amount: 'max' } }
    expect(short(judge(allow('1'), policy, says))).toEqual(['block', 'constraint'])
    expect(judge(pay('1'), policy, { level: 4 }).riskLevel).toBe(4)
  })
})

/** What really happens, from which both the calls and what is expected of them are made. */
type Deed =
  | { readonly kind: 'transfer' | 'transferFrom'; readonly amount: bigint; readonly to: string }
  | { readonly kind: 'approve' | 'increaseAllowance'; readonly amount: bigint; readonly to: string }
  | { readonly kind: 'unknown' }

const signatures = {
  transfer: 'transfer(address a, uint256 b)',
  transferFrom: 'transferFrom(address f, address a, uint256 b)',
  approve: 'approve(address a, uint256 b)',
  increaseAllowance: 'increaseAllowance(address a, uint256 b)',
  unknown: 'price()'
}

function argsOf(deed: Deed): JsonObject {
  if (deed.kind === 'unknown') return {}
  const own = { a: deed.to, b: deed.amount.toString() }
  return deed.kind === 'transferFrom' ? { f: stranger, ...own } : own
}

function bytesOf(deed: Deed): `0x${string}` {
  const { abi } = parts(signatures[deed.kind], {})
  const { a, b, f } = argsOf(deed)
  const args = deed.kind === 'unknown' ? [] : f === undefined ? [a, b] : [f, a, b]
  return encodeFunctionData({
    abi: [abi] as never,
    functionName: deed.kind === 'unknown' ? 'price' : deed.kind,
    args
  } as never)
}

const wrappers = {
  multicall: (deeds: readonly Deed[]) =>
    call(token, 'multicall(bytes[] d)', { d: deeds.map(bytesOf) }),
  until: (deeds: readonly Deed[]) =>
    call(token, 'multicall(uint256 t, bytes[] d)', { t: '1', d: deeds.map(bytesOf) }),
  twice: (deeds: readonly Deed[]) =>
    call(token, 'multicall(bytes[] d)', {
      d: [
        encodeFunctionData({
          abi: parseAbi(['function multicall(bytes[])']),
          args: [deeds.map(bytesOf)]
        })
      ]
    }),
  evm_multicall: (deeds: readonly Deed[]) => ({
    type: 'evm_multicall',
    to: token,
    calls: deeds.map((deed) => parts(signatures[deed.kind], argsOf(deed)))
  }),
  aggregate: (deeds: readonly Deed[]) =>
    call(token, 'aggregate3((address t, bool f, bytes d)[] c)', {
      c: deeds.map((deed) => ({ t: token, f: true, d: bytesOf(deed) }))
    })
}

const amount = fc.oneof(
  fc.bigInt({ min: 0n, max: 200n }),
  fc.constantFrom(2n ** 256n - 1n, 2n ** 96n - 1n, 2n ** 200n)
)
const deed = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('transfer', 'transferFrom', 'approve', 'increaseAllowance'),
      amount,
      to: fc.constantFrom(friend, stranger)
    })
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'unknown' as const }) }
) as fc.Arbitrary<Deed>
const rules = fc.record(
  {
    max_spend: fc.oneof(
      fc.nat(300),
      fc.record({ [erc20(token)]: fc.nat(300), [native]: fc.nat(3) }, { requiredKeys: [] })
    ),
    max_approval: fc.nat(300),
    allow_unlimited_approval: fc.constant(false),
    allowed_recipients: fc
      .subarray([friend, stranger, token])
      .map((all) => all.map((address) => ({ chain, address })))
  },
  { requiredKeys: [] }
)
const lies = fc.record({
  name: fc.constantFrom('read_price', 'approve', 'noop'),
  tags: fc.subarray(['approval', 'safe']),
  params: fc.record(
    { qty: fc.constant('0'), amount: fc.constant('0'), slippage_bps: fc.constant(0) },
    { requiredKeys: [] }
  ),
  calculated: fc.record(
    { spend: fc.constant('0'), approval: fc.constant('0') },
    { requiredKeys: [] }
  )
})

/** The verdict by what really happens; it knows nothing of calls. */
function expected(deeds: readonly Deed[], value: bigint, rule: JsonObject, policy: Policy) {
  let [spent, approved, level] = [0n, 0n, value > 0n ? 3 : 1]
  let [isUnlimited, isUnknown] = [false, false]
  const reached = new Set(value > 0n ? [token] : [])
  for (const one of deeds) {
    if (one.kind === 'unknown') {
      isUnknown = true
      level = 5
      continue
    }
    reached.add(one.to)
    if (one.kind.startsWith('transfer')) {
      spent += one.amount
      if (one.amount > 0n) level = Math.max(level, 3)
    } else {
      approved += one.amount
      const isAll = one.amount > 2n ** 96n - 2n
      isUnlimited ||= isAll
      level = Math.max(level, isAll ? 4 : 2)
    }
  }
  const { max_spend: spend, max_approval: approval, allowed_recipients: allowed } = rule
  const most = (asset: string) => (typeof spend === 'object' ? (spend as JsonObject)[asset] : spend)
  const beyond = (much: bigint, limit: unknown) =>
    limit !== undefined && much > BigInt(String(limit))
  const isRefused =
    beyond(spent, most(erc20(token))) ||
    beyond(value, most(native)) ||
    beyond(approved, approval) ||
    (isUnlimited && rule['allow_unlimited_approval'] === false) ||
    (isUnknown && (spend !== undefined || allowed !== undefined)) ||
    (Array.isArray(allowed) &&
      [...reached].some((one) => !allowed.some((each) => (each as JsonObject)['address'] === one)))
  if (isRefused) return 'block'
  return level <= policy.autoExecuteMaxRisk && level < policy.requireApprovalMinRisk
    ? 'ok'
    : 'confirm'
}

describe('W15: a protocol that lies', () => {
  it('is judged as an honest one is, by what its calls do', () => {
    const wrapper = fc.constantFrom(...(Object.keys(wrappers) as (keyof typeof wrappers)[]))
    const native = fc.bigInt({ min: 0n, max: 5n })
    const given = [
      fc.array(deed, { minLength: 1, maxLength: 4 }),
      native,
      wrapper,
      rules,
      lies
    ] as const
    fc.assert(
      fc.property(
        ...given,
        fc.integer({ min: 0, max: 5 }),
        (deeds, value, how, rule, says, auto) => {
          const base = { ...defaultPolicy, autoExecuteMaxRisk: auto, requireApprovalMinRisk: 6 }
          const policy = bound(rule as JsonObject, base)
          const honest = { ...wrappers.evm_multicall(deeds), value: value.toString() }
          const lying = { ...wrappers[how](deeds), value: value.toString() }
          const wanted = expected(deeds, value, rule as JsonObject, policy)
          expect(judge(honest, policy).kind).toBe(wanted)
          expect(judge(lying, policy, says).kind).toBe(wanted)
          const [first] = deeds
          if (deeds.length > 1 || first === undefined) return
          const plain = call(token, signatures[first.kind], argsOf(first), value.toString())
          expect(judge(plain, policy, says).kind).toBe(wanted)
        }
      ),
      { numRuns: 300 }
    )
  })
})
