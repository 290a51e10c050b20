import { type IdentityId, isHash } from '../../../src/core/index.js'
import { encodeKeyFile, parseKeyFile } from '../../../src/identity/key-file.js'
import {
  encodeArchiveFooter,
  encodeArchiveHeader,
  encodeArchiveLine,
  parseArchiveFooter,
  parseArchiveHeader,
  parseArchiveLine,
  unknownArchiveVersion
} from '../../../src/ledger/archive/format.js'
import { parseWriteSet } from '../../../src/ledger/chain/stored-write-set.js'
import { unwrapUnchecked, unwrapValue, wrapValue } from '../../../src/ledger/envelope.js'
import { encodeMarker, parseMarker } from '../../../src/ledger/location/marker.js'
import { fromBase64, toBase64 } from '../../../src/ledger/log/base64.js'
import { encodeLogNote, parseLogNote } from '../../../src/ledger/log/log-note.js'
import { encodeLogProof, parseLogProof } from '../../../src/ledger/log/proof-format.js'
import { encodeSignedNote, parseSignedNote } from '../../../src/ledger/log/signed-note.js'
import { encodeVerifierKey, parseVerifierKey } from '../../../src/ledger/log/verifier-key.js'
import { bodyOfBlob, referenceOf } from '../../../src/ledger/receipt/blob.js'
import { parseEvidence, parseReceipt } from '../../../src/ledger/receipt/parse.js'
import { encodeHead, parseHead } from '../../../src/ledger/record/head.js'
import { headerLine, itemLines, parseRecord } from '../../../src/ledger/record/record.js'
import {
  encodeFooter,
  encodeHeader,
  encodeLine,
  parseFooter,
  parseHeader,
  parseLine,
  unknownVersion
} from '../../../src/ledger/snapshot/format.js'
import { decodePages } from '../../../src/ledger/state/pages.js'
import { encodeStateProof, parseStateProof } from '../../../src/ledger/state/proof-format.js'
import { SubjectCipher } from '../../../src/ledger/subject/cipher.js'
import { SubjectKeysInMemory, subjectIdOf } from '../../../src/ledger/subject/subject-keys.js'
import { parseLock } from '../../../src/runtime/opening/integrity-record.js'
import { parsePicture } from '../../../src/runtime/run/kept-picture.js'
import type { FuzzTarget } from '../target.js'

/** Has the key of the subject `customer-17`, which the corpus is written under. */
async function subjectCipher(): Promise<SubjectCipher> {
  const keys = new SubjectKeysInMemory(() => new Uint8Array(32).fill(7))
  await keys.create(subjectIdOf(new Uint8Array(32), 'customer-17'))
  return new SubjectCipher('0'.repeat(64) as IdentityId, keys)
}

const textOf = (input: Buffer) => input.toString('utf8')

/** A reader of text; with a writer, one that reads what the writer writes and nothing else. */
function text<Value>(
  name: string | readonly string[],
  read: (text: string) => Value,
  write?: (value: Value) => string | undefined
): FuzzTarget {
  const readers = typeof name === 'string' ? [name] : name
  const target = { readers, read: (input: Buffer) => read(textOf(input)) }
  return write === undefined ? target : { ...target, write: write as (value: never) => string }
}

/** What a snapshot's line gives when it is one. */
const accepted =
  <Value>(write: (value: Value) => string) =>
  (parsed: unknown) => {
    const one = parsed as { readonly ok: boolean; readonly value: Value }
    return one.ok ? write(one.value) : undefined
  }

export const ledgerTargets: Readonly<Record<string, FuzzTarget>> = {
  record: {
    readers: ['ledger/record/record.ts#parseRecord', 'ledger/record/record.ts#parseHeader'],
    read: (input) => parseRecord('key', input),
    write: ({ header, items }: ReturnType<typeof parseRecord>) =>
      Buffer.from(`${headerLine(header)}${items.map(itemLines).join('')}`)
  },
  'subject-record': {
    // They decrypt: none is named for reading.
    readers: [],
    read: async (input) => {
      const cipher = await subjectCipher()
      return parseRecord('key', input).items.map((item) => cipher.open('key', item))
    }
  },
  head: text('ledger/record/head.ts#parseHead', (given) => parseHead('key', given), encodeHead),
  'kept-picture': text(
    'runtime/run/kept-picture.ts#parsePicture',
    (given) => parsePicture(given) ?? null
  ),
  receipt: text('ledger/receipt/parse.ts#parseReceipt', parseReceipt),
  evidence: text('ledger/receipt/parse.ts#parseEvidence', parseEvidence),
  'write-set': text('ledger/chain/stored-write-set.ts#parseWriteSet', parseWriteSet),
  blob: text([], (given) => {
    const reference = referenceOf(given)
    if (reference !== undefined && !isHash(reference.$blob)) throw new Error('no hash')
    return bodyOfBlob(given, reference?.bytes ?? 5)
  }),
  envelope: {
    readers: [],
    read: (input) => {
      // The checksum would keep all mutants out: a body that is taken over must be the same again.
      const wrapped = wrapValue('key', input)
      if (!unwrapValue('key', wrapped).equals(input)) throw new Error('it changes the body')
      unwrapUnchecked('key', input)
      return unwrapValue('key', input)
    }
  },
  'state-pages': {
    readers: ['ledger/state/pages.ts#decodePages'],
    read: (input) => decodePages([[((input[0] ?? 0) << 4) | ((input[1] ?? 0) >> 4), input]]).size
  },
  'snapshot-header': text(
    'ledger/snapshot/format.ts#parseHeader',
    (given) => {
      unknownVersion(given)
      return parseHeader(given)
    },
    accepted(encodeHeader)
  ),
  'snapshot-line': text('ledger/snapshot/format.ts#parseLine', parseLine, accepted(encodeLine)),
  'snapshot-footer': text(
    'ledger/snapshot/format.ts#parseFooter',
    parseFooter,
    accepted(encodeFooter)
  ),
  'archive-header': text(
    ['ledger/archive/format.ts#parseArchiveHeader', 'ledger/archive/boundary.ts#parseBoundary'],
    (given) => {
      unknownArchiveVersion(given)
      return parseArchiveHeader(given)
    },
    accepted(encodeArchiveHeader)
  ),
  'archive-line': text(
    'ledger/archive/format.ts#parseArchiveLine',
    parseArchiveLine,
    accepted(encodeArchiveLine)
  ),
  'archive-footer': text(
    'ledger/archive/format.ts#parseArchiveFooter',
    parseArchiveFooter,
    accepted(encodeArchiveFooter)
  ),
  'log-proof': text('ledger/log/proof-format.ts#parseLogProof', parseLogProof, encodeLogProof),
  'state-proof': text(
    'ledger/state/proof-format.ts#parseStateProof',
    parseStateProof,
    encodeStateProof
  ),
  'signed-note': text(
    'ledger/log/signed-note.ts#parseSignedNote',
    parseSignedNote,
    encodeSignedNote
  ),
  'log-note': text('ledger/log/log-note.ts#parseLogNote', parseLogNote, encodeLogNote),
  'verifier-key': text(
    'ledger/log/verifier-key.ts#parseVerifierKey',
    parseVerifierKey,
    encodeVerifierKey
  ),
  base64: text([], fromBase64, (bytes) => (bytes === undefined ? undefined : toBase64(bytes))),
  marker: text(
    'ledger/location/marker.ts#parseMarker',
    (given) => parseMarker(given, 'path'),
    encodeMarker
  ),
  'integrity-lock': text('runtime/opening/integrity-record.ts#parseLock', parseLock),
  'key-file': text('identity/key-file.ts#parseKeyFile', parseKeyFile, (file) =>
    file === undefined ? undefined : encodeKeyFile(file)
  )
}
