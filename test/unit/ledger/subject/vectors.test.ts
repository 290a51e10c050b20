import { expect, it } from 'vitest'
import {
  canonicalize,
  type Hash,
  type IdentityId,
  type JsonObject,
  type RunId,
  sha256Hex
} from '../../../../src/core/index.js'
import { BlobSalts } from '../../../../src/ledger/receipt/blob.js'
import { headerLine, itemLines, parseRecord } from '../../../../src/ledger/record/record.js'
import { SubjectCipher } from '../../../../src/ledger/subject/cipher.js'
import { decryptText, keyOfText } from '../../../../src/ledger/subject/encrypted-text.js'
import { SubjectKeysInMemory, subjectIdOf } from '../../../../src/ledger/subject/subject-keys.js'
import { committedVectors } from '../../../support/vectors.js'

/**
 * docs/spec/subjects.md, byte by byte: keys and names, encrypted texts, and a commit record with
 * what its items say. verifiers/python/test_subjects.py computes the same from the specification.
 */

interface TextVector {
  /** Lines of the place, as they are joined. */
  readonly place: string
  readonly text: string
  readonly nonce: string
  readonly ciphertext: string
  readonly tag: string
  readonly encrypted: string
}

interface SubjectVector {
  readonly blobKey: string
  readonly subject: string
  readonly id: string
  /** The file of the key, without its line feed. */
  readonly key: string
  readonly keyName: string
  readonly identity: string
  readonly texts: readonly TextVector[]
  readonly record: string
  readonly items: readonly {
    readonly entries: readonly string[]
    readonly bodies: readonly string[]
  }[]
}

const identity = 'a5'.repeat(32) as IdentityId
const [NONCE_BYTES, TAG_BYTES] = [12, 16]
const key = 'vector'

/** Texts of every kind: empty, short, of more than one block, with characters of 2 to 4 bytes. */
const bodies = ['""', '{"text":"planted"}', `"${'0123456789abcdef'.repeat(40)}"`, '"é€😀\u2028"']

function entriesOf(runId: string, subject: string): readonly JsonObject[] {
  return [
    {
      ...{ at: 1, definition: { schema: 'tally-composite/1' }, definitionHash: '0'.repeat(64) },
      ...{ input: { text: 'planted' }, k: 'run.started', n: 0, name: 'send' },
      ...{ principal: { id: 'local', kind: 'owner' }, run: runId, status: 'running', subject }
    },
    { at: 2, body: 'planted', k: 'sealed', n: 1, path: 'root/a', run: runId },
    {
      at: 2,
      k: 'run.waiting',
      n: 2,
      run: runId,
      status: 'waiting',
      waits: [{ request: 'planted' }]
    }
  ]
}

async function vectorOf(subject: string, fill: number): Promise<SubjectVector> {
  const blobKey = new Uint8Array(32).fill(fill)
  const subjectKey = Uint8Array.from({ length: 32 }, (_, at) => (at * 7 + fill) % 256)
  const keys = new SubjectKeysInMemory(() => subjectKey)
  const id = subjectIdOf(blobKey, subject)
  await keys.create(id)
  const cipher = new SubjectCipher(identity, keys)
  const items = ['run-1', 'orders.2'].map((run) => {
    const runId = run as RunId
    const entries = entriesOf(run, subject).map((entry) => canonicalize(entry))
    const stored = {
      ...{
        runId,
        mac: codeOf(blobKey, entries),
        receipt: undefined,
        evidence: undefined,
        blobs: []
      },
      ...{ entries: entries.map((text) => cipher.encryptEntry(id, runId, text)), largeBlobs: [] },
      encrypted: bodies.map((text) => cipher.encryptBody(id, runId, text))
    }
    return { runId, entries, stored }
  })
  const header = headerLine({ epoch: 1, leaves: 0, receipts: 0, seq: 0 })
  const texts = items.flatMap(({ runId, entries, stored }) => [
    ...stored.entries.map((entry, n) => {
      const { $encrypted } = JSON.parse(entry) as { readonly $encrypted: string }
      return textVector(`${identity}\n${runId}\nentry\n${n}`, entries[n] ?? '', $encrypted)
    }),
    ...stored.encrypted.map((text, n) =>
      textVector(`${identity}\n${runId}\nbody`, bodies[n] ?? '', text)
    )
  ])
  const scheduled = '{"input":{"text":"planted"},"subject":"customer-17"}'
  const sealed = cipher.encryptSchedule(id, 'nightly', scheduled)
  texts.push(textVector(`${identity}\nnightly\nschedule`, scheduled, sealed))
  const [first = ''] = texts[0]?.encrypted.split('.') ?? []
  return {
    ...{ blobKey: Buffer.from(blobKey).toString('hex'), subject, id },
    ...{ key: Buffer.from(subjectKey).toString('hex'), keyName: first, identity, texts },
    record: header + items.map(({ stored }) => itemLines(stored)).join(''),
    items: items.map(({ entries }) => ({ entries, bodies }))
  }
}

/** The code over a journal is over what its entries say. */
function codeOf(blobKey: Uint8Array, entries: readonly string[]): Hash {
  const journalHash = entries.reduce((hash, text) => sha256Hex(hash + text), '')
  return new BlobSalts(blobKey).authenticate(journalHash as Hash)
}

function textVector(place: string, text: string, encrypted: string): TextVector {
  const bytes = Buffer.from(encrypted.slice(encrypted.indexOf('.') + 1), 'base64')
  const hex = (from: number, to: number) => bytes.subarray(from, to).toString('hex')
  const end = bytes.length - TAG_BYTES
  return {
    ...{ place, text, nonce: hex(0, NONCE_BYTES), ciphertext: hex(NONCE_BYTES, end) },
    ...{ tag: hex(end, bytes.length), encrypted }
  }
}

it('G5: what is kept under a key has the bytes of the vectors, and is read from them', async () => {
  const made = [await vectorOf('customer-17', 1), await vectorOf('Kundin Ä😀', 250)]
  const vectors = committedVectors('subjects.json', () => made)
  expect(vectors).toEqual(made)
  for (const vector of vectors) {
    const subjectKey = Buffer.from(vector.key, 'hex')
    for (const { place, text, encrypted } of vector.texts) {
      expect(keyOfText(encrypted)?.isKey(subjectKey)).toBe(true)
      expect(decryptText(subjectKey, place, encrypted)).toBe(text)
    }
    const keys = new SubjectKeysInMemory(() => subjectKey)
    await keys.create(subjectIdOf(Buffer.from(vector.blobKey, 'hex'), vector.subject))
    const cipher = new SubjectCipher(vector.identity as IdentityId, keys)
    const { items } = parseRecord(key, Buffer.from(vector.record))
    const opened = items.map((item) => cipher.open(key, item))
    expect(opened.map(({ entries, blobs }) => ({ entries, bodies: blobs }))).toEqual(vector.items)
  }
})
