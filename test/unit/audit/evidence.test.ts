import { describe, expect, it } from 'vitest'
import { evidenceFinding } from '../../../src/audit/failures.js'
import { canonicalize, type Json, sha256Hex } from '../../../src/core/index.js'

/** L14: evidence is compared with the entry beside which it stands, member by member. */

const hash = sha256Hex('hash')
const reference = { seq: 1, effect: 'look', requestHash: hash, responseHash: hash, bytes: 4 }

describe('the evidence of an entry', () => {
  const again = {
    unitId: 'unit',
    type: 'failure',
    action: 'pay',
    payloadText: '{"a":1}',
    journalHash: hash,
    code: 'boom',
    details: { why: 1, in_doubt: [{ key: 'a' }, { key: 'b' }] },
    landed: [reference, { ...reference, seq: 2 }]
  }
  const evidence = {
    type: 'failure',
    inputPayload: { id: 'unit', action: 'pay', payload: { a: 1 } as Json },
    journalHash: hash,
    code: 'boom',
    details: { why: 1, in_doubt: [{ key: 'b' }, { key: 'a' }] } as Json,
    landed: [{ ...reference, seq: 2 }, reference]
  }
  const found = (told: object | undefined, of: object | undefined = again) => {
    const replay = { evidenceOf: () => of } as never
    const text = told === undefined ? undefined : canonicalize(told)
    return evidenceFinding(replay, {} as never, text)?.field
  }
  const named = (more: object) => ({
    ...evidence,
    inputPayload: { ...evidence.inputPayload, ...more }
  })

  it('L14: says what the entry says, in any order of what was cancelled together', () => {
    expect(found(evidence)).toBeUndefined()
    const replay = { evidenceOf: () => undefined } as never
    expect(evidenceFinding(replay, {} as never, undefined)).toBeUndefined()
    expect(found(named({ payload: { $blob: hash, bytes: 7 } }))).toBeUndefined()
    expect(found({ ...evidence, details: null }, { ...again, details: null })).toBeUndefined()
  })

  it.each<[string, object]>([
    ['evidence.inputPayload.id', named({ id: 'other' })],
    ['evidence.type', { ...evidence, type: 'denial' }],
    ['evidence.inputPayload.action', named({ action: 'other' })],
    ['evidence.payload', named({ payload: { a: 2 } })],
    ['evidence.payload', named({ payload: [1] })],
    ['evidence.journalHash', { ...evidence, journalHash: sha256Hex('x') }],
    ['evidence.code', { ...evidence, code: 'other' }],
    [
      'evidence.details',
      { ...evidence, details: { why: 2, in_doubt: [{ key: 'a' }, { key: 'b' }] } }
    ],
    ['evidence.details.in_doubt', { ...evidence, details: { why: 1, in_doubt: [{ key: 'a' }] } }],
    ['evidence.details.in_doubt', { ...evidence, details: { why: 1 } }],
    ['evidence.landed', { ...evidence, landed: [reference] }]
  ])('L14: is another in %s', (field, told) => {
    expect(found(told)).toMatch(new RegExp(`^${field.replaceAll('.', '\\.')}`))
  })

  it('L14: is missing', () => {
    expect(found(undefined)).toMatch(/^evidence\.inputPayload\.id/)
  })
})
