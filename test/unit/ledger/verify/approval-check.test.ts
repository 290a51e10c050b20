import { describe, expect, it } from 'vitest'
import {
  canonicalize,
  digestOf,
  type IdentityId,
  type Json,
  sha256Hex
} from '../../../../src/core/index.js'
import { ApprovalCheck } from '../../../../src/ledger/verify/approval-check.js'
import { type ApproverName, signed, twoOfThree } from '../../../support/approvers.js'

/** K13: what approvers have signed, checked from journals alone. */

const identity = 'a'.repeat(64) as IdentityId
const runId = 'run-1'
const requestHash = sha256Hex('request')
const blockHash = sha256Hex('block')
const place = { path: 'root/pay', step: 1, attempt: 1 }
const asked = { threshold: 2, keys: [...twoOfThree.keys].sort() } as never
const digest = digestOf({
  request: { to: 'alice' },
  path: place.path,
  step: 1,
  blockHash,
  approvers: asked,
  identity,
  runId
} as never) as string

type Said = { readonly action?: string; readonly value?: Json }

/** An approval as a journal keeps it. */
function approval(by: ApproverName, said: Said & { readonly token?: string } = {}) {
  const { action = 'approve', value = null, token = 'one' } = said
  return {
    action,
    digest,
    token,
    value,
    ...signed({ digest, token } as never, by, { action, value })
  }
}

const wait = (more: object = {}) => ({
  ...{
    k: 'wait',
    ...place,
    seq: 1,
    token: 'one',
    reason: 'confirmation',
    request: { to: 'alice' }
  },
  ...{ requestHash, digest, actions: ['approve', 'deny'], due: null, blockHash, approvers: asked },
  ...more
})
const given = (by: ApproverName, more: object = {}, said: object = {}) => ({
  ...{ k: 'approval', ...place, seq: 1, token: 'one', by: null, approval: approval(by, said) },
  ...more
})
const people = (...approvals: readonly object[]) => ({ kind: 'owner', approvals })
const sealed = (body: object, more: object = {}) => ({
  ...{ k: 'sealed', ...place, seq: 1, effect: 'wait', requestHash, body },
  ...more
})
const answer = (by: unknown, more: object = {}) =>
  sealed({ action: 'approve', value: null, by, digest, ...more })
const both = [approval('ada'), approval('ben')]
const settled = (response: object, more: object = {}) => ({
  ...{ k: 'settled', ...place, response },
  ...more
})
const denied = (by: unknown) => settled({ success: false, reason: 'denied', details: { by } })

/** What the check says of the last of some entries; the others are right. */
function found(...entries: readonly { readonly k: string }[]): unknown {
  const check = new ApprovalCheck(identity)
  const problems = entries.map((entry) => check.add(runId, entry.k, canonicalize(entry)))
  const last = problems.pop()
  expect(problems).toEqual(problems.map(() => undefined))
  return last && `${last.field.replace('journal.', '')}: ${last.signed}`
}

describe('an answer that needs approvers', () => {
  it('K13: is right with enough of them, in their order, or one denial, or its due time', () => {
    expect(found(wait(), given('ada'), answer(people(...both)))).toBeUndefined()
    expect(found(wait(), given('cay'), given('ada', {}, { value: 1 }))).toBeUndefined()
    const denial = approval('ben', { action: 'deny' })
    expect(found(wait(), answer(people(denial), { action: 'deny' }))).toBeUndefined()
    expect(found(wait(), sealed({ action: 'timeout', value: null, by: null }))).toBeUndefined()
    expect(found(wait({ seq: 0 }), denied(people(denial)))).toBeUndefined()
    expect(found(wait({ seq: 0 }), settled({ success: false, reason: 'boom' }))).toBeUndefined()
  })

  it.each<[string, readonly { readonly k: string }[], string]>([
    ['no signature', [wait(), answer({ kind: 'owner' })], 'by.approvals: no approvals'],
    ['too few', [wait(), answer(people(approval('ada')))], 'by.approvals: 1 of 2 approvals'],
    [
      'one that was not recorded before',
      [wait(), answer(people(...both))],
      'by.approvals: 2 of 2 approvals'
    ],
    [
      'a stranger',
      [wait(), given('ada'), answer(people(both[0] as object, approval('eve')))],
      'by.approvals: not_an_approver'
    ],
    [
      'another answer',
      [wait(), given('ada'), answer(people(both[0] as object, approval('ben', { value: 1 })))],
      'by.approvals: a signature for approve'
    ],
    [
      'another digest',
      [wait(), given('ada'), answer(people(...both), { digest: requestHash })],
      `body.digest: ${requestHash}`
    ],
    ['another form', [wait(), answer(people())], 'by.approvals: approvals of another form'],
    [
      'a success without an answer',
      [wait({ seq: 0 }), settled({ success: true })],
      'response: a success without an answer'
    ],
    [
      'a denial that no approver has signed',
      [wait({ seq: 0 }), denied({ kind: 'owner' })],
      'by.approvals: no approvals'
    ],
    [
      'a denial that says approve',
      [wait({ seq: 0 }), denied(people(approval('ada')))],
      'by.approvals: a signature for approve'
    ],
    [
      'a denial without details',
      [wait({ seq: 0 }), settled({ success: false, reason: 'denied' })],
      'by.approvals: no approvals'
    ]
  ])('K13: is forged with %s', (_, entries, problem) => {
    expect(found(...entries)).toBe(problem)
  })
})

describe('an approval that is recorded', () => {
  it.each<[string, readonly { readonly k: string }[], string]>([
    ['no wait', [given('ada')], 'token: no open wait with approvers'],
    [
      'another token',
      [wait(), given('ada', { token: 'two' })],
      'token: no open wait with approvers'
    ],
    ['another number', [wait(), given('ada', { seq: 2 })], 'token: no open wait with approvers'],
    ['another path', [wait(), given('ada', { path: 'x' })], 'token: no open wait with approvers'],
    ['another step', [wait(), given('ada', { step: 2 })], 'token: no open wait with approvers'],
    [
      'another attempt',
      [wait(), given('ada', { attempt: 2 })],
      'token: no open wait with approvers'
    ],
    [
      'another wait',
      [wait(), given('ada', {}, { token: 'two' })],
      'approval: a signature for another wait'
    ],
    [
      'another form',
      [wait(), given('ada', { approval: {} })],
      'approval: an approval of another form'
    ],
    ['a stranger', [wait(), given('eve')], 'approval: not_an_approver'],
    ['the same key', [wait(), given('ada'), given('ada')], 'approval: already_approved'],
    [
      'enough of them',
      [wait(), given('ada'), given('ben')],
      'approval: an approval that reaches the threshold of a wait that stays open'
    ],
    [
      'a signature of something else',
      [wait(), given('ada', { approval: { ...approval('ada'), value: 2 } })],
      'approval: signature_invalid'
    ]
  ])('K13: is forged with %s', (_, entries, problem) => {
    expect(found(...entries)).toBe(problem)
  })

  it('K13: is of a wait that is open, and was not answered, begun anew or ended', () => {
    const none = 'token: no open wait with approvers'
    const timeout = sealed({ action: 'timeout', value: null, by: null })
    expect(found(wait(), timeout, given('ada'))).toBe(none)
    const { approvers: _, ...bare } = wait()
    expect(found(wait(), bare as never, given('ada'))).toBe(none)
    expect(found(wait(), settled({ success: false }), given('ada'))).toBe(none)
    expect(found(wait(), settled({ success: false }, { attempt: 2 }), given('ada'))).toBeUndefined()
    expect(found(wait(), { k: 'run.finished' }, given('ada'))).toBe(none)
    expect(found(wait(), { k: 'timer', note: '"approv' } as never, given('ada'))).toBeUndefined()
    // Begun anew, it has none of the signatures of before.
    expect(found(wait(), given('ada'), wait(), given('ada'))).toBeUndefined()
  })

  it('K13: is of the waits of its own run', () => {
    const check = new ApprovalCheck(identity)
    const add = (run: string, entry: { readonly k: string }) =>
      check.add(run, entry.k, canonicalize(entry))
    expect(add(runId, wait())).toBeUndefined()
    expect(add('run-2', given('ada'))).toMatchObject({ field: 'journal.token' })
    expect(add('run-2', { k: 'run.finished' })).toBeUndefined()
    expect(add(runId, given('ada'))).toBeUndefined()
  })
})

describe('a wait that needs approvers', () => {
  it('K13: names them rightly, and its digest covers all that is asked', () => {
    const none = wait({ approvers: { threshold: 0, keys: twoOfThree.keys } })
    expect(found(none)).toBe('approvers: the threshold is between 1 and the number of keys, 3')
    for (const more of [
      { request: {} },
      { path: 'x' },
      { step: 2 },
      { asking: 2 },
      { blockHash: requestHash },
      { blockHash: undefined },
      { approvers: { threshold: 1, keys: twoOfThree.keys } },
      { digest: requestHash }
    ]) {
      const entry = JSON.parse(JSON.stringify(wait(more)))
      expect(found(entry)).toBe(`digest: ${String(entry.digest)}`)
    }
    const others = { threshold: 2, keys: twoOfThree.keys }
    expect(found(wait({ approvers: others }))).toBeUndefined()
  })

  it('K13: has a digest of the ledger and run that it is in', () => {
    const text = canonicalize(wait())
    const other = new ApprovalCheck('b'.repeat(64) as IdentityId)
    expect(other.add(runId, 'wait', text)).toMatchObject({
      field: 'journal.digest',
      signed: digest
    })
    const check = new ApprovalCheck(identity)
    expect(check.add('run-2', 'wait', text)).toMatchObject({ field: 'journal.digest' })
  })
})

describe('a result that nothing asks approvers about', () => {
  const forged = { ...approval('ada'), value: 3 }
  const invalid = 'by.approvals: signature_invalid'

  it('K13: is no answer where it is that of an effect, or erased', () => {
    const more = { effect: 'pay' }
    expect(found(wait(), sealed({ action: 'approve', by: null }, more))).toBeUndefined()
    const { body: _, ...erased } = answer(null)
    expect(found(wait(), erased)).toBeUndefined()
  })

  it('K13: keeps valid signatures of an earlier question', () => {
    const other = { requestHash: sha256Hex('other') }
    const body = { action: 'approve', value: null, digest }
    expect(found(wait(), sealed({ ...body, by: people(...both) }, other))).toBeUndefined()
    expect(found(wait(), sealed({ ...body, by: people(forged) }, other))).toBe(invalid)
    expect(found(wait(), sealed({ ...body, by: null }, other))).toBeUndefined()
    expect(found(answer(people(...both)))).toBeUndefined()
    expect(found(answer(people(both[0] as object, forged)))).toBe(invalid)
    expect(found(answer({ approvals: 'x' }))).toBe(invalid)
  })
})

describe('a decision that an approver has signed', () => {
  const decision = (by: unknown, more: object = {}) => ({
    ...{ k: 'decision', path: 'root/pay', step: 1, token: 'one', action: 'patch', patch: 1, by },
    ...more
  })
  const patch = (name: ApproverName, value: Json = 1) => approval(name, { action: 'patch', value })
  const other = 'by.approvals: a signature for another answer'

  it('K13: is what was signed, by one', () => {
    expect(found(decision({ kind: 'owner' }))).toBeUndefined()
    expect(found(decision(people(patch('ada'))))).toBeUndefined()
    expect(found(decision(people(patch('ada')), { action: 'retry' }))).toBe(other)
    expect(found(decision(people(patch('ada')), { patch: 2 }))).toBe(other)
    expect(found(decision(people(patch('ada'), patch('ben'))))).toBe(other)
    const forged = { ...patch('ada'), value: 2 }
    expect(found(decision(people(forged)))).toBe('by.approvals: signature_invalid')
  })

  const answered = (by: unknown, action = 'resume') => ({
    ...{ k: 'answered', ...place, seq: 1, token: 'one', action, by }
  })
  const resume = people(approval('ada', { action: 'resume', value: { id: 7 } }))
  const result = (body: Json, more: object = {}) =>
    sealed(body as never, { effect: 'pay', ...more })

  it('K13: of an unknown outcome gives the result that is sealed next', () => {
    expect(found(answered(resume), result({ id: 7 }))).toBeUndefined()
    expect(found(answered(resume), result({ id: 8 }))).toBe('body: {"id":8}')
    const { body: _, ...erased } = result(null)
    expect(found(answered(resume), erased)).toBe('body: null')
    expect(found(answered(resume), result({ id: 7 }), result({ id: 8 }))).toBeUndefined()
    expect(found(answered(resume), { k: 'timer' }, result({ id: 8 }))).toBeUndefined()
    const retry = people(approval('ada', { action: 'retry' }))
    expect(found(answered(retry, 'retry'), result({ id: 8 }))).toBeUndefined()
    expect(found(answered({ kind: 'owner' }), result({ id: 8 }))).toBeUndefined()
    expect(found(answered(resume, 'abort'))).toBe(other)
  })

  it('K13: has keys that are in no list', () => {
    const by = people(approval('eve', { action: 'patch', value: 1 }))
    expect(found(decision(by))).toBeUndefined()
  })
})
