import { describe, expect, it } from 'vitest'
import type { WaitBegun } from '../../../../src/block/run/entries.js'
import {
  beginWait,
  confirmationOf,
  OpenWaits,
  openWaitOf,
  shownWait
} from '../../../../src/block/run/waits.js'
import { defineBlock } from '../../../../src/code/block.js'
import { requestHashOf } from '../../../../src/code/calls.js'
import { digestOf, hashJson, sha256Hex } from '../../../../src/core/index.js'
import { testRequest } from '../../../support/fake-pump.js'
import { identity, place, runId } from '../../../support/run-of-test.js'

/** W7, K13: the waits of a run, as they are opened, counted, shown and forgotten. */

const hash = sha256Hex('hash')
const { path } = place
const approvers = { threshold: 1, keys: ['a'.repeat(64)] } as never

function wait(token: string, more: Partial<WaitBegun> = {}): WaitBegun {
  const asked = { reason: 'external', request: { a: 1 }, requestHash: hash, actions: ['resume'] }
  const base = { k: 'wait', run: runId, n: 1, at: 2, ...place, seq: 1, token } as const
  return { ...base, ...asked, digest: hash, due: null, ...more }
}

describe('the open waits of a run', () => {
  it('W7: are found by their tokens until they are removed', () => {
    const waits = new OpenWaits()
    expect([waits.isEmpty, waits.all(), waits.get('one')]).toEqual([true, [], undefined])
    waits.remove('one')
    expect(waits.removeAt(path)).toEqual([])
    const [one, two] = [wait('one'), wait('two', { seq: 2 })]
    waits.add(one)
    waits.add(two)
    expect([waits.isEmpty, waits.all(), waits.get('one')]).toEqual([false, [one, two], one])
    waits.remove('one')
    expect([waits.all(), waits.get('one')]).toEqual([[two], undefined])
    waits.remove('two')
    expect(waits.isEmpty).toBe(true)
  })

  it('W7: are forgotten with their path and all below it, and those beside it are not', () => {
    const waits = new OpenWaits()
    const at = (token: string, path: string) => wait(token, { path })
    const [own, below, beside] = [at('1', 'root/a'), at('2', 'root/a/b'), at('3', 'root/ab')]
    for (const one of [own, below, beside]) waits.add(one)
    waits.approved('1', { key: 'k' } as never)
    expect(waits.removeAt('root/a')).toEqual([own, below])
    expect([waits.all(), waits.approvalsOf('1')]).toEqual([[beside], []])
    expect([own, below, beside].map((one) => waits.nextAsking(one))).toEqual([1, 1, 2])
  })

  it('W7: count how often a question was asked, by what names it', () => {
    const waits = new OpenWaits()
    const one = wait('one')
    expect(waits.nextAsking(one)).toBe(1)
    waits.add(one)
    waits.add(wait('two'))
    expect(waits.nextAsking(one)).toBe(3)
    for (const other of [
      { path: 'root/b' },
      { step: 2 },
      { attempt: 2 },
      { seq: 2 },
      { requestHash: sha256Hex('other') }
    ]) {
      expect(waits.nextAsking({ ...one, ...other })).toBe(1)
    }
    // A number of the entry that is higher counts; what no message ends is asked of no person.
    waits.add(wait('three', { asking: 7 }))
    expect(waits.nextAsking(one)).toBe(8)
    waits.add(wait('four', { asking: 2 }))
    expect(waits.nextAsking(one)).toBe(9)
    waits.add(wait('five', { actions: [] }))
    expect(waits.nextAsking(one)).toBe(9)
    waits.add(wait('six', { path: 'root/b' }))
    const again = new OpenWaits()
    expect(again.askings()).toEqual([])
    again.restoreAskings(JSON.parse(JSON.stringify(waits.askings())))
    expect(again.askings()).toEqual(waits.askings())
    expect([again.nextAsking(one), again.nextAsking({ ...one, path: 'root/b' })]).toEqual([9, 2])
  })

  it('B2: say whether one is due by then, the last of many before the others', () => {
    const waits = new OpenWaits()
    expect(waits.isSoonDue(100)).toBe(false)
    waits.add(wait('never'))
    expect(waits.isSoonDue(Number.MAX_SAFE_INTEGER)).toBe(false)
    for (const [token, due] of [
      ['a', 30],
      ['b', 50],
      ['c', 40]
    ] as const) {
      waits.add(wait(token, { due }))
    }
    expect([29, 30, 50].map((byMs) => waits.isSoonDue(byMs))).toEqual([false, true, true])
    waits.remove('b')
    expect([40, 39, 29].map((byMs) => waits.isSoonDue(byMs))).toEqual([true, true, false])
    waits.remove('c')
    waits.remove('a')
    expect(waits.isSoonDue(100)).toBe(false)
  })

  it('W7: refuse what does not fit them, and say why', () => {
    const waits = new OpenWaits()
    const answer = (more: object = {}) =>
      waits.refusal({ token: 'one', digest: hash, action: 'resume', by: null, ...more } as never)
    const refused = (reason: string) => ({ accepted: false, reason })
    expect(answer()).toEqual(refused('unknown_token'))
    waits.add(wait('one'))
    expect(answer()).toBeUndefined()
    expect(answer({ token: 'two' })).toEqual(refused('unknown_token'))
    expect(answer({ digest: 'x' })).toEqual(refused('digest_mismatch'))
    expect(answer({ action: 'deny' })).toEqual(refused('action_not_allowed'))
    waits.add(wait('two', { approvers }))
    expect(answer({ token: 'two' })).toEqual(refused('signature_missing'))
  })

  it('K13: keep what approvers have signed, each key once, until the wait is over', () => {
    const waits = new OpenWaits()
    const signed = (key: string, value: number) => ({ key, value, action: 'approve' }) as never
    expect(waits.approvalsOf('one')).toEqual([])
    waits.approved('one', signed('a', 1))
    waits.approved('one', signed('b', 2))
    waits.approved('one', signed('a', 3))
    expect(
      waits
        .approvalsOf('one')
        .map(({ key }) => key)
        .sort()
    ).toEqual(['a', 'b'])
    waits.remove('one')
    expect(waits.approvalsOf('one')).toEqual([])
  })
})

describe('the entry of a wait', () => {
  const terms = {
    place,
    seq: 1,
    reason: 'external',
    request: { a: 1 },
    requestHash: hash,
    actions: ['resume'],
    due: 9,
    blockHash: hash
  } as const
  const digested = { request: { a: 1 }, blockHash: hash, identity, path, runId, step: 1 }
  const named = ['wait', runId, path, 1, 1, 1, hash]

  it('W7: has a token of its place, and a digest of what is asked', () => {
    const { place: _, ...rest } = terms
    expect(beginWait(terms, { runId, identity, at: 5 })).toEqual({
      ...{ k: 'wait', at: 5, ...place, ...rest },
      token: hashJson(named).slice(0, 32),
      digest: digestOf(digested)
    })
  })

  it('W7: has the number of its asking in both, and its approvers in the digest', () => {
    const entry = beginWait({ ...terms, approvers }, { runId, identity, at: 5, asking: 2 })
    expect(entry).toMatchObject({
      asking: 2,
      approvers,
      token: hashJson([...named, { asking: 2 }]).slice(0, 32),
      digest: digestOf({ ...digested, asking: 2, approvers })
    })
  })
})

describe('a wait that is shown', () => {
  const shown = { path, step: 1, token: 'one', digest: hash, reason: 'external' }
  const open = { ...shown, request: { a: 1 }, actions: ['resume'], due: null }
  const bound = { blockHash: hash, chain: null, identity, policyHash: null, runId, signer: null }

  it('W7: has all that its digest covers', () => {
    expect(openWaitOf(wait('one'), identity, [])).toEqual(open)
    expect(openWaitOf(wait('one', { asking: 2 }), identity, [])).toEqual({ ...open, asking: 2 })
    const whole = wait('one', { asking: 2, blockHash: hash })
    expect(openWaitOf(whole, identity, [])).toEqual({ ...open, asking: 2, ...bound })
  })

  it('K13: has its approvers, and what they have signed', () => {
    const approval = { key: 'a' } as never
    const signed = wait('one', { blockHash: hash, approvers })
    expect(openWaitOf(signed, identity, [])).toEqual({ ...open, ...bound, approvers })
    const approvals = [approval]
    expect(openWaitOf(signed, identity, approvals)).toEqual({
      ...{ ...open, ...bound, approvers, approvals }
    })
    expect(openWaitOf(wait('one', { blockHash: hash }), identity, approvals)).toEqual({
      ...{ ...open, ...bound }
    })
  })

  it('B3: has a due time for its chart, where it has one', () => {
    const { path: _, step: __, due: ___, ...rest } = open
    expect(shownWait(wait('one'))).toEqual(rest)
    expect(shownWait(wait('one', { due: 4 }))).toEqual({ ...rest, due: 4 })
  })
})

describe('the confirmation of a node', () => {
  const block = defineBlock({ name: 'pay', version: '1', run: () => null })
  const asked = { path, block: 'pay', request: testRequest({ n: 1 }), options: {} } as never
  const confirming = (confirm: object, at: string = path) =>
    ({ ...(asked as object), path: at, options: { confirm } }) as never
  const obliged = (confirm: object) => ({ ...block, obligations: { own: { confirm }, run: {} } })
  const request = { reason: 'confirmation', message: null, block: 'pay', payload: { n: 1 } }
  const others = { threshold: 1, keys: ['b'.repeat(64)] } as never

  it('K14: is none where neither node nor block asks for one', () => {
    expect(confirmationOf(asked, block)).toBeUndefined()
    expect(confirmationOf(asked, { ...block, obligations: { own: {}, run: {} } })).toBeUndefined()
    const bound = { ...block, obligations: { own: undefined, run: {} } }
    expect(confirmationOf(asked, bound)).toBeUndefined()
  })

  it('K14: says what is to be done, in the words of the block before those of the node', () => {
    const hashOf = (of: object) => requestHashOf('wait', of as never)
    const plain = { request, requestHash: hashOf(request), approvers: undefined }
    expect(confirmationOf(confirming({}), block)).toEqual(plain)
    const words = { ...request, message: 'Pay?' }
    const said = { ...plain, request: words, requestHash: hashOf(words) }
    expect(confirmationOf(confirming({ message: 'Pay?' }), block)).toEqual(said)
    expect(confirmationOf(asked, obliged({ message: 'Pay?' }))).toEqual(said)
    expect(confirmationOf(confirming({ message: 'No' }), obliged({ message: 'Pay?' }))).toEqual(
      said
    )
    expect(confirmationOf(confirming({ message: 'Pay?' }), obliged({}))).toEqual(said)
  })

  it('K13: has the approvers of either', () => {
    const requestHash = requestHashOf('wait', request, approvers)
    const signed = { request, requestHash, approvers }
    expect(confirmationOf(confirming({ approvers }), block)).toEqual(signed)
    expect(confirmationOf(asked, obliged({ approvers }))).toEqual(signed)
    const both = confirmationOf(confirming({ approvers: others }), obliged({ approvers }))
    expect(both?.approvers).toEqual(approvers)
  })

  it('C4: of what is released after a commit was asked for when it was put off', () => {
    const release = `${path}~release`
    const { path: _, ...rest } = asked as { readonly path: string }
    const task = { ...rest, path: release } as never
    expect(confirmationOf(task, obliged({ message: 'Pay?' }))).toBeUndefined()
  })
})
