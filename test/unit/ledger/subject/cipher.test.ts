import fc from 'fast-check'
import { expect, it } from 'vitest'
import { canonicalize, type Hash, type IdentityId, type RunId } from '../../../../src/core/index.js'
import { SubjectCipher } from '../../../../src/ledger/subject/cipher.js'
import {
  decryptText,
  encryptText,
  keyOfText
} from '../../../../src/ledger/subject/encrypted-text.js'
import { SubjectKeysInMemory, subjectIdOf } from '../../../../src/ledger/subject/subject-keys.js'

const identity = 'a'.repeat(64) as IdentityId
const run = 'run' as RunId
const id = subjectIdOf(new Uint8Array(32), 'customer')
const key = (fill: number) => new Uint8Array(32).fill(fill)
const keys = async (fill: number) => {
  const made = new SubjectKeysInMemory(() => key(fill))
  await made.create(id)
  return made
}
const item = { runId: run, mac: undefined, receipt: undefined, evidence: undefined }
const none = { blobs: [], largeBlobs: [], encrypted: [] }

it('G5: a text comes back at its place, by its key, and no other way', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.nat(), (text, place, at) => {
      const whole = Buffer.from(text).toString('utf8')
      const encrypted = encryptText(key(1), id, place, whole)
      expect(encryptText(key(1), id, place, whole)).toBe(encrypted)
      expect(decryptText(key(1), place, encrypted)).toBe(whole)
      expect(decryptText(key(2), place, encrypted)).toBeUndefined()
      expect(decryptText(key(1), `${place}x`, encrypted)).toBeUndefined()
      const from = encrypted.indexOf('.') + 1
      const index = from + (at % (encrypted.length - from))
      const other = encrypted[index] === 'A' ? 'B' : 'A'
      const altered = encrypted.slice(0, index) + other + encrypted.slice(index + 1)
      expect(decryptText(key(1), place, altered)).toBeUndefined()
      expect(keyOfText(encrypted)?.isKey(key(1))).toBe(true)
      expect(keyOfText(encrypted)?.isKey(key(2))).toBe(false)
    })
  )
})

it('G5: what an entry says in clear is what it says encrypted, or it is damage', async () => {
  const cipher = new SubjectCipher(identity, await keys(1))
  const entry = {
    at: 1,
    input: 'x',
    k: 'run.started',
    n: 0,
    name: 'a',
    run: 'run',
    status: 'running'
  }
  const stored = cipher.encryptEntry(id, run, canonicalize(entry))
  expect(JSON.parse(stored)).toEqual({
    ...{ $encrypted: expect.any(String), at: 1, k: 'run.started' },
    ...{ n: 0, name: 'a', run: 'run', status: 'running' }
  })
  const open = (text: string, runId = run) =>
    cipher.open('key', { ...item, ...none, runId, entries: [text] }).entries
  expect(open(stored)).toEqual([canonicalize(entry)])
  const altered = [stored.replace('"at":1', '"at":2'), stored.replace('"n":0', '"n":1')]
  for (const text of [...altered, stored.replace('running', 'waiting')]) {
    expect(() => open(text)).toThrow(expect.objectContaining({ code: 'ledger.corrupt' }))
  }
  const inClear = { ...item, ...none, entries: [stored] }
  for (const bodies of [{ blobs: ['"body"'] }, { largeBlobs: ['0'.repeat(64) as Hash] }]) {
    expect(() => cipher.open('key', { ...inClear, ...bodies })).toThrow(
      expect.objectContaining({ code: 'ledger.corrupt' })
    )
  }
  const elsewhere = () => open(stored, 'other' as RunId)
  expect(elsewhere).toThrow(expect.objectContaining({ code: 'ledger.corrupt' }))
})

it('G5: without the key, and with a second key of the subject, an item is closed', async () => {
  const cipher = new SubjectCipher(identity, await keys(1))
  const stored = cipher.encryptEntry(id, run, canonicalize({ at: 1, k: 'x', n: 0, run: 'run' }))
  const encrypted = [cipher.encryptBody(id, run, '"body"')]
  const whole = { ...item, ...none, entries: [stored], encrypted }
  expect(cipher.open('key', whole)).toMatchObject({ blobs: ['"body"'], isOpened: true })
  for (const other of [undefined, await keys(2)]) {
    const read = new SubjectCipher(identity, other).open('key', whole)
    expect(read).toMatchObject({ closedBy: id, blobs: [], entries: [stored] })
  }
})
