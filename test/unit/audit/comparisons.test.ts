import { describe, expect, it } from 'vitest'
import { compareUnit } from '../../../src/audit/compare.js'
import { Compensations } from '../../../src/audit/compensations.js'
import { differenceOfItem, differenceOfReceipt } from '../../../src/audit/difference.js'
import { NotChecked, notRegistered, otherCode } from '../../../src/audit/not-checked.js'
import { currentProfile, isOfTrustedCode, isOurs } from '../../../src/audit/profile.js'
import { isRotation, rotationFinding } from '../../../src/audit/rotation.js'
import { SkippedRun } from '../../../src/audit/skipped-run.js'
import { ABI_VERSIONS, sandboxProfile } from '../../../src/capability/index.js'
import { canonicalize, chainJournal, type Json, sha256Hex } from '../../../src/core/index.js'
import { keyRotation } from '../../../src/intent/index.js'

/** K10, L14: what is done again is compared member by member with what was signed. */

const hash = sha256Hex('hash')
const profile = currentProfile()
const provider = { kind: 'declared', id: 'pay@1', codeHash: hash, profile }
const reference = { seq: 1, effect: 'look', requestHash: hash, responseHash: hash, bytes: 4 }
const run = { runId: 'run-1', path: 'root', step: 1, attempt: 1, at: 1_999 }

const draft = {
  id: 'unit',
  action: 'pay',
  dappId: 'block:pay@1',
  payloadText: '{"a":1}',
  raw: undefined as string | undefined,
  at: 1_999,
  seed: { base: 'GENESIS', value: hash },
  principal: { kind: 'owner' },
  run,
  provider,
  capabilitiesDeclared: ['look'],
  capabilitiesUsed: ['look'],
  sealed: [reference],
  resultText: '{"n":1}',
  writes: new Map<string, string | null>([
    ['a', '1'],
    ['b', null]
  ])
}
const input = {
  id: 'unit',
  principal: { kind: 'owner' },
  provider,
  run,
  sealed: [reference],
  seed: { base: 'GENESIS', value: hash }
}
const receipt = {
  intent: 'pay',
  dappId: 'block:pay@1',
  timestamp: 1,
  capabilitiesDeclared: ['look'],
  capabilitiesUsed: ['look'],
  inputPayload: input
}
const before: Readonly<Record<string, string>> = { b: '2', c: '3' }
const verified = {
  receipt,
  payloadText: '{"a":1}' as string | undefined,
  raw: undefined as string | undefined,
  resultText: '{"n":1}' as string | undefined,
  writeSetText: '[]',
  changes: [
    { key: 'a', text: '1' },
    { key: 'b', text: null }
  ] as readonly { readonly key: string; readonly text: string | null | undefined }[],
  stateBefore: { read: (key: string) => before[key], list: () => [] }
}

function compared(more: { draft?: object; verified?: object } = {}) {
  return compareUnit(
    { ...draft, ...more.draft } as never,
    { ...verified, ...more.verified } as never
  )
}
const inputOf = (more: object) => ({ receipt: { ...receipt, inputPayload: { ...input, ...more } } })
const receiptOf = (more: object) => ({ receipt: { ...receipt, ...more } })

describe('a unit that is done again', () => {
  it('K10: is the same, also where what it gave is withheld', () => {
    expect(compared()).toBeUndefined()
    expect(
      compared({ verified: { payloadText: undefined, resultText: undefined } })
    ).toBeUndefined()
    expect(compared({ draft: { raw: 'x' }, verified: { raw: 'x' } })).toBeUndefined()
    expect(compared({ draft: { at: 1_000 } })).toBeUndefined()
    const none = { draft: { writes: new Map() }, verified: { changes: [] } }
    expect(compared(none)).toBeUndefined()
  })

  it.each<[string, object]>([
    ['inputPayload.id', { verified: inputOf({ id: 'other' }) }],
    ['intent', { verified: receiptOf({ intent: 'other' }) }],
    ['dappId', { verified: receiptOf({ dappId: 'other' }) }],
    ['inputPayload.run', { verified: inputOf({ run: { ...run, step: 2 } }) }],
    ['inputPayload.payload', { verified: { payloadText: '{"a":2}' } }],
    ['inputPayload.raw', { verified: { raw: 'x' } }],
    ['inputPayload.principal', { verified: inputOf({ principal: null }) }],
    ['inputPayload.seed', { verified: inputOf({ seed: { base: hash, value: hash } }) }],
    ['inputPayload.provider', { verified: inputOf({ provider: { ...provider, id: 'pay@2' } }) }],
    ['inputPayload.sealed', { verified: inputOf({ sealed: [] }) }],
    ['timestamp', { verified: receiptOf({ timestamp: 2 }) }],
    ['capabilitiesDeclared', { verified: receiptOf({ capabilitiesDeclared: [] }) }],
    ['capabilitiesUsed', { verified: receiptOf({ capabilitiesUsed: [] }) }],
    ['resultHash', { verified: { resultText: '{"n":2}' } }],
    ['writeSet', { verified: { changes: [] } }]
  ])('K10: is another in %s', (field, more) => {
    expect(compared(more)?.field).toMatch(new RegExp(`^${field.replace('.', '\\.')}`))
  })

  it('K10: says the result that was signed, and the one that it gives', () => {
    const found = { field: 'resultHash', signed: '{"n":2}', computed: '{"n":1}' }
    expect(compared({ verified: { resultText: '{"n":2}' } })).toEqual(found)
  })

  it.each<[string, Json, readonly (readonly [string, string | null | undefined])[], unknown]>([
    [
      'a value',
      { a: '1', b: null },
      [
        ['a', '7'],
        ['b', null]
      ],
      ['a', '7', '1', 'absent']
    ],
    [
      'a key that it does not write',
      { a: '1' },
      [
        ['a', '1'],
        ['b', null]
      ],
      ['b', 'absent', '2', '2']
    ],
    [
      'a key that only it writes',
      { a: '1', b: null, c: '9' },
      [
        ['a', '1'],
        ['b', null]
      ],
      ['c', '3', '9', '3']
    ],
    [
      'a key that is not removed',
      { a: '1', b: null },
      [
        ['a', '1'],
        ['b', '5']
      ],
      ['b', '5', 'absent', '2']
    ],
    [
      'nothing, where it writes what was',
      { a: '1', b: null, c: '3' },
      [
        ['a', '1'],
        ['b', null]
      ],
      undefined
    ],
    [
      'nothing, where what was is recorded',
      { a: '1', b: null },
      [
        ['a', '1'],
        ['b', null],
        ['c', '3']
      ],
      undefined
    ],
    ['the first key of several', { x: '1', d: '1' }, [], ['d', 'absent', '1', 'absent']]
  ])('K10: changes otherwise %s', (_, writes, changes, expected) => {
    const found = compared({
      draft: { writes: new Map(Object.entries(writes as object)) },
      verified: { changes: changes.map(([key, text]) => ({ key, text })) }
    })
    const { key, signed, computed, before: was } = found ?? {}
    expect(found && [key, signed, computed, was]).toEqual(expected)
  })

  it('K10: has a value that is withheld, and named by its hash', () => {
    const changes = [{ key: 'a', text: undefined }]
    const named = (text: string) => `[{"after":{"$blob":"${sha256Hex(text)}","bytes":3}}]`
    const writes = new Map([['a', '1']])
    expect(
      compared({ draft: { writes }, verified: { changes, writeSetText: named('1') } })
    ).toBeUndefined()
    const other = compared({ draft: { writes }, verified: { changes, writeSetText: named('2') } })
    expect(other).toMatchObject({ key: 'a', signed: 'another value, withheld', computed: '1' })
    const gone = { draft: { writes: new Map([['a', null]]) }, verified: { changes } }
    expect(compared(gone)).toMatchObject({ signed: 'another value, withheld', computed: 'absent' })
  })
})

describe('a difference', () => {
  const verdict = (field: string) => ({ field, signed: 'x', computed: 'y' })
  const item = { runId: 'run-1' } as never
  const of = (kind: string) =>
    ({
      runId: 'run-1',
      receipt: { receiptHash: hash, inputPayload: { provider: { kind, id: 'p' } } }
    }) as never

  it('L14: names the run, the receipt and who did it', () => {
    const plain = { run: 'run-1', receipt: null, provider: null, field: 'journal.body' }
    expect(differenceOfItem(verdict('journal.body'), item)).toEqual(plain)
    const field = 'resultHash'
    const found = { run: 'run-1', receipt: hash, provider: 'p', field }
    expect(differenceOfReceipt(verdict(field), of('package'))).toEqual(found)
    expect(differenceOfReceipt(verdict(field), of('composite'))).toEqual({
      ...found,
      provider: null
    })
  })

  it.each(['definitionHash', 'inputPayload.provider.codeHash'])(
    'B10: is none where other code is here: %s',
    (field) => {
      expect(differenceOfItem(verdict(field), item)).toBeUndefined()
      expect(differenceOfReceipt(verdict(field), of('package'))).toBeUndefined()
    }
  )
})

describe('what was not checked', () => {
  it('B10: is said once each, with the receipts in a row', () => {
    const all = new NotChecked()
    expect(all.all()).toEqual([])
    for (const text of ['one', 'two', 'one']) all.say(text)
    all.receipt(7, 'why')
    for (let index = 0; index < 20; index += 1) all.receipt(index, 'many')
    const listed = Array.from({ length: 20 }, (_, index) => index).join(', ')
    expect(all.all()).toEqual(['one', 'two', 'receipt 7: why', `receipts ${listed}: many`])
    all.receipt(20, 'many')
    expect(all.all().at(-1)).toBe(`receipts ${listed} and 1 more: many`)
  })

  it('B10: is code that is not here, or another', () => {
    expect(notRegistered(['a@1'])).toBe('a@1 is not registered')
    expect(notRegistered(['a@1', 'b@1'])).toBe('a@1, b@1 are not registered')
    expect(otherCode('a@1')).toBe('other code is registered as a@1')
  })

  it('C4: is what undoes a write of an open attempt, or of a provider that says otherwise', () => {
    const said = (act: (one: Compensations) => void) => {
      const [one, all] = [new Compensations(undefined), new NotChecked()]
      act(one)
      one.say(all)
      return all.all()
    }
    const entry = (undo?: object | null) => ({ k: 'sealed', undo }) as never
    const finding = { field: 'journal.undo', signed: 'x', computed: 'y' }
    const [first, second] = [entry(null), entry({})]
    expect(said((one) => one.add(entry()))).toEqual([])
    const open = 'not worked out again: what asked for the write did not end'
    expect(said((one) => one.add(first))).toEqual([`1 compensation ${open}`])
    const both = (one: Compensations) => [first, second].map((undone) => one.add(undone))
    expect(said(both)).toEqual([`2 compensations ${open}`])
    const found: unknown[] = []
    const told = said((one) => {
      both(one)
      found.push(one.workedOut({ entry: first, provider: 'pay', finding } as never))
      found.push(one.workedOut({ entry: second, provider: undefined, finding } as never))
      found.push(one.workedOut({ entry: second, provider: 'mail', finding: undefined } as never))
    })
    expect(found).toEqual([undefined, finding, undefined])
    const otherwise = 'its provider, whose code no receipt names, answers otherwise here'
    expect(told).toEqual([`1 compensation of pay: ${otherwise}`])
    const twice = said((one) => {
      for (const undone of [first, second])
        one.workedOut({ entry: undone, provider: 'pay', finding } as never)
    })
    expect(twice).toEqual([`2 compensations of pay: ${otherwise}`])
    const known = {} as never
    expect(new Compensations((name) => (name === 'pay' ? known : undefined)).provider('pay')).toBe(
      known
    )
    expect(new Compensations(undefined).provider('pay')).toBeUndefined()
  })
})

describe('the profile of a receipt', () => {
  it('D5: is that of trusted code here, or of the sandbox anywhere', () => {
    expect([profile, ...ABI_VERSIONS.map(sandboxProfile)].every((one) => isOurs(one))).toBe(true)
    expect([{ ...profile, js: 'x' }, {}, null].some((one) => isOurs(one as never))).toBe(false)
    expect([isOfTrustedCode(profile), isOfTrustedCode({ cel: 1 })]).toEqual([true, true])
    expect(
      [sandboxProfile('tally-abi/2'), null, []].some((one) => isOfTrustedCode(one as never))
    ).toBe(false)
  })
})

describe('a run that is not done again', () => {
  const started = { k: 'run.started', definitionHash: hash } as never
  const skipped = () => {
    const one = new SkippedRun('it is long')
    expect(one.take(started, 'a')).toBeUndefined()
    expect(one.take({ k: 'settled' } as never, 'b')).toBeUndefined()
    return one
  }
  const journalHash = chainJournal(chainJournal('', 'a'), 'b')

  it('L12: ends as its entries say, which are not done again', () => {
    const finished = (of: string) => ({ k: 'run.finished', journalHash: of }) as never
    expect(skipped().take(finished(journalHash), 'c')).toBeUndefined()
    expect(skipped().take(finished(hash), 'c')).toMatchObject({ field: 'journal.journalHash' })
    expect(skipped()).toMatchObject({ kind: 'skipped', why: 'it is long' })
  })

  it('L6: has a receipt that commits to them', () => {
    const ends = (payload: Json | undefined, intent = 'run.completed') =>
      skipped().ends({
        receipt: { intent },
        payloadText: payload === undefined ? undefined : canonicalize(payload)
      } as never)?.field
    expect(ends({ journalHash, definitionHash: hash })).toBeUndefined()
    expect(ends({ journalHash: hash, definitionHash: hash })).toBe('payload.journalHash')
    expect(ends({ journalHash })).toBe('payload.definitionHash')
    expect(ends({ definitionHash: hash })).toBe('payload.journalHash')
    expect(ends('x')).toBe('payload.journalHash')
    expect([ends(undefined), ends({}, 'pay')]).toEqual([undefined, undefined])
  })
})

describe('a rotation', () => {
  const [publicKey, newPublicKey] = ['a'.repeat(64), 'b'.repeat(64)] as never[]
  const principal = { kind: 'owner' }
  const done = keyRotation({ publicKey, newPublicKey, at: 5, principal } as never)
  const payload = { newPublicKey }
  const rotation = {
    receipt: {
      intent: 'system.key.rotate',
      dappId: 'kernel',
      publicKey,
      timestamp: 5,
      inputPayload: { payload, principal, sealed: [] as readonly object[] }
    },
    resultText: done.resultText as string | undefined,
    changes: [...done.writes].map(([key, text]) => ({ key, text }))
  }
  const field = (more: object) => rotationFinding({ ...rotation, ...more } as never)?.field
  const of = (more: object) => ({ receipt: { ...rotation.receipt, ...more } })

  it('K2: is one without a run', () => {
    expect(isRotation(rotation as never)).toBe(true)
    expect(isRotation(of({ intent: 'pay' }) as never)).toBe(false)
    const inside = { inputPayload: { ...rotation.receipt.inputPayload, run: {} } }
    expect(isRotation(of(inside) as never)).toBe(false)
  })

  it('K2: gives and writes what a rotation does, and nothing else', () => {
    expect(field({})).toBeUndefined()
    expect(field({ resultText: undefined })).toBeUndefined()
    expect(field(of({ dappId: 'other' }))).toBe('dappId')
    const inputPayload = { ...rotation.receipt.inputPayload, sealed: [reference] }
    expect(field(of({ inputPayload }))).toMatch(/^inputPayload\.sealed/)
    expect(field({ resultText: '{}' })).toBe('resultHash')
    expect(field({ changes: [] })).toMatch(/^writeSet/)
    expect(field({ changes: rotation.changes.map(({ key }) => ({ key, text: null })) })).toMatch(
      /^writeSet/
    )
    const other = { ...rotation.receipt.inputPayload, payload: null }
    expect(field(of({ inputPayload: other }))).toBe('resultHash')
  })
})
