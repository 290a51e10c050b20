import { createHmac } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canonicalize, type Hash, type JsonObject, sha256Hex } from '../../src/core/index.js'
import {
  encodeLock,
  type IntegrityRecord,
  parseLock
} from '../../src/runtime/opening/integrity-record.js'
import { verifiedByPython } from '../support/python-verifier.js'
import { fillLedger, openSnapshotLedger, temporaryDirectory } from '../support/snapshots.js'
import { committedVectors } from '../support/vectors.js'

interface LockVector {
  readonly blobKey: string
  readonly record: IntegrityRecord
  readonly text: string
}

const hash = (text: string) => sha256Hex(text)

const records: readonly IntegrityRecord[] = [
  { codeHashes: {}, headRoot: hash('0'), kernel: '1', receiptHash: null, receipts: 0 },
  { codeHashes: {}, headRoot: hash('3'), kernel: '1', receiptHash: hash('2'), receipts: 3 },
  {
    codeHashes: { alpha: hash('a'), 'zeta.tools': hash('z') },
    headRoot: hash('4'),
    kernel: '2',
    receiptHash: hash('3'),
    receipts: 1_204
  }
]

/** The code as docs/spec/integrity-lock.md words it. */
function codeOf(blobKey: string) {
  const subkey = createHmac('sha256', Buffer.from(blobKey, 'hex'))
    .update('tallystick/journal')
    .digest('hex')
  return (hashed: Hash) => sha256Hex(subkey + hashed)
}

const vectors = committedVectors<LockVector>('integrity-lock.json', () =>
  records.map((record, at) => {
    const blobKey = String(at + 1).repeat(64)
    return { blobKey, record, text: encodeLock(record, codeOf(blobKey)) }
  })
)

describe('an integrity lock', () => {
  it.each(vectors)('K10: has the text of the vector with $record.receipts receipts', (vector) => {
    const { blobKey, record, text } = vector
    expect(encodeLock(record, codeOf(blobKey))).toBe(text)
    expect(parseLock(text)).toEqual(record)
  })

  it('K10: is refused when any member is missing, of another type, or one too many', () => {
    for (const { text } of vectors) {
      const lock = JSON.parse(text) as JsonObject
      const others: JsonObject[] = [{ ...lock, more: 1 }]
      for (const name of Object.keys(lock)) {
        const { [name]: _, ...rest } = lock
        others.push(rest, { ...lock, [name]: true }, { ...lock, [name]: 'x' })
      }
      for (const other of others) expect(parseLock(`${canonicalize(other)}\n`)).toBeUndefined()
      expect(parseLock(text.trimEnd())).toBeUndefined()
      expect(parseLock(` ${text}`)).toBeUndefined()
    }
  })
})

describe('the verifier in Python', () => {
  let place: Awaited<ReturnType<typeof temporaryDirectory>>
  const locks: string[] = []
  beforeAll(async () => {
    place = await temporaryDirectory('integrity-lock')
    const tally = await openSnapshotLedger(place.path('ledger'), { create: 'if-absent' })
    await tally.close()
    locks.push(await lockText())
    const filled = await openSnapshotLedger(place.path('ledger'))
    await fillLedger(filled)
    await filled.export({ path: place.path('snapshot') })
    await filled.close()
    locks.push(await lockText())
  })
  afterAll(() => place.remove())

  async function lockText(): Promise<string> {
    const directory = join(place.path('ledger'), 'integrity')
    const [name = ''] = await readdir(directory)
    return readFile(join(directory, name), 'utf8')
  }

  async function fieldWith(text: string): Promise<string | undefined> {
    await writeFile(place.path('lock'), text)
    const { reports } = verifiedByPython([place.path('snapshot')], ['--lock', place.path('lock')])
    expect(reports[0]?.ok).toBe(reports[0]?.failure === null)
    return reports[0]?.failure?.field
  }

  it('K10: accepts the lock of the ledger, and a stale one', async () => {
    for (const text of locks) expect(await fieldWith(text)).toBeUndefined()
  })

  it('K10: finds a lock that is ahead, of another history, of another head, or no lock', async () => {
    const [, text = ''] = locks
    const lock = JSON.parse(text) as JsonObject & { readonly receipts: number }
    const other = (members: JsonObject) => `${canonicalize({ ...lock, ...members })}\n`
    expect(await fieldWith(other({ receipts: lock.receipts + 1 }))).toBe('lock.receipts')
    expect(await fieldWith(other({ receipts: lock.receipts - 1 }))).toBe('lock.receiptHash')
    expect(await fieldWith(other({ receiptHash: hash('x') }))).toBe('lock.receiptHash')
    expect(await fieldWith(other({ headRoot: hash('x') }))).toBe('lock.headRoot')
    expect(await fieldWith(other({ more: 1 }))).toBe('lock members')
    expect(await fieldWith('{}')).toMatch(/^lock/)
  })
})
