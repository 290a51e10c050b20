import { isUtf8 } from 'node:buffer'
import {
  type Hash,
  isHash,
  isJsonObject,
  isRunId,
  type Json,
  ledgerError,
  type RunId,
  type TallyError
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
 *   S"..."          the same, under the key of the run's subject (docs/spec/subjects.md)
 *
 * Order within an item: I J* M R W O E B* L* S*.
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

export type LineKind = 'C' | 'I' | 'J' | 'M' | 'R' | 'W' | 'O' | 'E' | 'B' | 'L' | 'S'

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
  /** Bodies under the key of the run's subject. */
  readonly encrypted: readonly string[]
}

export interface StoredReceiptText {
  readonly text: string
  readonly writeSet: string
  /** The result as hashed: inline, or a reference. */
  readonly result: string
}

const counts = ['epoch', 'leaves', 'receipts', 'seq', 'version']
  .map((name) => `"${name}":(0|[1-9]\\d{0,15})`)
  .join(',')
const headerText = new RegExp(`^C\\{${counts}\\}$`)

/** Reads a header; throws `ledger.corrupt` with the key of the record. */
export function parseHeader(key: string, line: string): RecordHeader {
  const match = headerText.exec(line)
  if (match === null) throw corrupt(key, 'it does not begin with a header')
  const [epoch, leaves, receipts, seq, version] = match.slice(1).map(Number)
  if (version !== RECORD_VERSION) throw corrupt(key, `its version is ${version}`)
  if (![epoch, leaves, receipts, seq].every(Number.isSafeInteger)) {
    throw corrupt(key, 'a count of its header is too large')
  }
  return { epoch: epoch ?? 0, leaves: leaves ?? 0, receipts: receipts ?? 0, seq: seq ?? 0 }
}

/**
 * Reads a whole record; throws `ledger.corrupt` with its key for anything that {@link headerLine}
 * and {@link itemLines} would not have written.
 */
export function parseRecord(
  key: string,
  body: Buffer
): { readonly header: RecordHeader; readonly items: readonly RecordItem[] } {
  // What is no UTF-8 would be read as other text than the bytes that are there.
  if (!isUtf8(body)) throw corrupt(key, 'it is not UTF-8 text')
  const lines = linesOf(body)
  const header = parseHeader(key, `${lines.kinds[0] ?? ''}${lines.texts[0] ?? ''}`)
  const items: RecordItem[] = []
  for (let from = 1; from < lines.kinds.length; ) {
    let to = from + 1
    while (to < lines.kinds.length && lines.kinds[to] !== 'I') to += 1
    items.push(parseItem(key, lines, { from, to }))
    from = to
  }
  return { header, items }
}

/** Lines of a record: the letter of each, and its text behind that. */
interface RecordLines {
  readonly kinds: readonly string[]
  readonly texts: readonly string[]
}

/** Each line is decoded by itself: one text of a whole record takes four times as long. */
function linesOf(body: Buffer): RecordLines {
  const [kinds, texts]: [string[], string[]] = [[], []]
  for (let from = 0; from <= body.length; ) {
    const lineBreak = body.indexOf(LINE_BREAK, from)
    const to = lineBreak < 0 ? body.length : lineBreak
    kinds.push(from === to ? '' : String.fromCharCode(body[from] ?? 0))
    texts.push(body.toString('utf8', from + 1, to))
    from = to + 1
  }
  return { kinds, texts }
}

const LINE_BREAK = 0x0a

function parseItem(
  key: string,
  { kinds, texts }: RecordLines,
  { from, to }: { readonly from: number; readonly to: number }
): RecordItem {
  let at = from
  const many = (kind: LineKind): readonly string[] => {
    const start = at
    while (at < to && kinds[at] === kind) at += 1
    return start === at ? none : texts.slice(start, at)
  }
  // A second line of one of these kinds is out of order.
  const one = (kind: LineKind): string | undefined => {
    if (at === to || kinds[at] !== kind) return undefined
    at += 1
    return texts[at - 1]
  }
  const runText = one('I')
  const entries = many('J')
  const macText = one('M')
  const mac = hashOf(macText)
  const text = one('R')
  const writeSet = one('W')
  const result = one('O')
  const evidence = one('E')
  const blobs = many('B')
  const largeBlobs = many('L').map(hashOf)
  const encrypted = many('S').map(quotedIn)
  if (at !== to) throw corrupt(key, 'its lines are out of order')
  const runId = runText?.slice(1, -1)
  if (!isRunId(runId) || runText !== `"${runId}"`) throw corrupt(key, 'a run id is malformed')
  if (!largeBlobs.every((hash) => hash !== undefined))
    throw corrupt(key, 'the hash of a blob is malformed')
  if (!encrypted.every((text) => text !== undefined))
    throw corrupt(key, 'an encrypted body is malformed')
  if (macText !== undefined && mac === undefined) throw corrupt(key, 'a code is malformed')
  const receipt = receiptIn(key, text, writeSet, result)
  if (receipt === undefined && evidence === undefined && entries.length === 0) {
    throw corrupt(key, 'an item has no record')
  }
  return {
    runId,
    entries,
    mac,
    receipt,
    evidence,
    blobs,
    largeBlobs,
    encrypted
  }
}

function receiptIn(
  key: string,
  text: string | undefined,
  writeSet: string | undefined,
  result: string | undefined
): StoredReceiptText | undefined {
  if (text !== undefined && writeSet !== undefined && result !== undefined) {
    return { text, writeSet, result }
  }
  if (text === undefined && writeSet === undefined && result === undefined) return undefined
  throw corrupt(key, 'a receipt, its write set and its result stand together')
}

const none: readonly string[] = []

/** The hash that a line has, in quotes. */
export function hashOf(text: string | undefined): Hash | undefined {
  const hash = text?.slice(1, -1)
  return isHash(hash) && text === `"${hash}"` ? hash : undefined
}

const encryptedText = /^"([0-9a-f]{48}\.[A-Za-z0-9+/=]+)"$/

function quotedIn(text: string): string | undefined {
  return encryptedText.exec(text)?.[1]
}

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
  for (const text of item.encrypted) lines += `\nS"${text}"`
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
  return ledgerError('ledger.corrupt', { key, problem })
}
