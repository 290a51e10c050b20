import { isJsonObject, type Json, limits, shownText } from '../../core/index.js'
import {
  type Evidence,
  type Ledger,
  type LoggedLine,
  parseEvidence,
  parseReceipt
} from '../../ledger/index.js'
import type { LogLine, LogProofLine, Page } from './query-types.js'

type ReadLedger = Pick<Ledger, 'past' | 'run' | 'archiving'>

const MILLISECONDS = 1_000

/** Receipts and evidence, newest first: leaves `from` <= leaf < `before`. */
export async function logPage(
  ledger: ReadLedger,
  {
    before,
    from,
    limit = limits.PAGE_ITEMS_DEFAULT
  }: {
    readonly before: number | undefined
    readonly from: number | undefined
    readonly limit?: number | undefined
  }
): Promise<Page<LogLine>> {
  const past = await ledger.past()
  const to = Math.min(before ?? past.logSize, past.logSize)
  // Pages end where archived history does; what is asked for within it is refused.
  const least = from ?? ledger.archiving.history?.boundary.frontier.size ?? 0
  const first = to <= least ? Math.max(0, to - limit) : Math.max(least, to - limit)
  const lines = await past.log(first, to)
  const items = lines.map((line) => logLine(ledger, line)).reverse()
  return { items, next: first > least ? String(first) : null }
}

/** One signed record; one that is not what it signs has a problem (L12). */
export function logLine(ledger: ReadLedger, line: LoggedLine): LogLine {
  const { kind, leaf, index, commitSeq, text } = line
  const place = { leaf, kind, index, commitSeq }
  return kind === 'receipt'
    ? { ...place, ...receiptParts(text) }
    : { ...place, ...evidenceParts(ledger, line) }
}

type Shown = Omit<LogLine, 'leaf' | 'kind' | 'index' | 'commitSeq'>

const corrupt: Pick<LogLine, 'problem'> = { problem: 'ledger.corrupt' }

function receiptParts(text: string): Shown {
  const parsed = parseReceipt(text)
  if (!parsed.ok) return { ...unreadable, ...corrupt }
  const { receiptHash: hash, timestamp, inputPayload } = parsed.record
  const { action, principal, run } = inputPayload
  return {
    hash,
    at: timestamp * MILLISECONDS,
    runId: run?.runId ?? null,
    path: run?.path ?? null,
    action,
    by: principalText(principal),
    ...(parsed.computedHash === hash ? {} : corrupt)
  }
}

function evidenceParts(ledger: ReadLedger, { runId, text }: LoggedLine): Shown {
  const parsed = parseEvidence(text)
  if (!parsed.ok) return { ...unreadable, ...corrupt }
  const evidence: Evidence = parsed.record
  const { evidenceHash: hash, timestamp } = evidence
  const started = ledger.run(runId, { durable: true })?.started
  return {
    hash,
    at: timestamp * MILLISECONDS,
    runId: started === undefined ? null : runId,
    path: null,
    action: evidence.inputPayload.action,
    by: principalText(started?.['principal']),
    ...(parsed.computedHash === hash ? {} : corrupt)
  }
}

const unreadable: Shown = {
  hash: '0'.repeat(64) as LogLine['hash'],
  at: 0,
  runId: null,
  path: null,
  action: '',
  by: ''
}

/** Kind and id of who asked, as lists show them. */
export function principalText(principal: Json | undefined): string {
  if (principal === undefined || !isJsonObject(principal)) return ''
  return `${shownText(principal['kind'])} ${shownText(principal['id'])}`
}

export async function logProof(ledger: Pick<Ledger, 'past'>, leaf: number): Promise<LogProofLine> {
  const { text: record, leafHash, root, proof } = await (await ledger.past()).inclusion(leaf)
  return { leaf, record, leafHash, root, proof: JSON.parse(proof) as Json }
}
