import {
  canonicalize,
  type Hash,
  hashJson,
  isHash,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonIn
} from '../../core/index.js'

const FORMAT = 'tally-integrity/1'

/** Where a ledger stood when its lock was written, and what was installed then (K10). */
export interface IntegrityRecord {
  /** Version of the kernel's rules. */
  readonly kernel: string
  readonly receipts: number
  readonly receiptHash: Hash | null
  readonly headRoot: Hash
  /** By package id. The head root commits to them; here they tell which one differs. */
  readonly codeHashes: Readonly<Record<string, string>>
}

/**
 * The file of an integrity lock (docs/spec/integrity-lock.md); `authenticate` makes the code that
 * only the holder of the identity's blob key can make.
 *
 * @example
 * {"codeHashes":{},"format":"tally-integrity/1","headRoot":"ab..","kernel":"1","mac":"cd..",
 *  "receiptHash":"ef..","receipts":3}
 */
export function encodeLock(record: IntegrityRecord, authenticate: (hash: Hash) => Hash): string {
  const body = { ...record, format: FORMAT } as unknown as JsonObject
  const mac = authenticate(hashJson(['tallystick/integrity', body]))
  return `${canonicalize({ ...body, mac })}\n`
}

const isCount = (value: Json) => Number.isSafeInteger(value) && Number(value) >= 0

const checks: Readonly<Record<string, (value: Json) => boolean>> = {
  codeHashes: (value) => isJsonObject(value) && Object.values(value).every(isHash),
  format: (value) => value === FORMAT,
  headRoot: isHash,
  kernel: (value) => typeof value === 'string' && /^[1-9]\d*$/.test(value),
  mac: isHash,
  receiptHash: (value) => value === null || isHash(value),
  receipts: isCount
}

/** Reads a lock strictly, whatever its code; undefined for what {@link encodeLock} never wrote. */
export function parseLock(text: string): IntegrityRecord | undefined {
  const value = jsonIn(text)
  if (!isJsonObject(value) || Object.keys(value).length !== Object.keys(checks).length) {
    return undefined
  }
  for (const [name, check] of Object.entries(checks))
    if (!check(value[name] ?? null)) return undefined
  if (`${canonicalize(value)}\n` !== text) return undefined
  const { format: _, mac: _mac, ...record } = value
  const isFirst = record['receipts'] === 0
  return isFirst === (record['receiptHash'] === null)
    ? (record as unknown as IntegrityRecord)
    : undefined
}
