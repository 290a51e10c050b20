import {
  type Hash,
  isHash,
  isJsonObject,
  isRunId,
  type Json,
  type RunId,
  TallyError
} from '../../core/index.js'

/**
 * Commit record: everything that one flush adds for an identity, as lines of canonical JSON, each
 * behind a letter that says what it is (docs/spec/store.md). Canonical JSON holds no line break.
 *
 *   C{"epoch":2,"leaves":41,"receipts":40,"seq":17,"version":1}   header: counts before this record
 *   I"run-1"        an item of this run begins
 *   J{...}          journal entry of the run
 *   M"hash"         code over the run's journal so far, made with the blob key
 *   R{...}          receipt
 *   W[...]          write set of the receipt before it
 *   O...            its result, or the reference to the blob that holds it
 *   E{...}          evidence
 *   B...            blob named by a record of the item; its hash is that of the text after the
 *                   letter
 *   L"hash"         the same, in a value of its own because it is large
 *
 * Order within an item: I J* M R W O E B* L*.
 */
export const RECORD_VERSION = 1

/** Counts at the beginning of a commit record. */
export interface RecordHeader {
  readonly epoch: number
  /** Leaves of the log before this record. */
  readonly leaves: number
  /** Receipts of the chain before this record. */
  readonly receipts: number
  readonly seq: number
}

export type LineKind = 'C' | 'I' | 'J' | 'M' | 'R' | 'W' | 'O' | 'E' | 'B' | 'L'

export function headerLine({ epoch, leaves, receipts, seq }: RecordHeader): string {
  return (
    `C{"epoch":${epoch},"leaves":${leaves},"receipts":${receipts},"seq":${seq},` +
    `"version":${RECORD_VERSION}}`
  )
}

/** One item of a commit record, as stored texts. */
export interface RecordItem {
  readonly runId: RunId
  readonly entries: readonly string[]
  readonly mac: Hash | undefined
  readonly receipt: StoredReceiptText | undefined
  readonly evidence: string | undefined
  /** Texts of blobs kept in the record. */
  readonly blobs: readonly string[]
  /** Hashes of blobs kept in values of their own. */
  readonly largeBlobs: readonly Hash[]
}

export interface StoredReceiptText {
  readonly text: string
  readonly writeSet: string
  /** The result as hashed: inline, or a reference. */
  readonly result: string
}

const headerText =
  /^C\{"epoch":(\d+),"leaves":(\d+),"receipts":(\d+),"seq":(\d+),"version":(\d+)\}$/

/** Reads a header; throws `ledger.corrupt` with the key of the record. */
export function parseHeader(key: string, line: string): RecordHeader {
  const match = headerText.exec(line)
  if (match === null) throw corrupt(key, 'it does not begin with a header')
  const [epoch, leaves, receipts, seq, version] = match.slice(1).map(Number)
  if (version !== RECORD_VERSION) throw corrupt(key, `its version is ${version}`)
  return { epoch: epoch ?? 0, leaves: leaves ?? 0, receipts: receipts ?? 0, seq: seq ?? 0 }
}

/** Reads a whole record; throws `ledger.corrupt` with its key when the lines are out of order. */
export function parseRecord(
  key: string,
  text: string
): { readonly header: RecordHeader; readonly items: readonly RecordItem[] } {
  const [first = '', ...lines] = text.split('\n')
  const header = parseHeader(key, first)
  const items: RecordItem[] = []
  for (let at = 0; at < lines.length; ) {
    let end = at + 1
    while (end < lines.length && lines[end]?.[0] !== 'I') end += 1
    items.push(parseItem(key, lines.slice(at, end)))
    at = end
  }
  return { header, items }
}

function parseItem(key: string, lines: readonly string[]): RecordItem {
  let at = 0
  const many = (kind: LineKind): string[] => {
    const start = at
    while (lines[at]?.[0] === kind) at += 1
    return lines.slice(start, at).map((line) => line.slice(1))
  }
  const [runText] = many('I')
  const entries = many('J')
  const [mac, ...moreMacs] = many('M').map((hash) => hashText.exec(hash)?.[1])
  const [text, ...moreReceipts] = many('R')
  const [writeSet = '', ...moreSets] = many('W')
  const [result = '', ...moreResults] = many('O')
  const [evidence, ...moreEvidence] = many('E')
  const blobs = many('B')
  const largeBlobs = many('L').map((hash) => hashText.exec(hash)?.[1])
  const extra = [moreMacs, moreReceipts, moreSets, moreResults, moreEvidence].some(
    (more) => more.length > 0
  )
  if (extra || at !== lines.length) throw corrupt(key, 'its lines are out of order')
  const runId = runText?.slice(1, -1)
  if (!isRunId(runId) || runText !== `"${runId}"`) throw corrupt(key, 'a run id is malformed')
  if (!largeBlobs.every(isHash)) throw corrupt(key, 'the hash of a blob is malformed')
  return {
    runId,
    entries,
    mac: isHash(mac) ? mac : undefined,
    receipt: text === undefined ? undefined : { text, writeSet, result },
    evidence,
    blobs,
    largeBlobs
  }
}

const hashText = /^"([0-9a-f]{64})"$/

/** The lines of an item. */
export function itemLines(item: RecordItem): string {
  let lines = `\nI"${item.runId}"`
  for (const entry of item.entries) lines += `\nJ${entry}`
  if (item.mac !== undefined) lines += `\nM"${item.mac}"`
  if (item.receipt !== undefined) {
    const { text, writeSet, result } = item.receipt
    lines += `\nR${text}\nW${writeSet}\nO${result}`
  }
  if (item.evidence !== undefined) lines += `\nE${item.evidence}`
  for (const blob of item.blobs) lines += `\nB${blob}`
  for (const hash of item.largeBlobs) lines += `\nL"${hash}"`
  return lines
}

/** A journal entry's fields that the ledger itself reads. */
export interface EntryFields {
  readonly k: string
  readonly n: number
  readonly run: string
  readonly at: number
}

/** Whether a parsed journal entry has the fields that every entry has. */
export function hasEntryFields(value: Json): value is Json & EntryFields {
  return (
    isJsonObject(value) &&
    typeof value['k'] === 'string' &&
    typeof value['run'] === 'string' &&
    Number.isSafeInteger(value['n']) &&
    typeof value['at'] === 'number'
  )
}

export function corrupt(key: string, problem: string): TallyError {
  return new TallyError('ledger.corrupt', { key, problem })
}
