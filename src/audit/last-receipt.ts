import { type Hash, type Json, limits, type RunId } from '../core/index.js'
import type {
  HookVerdict,
  JournalEntry,
  Ledger,
  StateView,
  StoredReceipt,
  VerifiedReceipt
} from '../ledger/index.js'
import { Auditor } from './auditor.js'
import type { CodeSource } from './code-source.js'
import { type Difference, differenceOfReceipt } from './difference.js'
import { StateBefore } from './state-before.js'

/** What doing the last receipt of a ledger again gave (K10). */
export type LastReceiptReplay =
  /** No receipt is there, or the last one is of no run: nothing can be done again. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'same'; readonly index: number }
  | {
      readonly kind: 'different'
      readonly index: number
      readonly verdict: HookVerdict
      /** Undefined where other code is here than the one that made it. */
      readonly difference: Difference | undefined
    }
  | { readonly kind: 'not_checked'; readonly index: number; readonly why: string }

type OpenLedger = Pick<Ledger, 'identity' | 'state' | 'receipt' | 'run' | 'journal'> &
  Pick<Ledger, 'read' | 'list'>

/** Prefixes that a receipt depends on are found by executing it; more rounds are not worth it. */
const LIST_ROUNDS = 3

/**
 * Does the last receipt of an open ledger again, once: its run's journal is folded up to it, and
 * its unit executed on the state before it. Reads that one run only, however long the ledger is,
 * and at most `BOOT_REPLAY_ENTRIES_MAX` entries and `BOOT_REPLAY_BYTES_MAX` bytes of its journal.
 */
export async function replayLastReceipt(options: {
  readonly ledger: OpenLedger
  readonly code: CodeSource
}): Promise<LastReceiptReplay> {
  const { ledger, code } = options
  const { receipts } = ledger.state()
  const last = receipts === 0 ? undefined : await ledger.receipt(receipts - 1)
  const runId = last?.receipt.inputPayload.run?.runId
  if (last === undefined || runId === undefined) return { kind: 'nothing' }
  const { index } = last
  const journal = await journalOf(ledger, runId, last.receipt.receiptHash)
  if (journal === undefined) {
    return { kind: 'not_checked', index, why: 'the journal of its run is too long' }
  }
  const before = new StateBefore(ledger, last.writeSet)
  for (let round = 1; ; round += 1) {
    const found = await replayOnce({ ledger, code, last, runId, journal, before })
    if (!(await before.readWanted())) return found
    if (round === LIST_ROUNDS) {
      return { kind: 'not_checked', index, why: 'it depends on too many lists of keys' }
    }
  }
}

/** A run's entries up to the one that a receipt completed; undefined when they are too many. */
async function journalOf(
  ledger: OpenLedger,
  runId: RunId,
  receiptHash: Hash
): Promise<readonly JournalEntry[] | undefined> {
  const entries: JournalEntry[] = []
  let bytes = 0
  for await (const entry of ledger.journal(runId)) {
    entries.push(entry)
    bytes += Buffer.byteLength(entry.text)
    if (entry.receiptHash === receiptHash) return entries
    if (entries.length >= limits.BOOT_REPLAY_ENTRIES_MAX) return undefined
    if (bytes > limits.BOOT_REPLAY_BYTES_MAX) return undefined
  }
  return entries
}

async function replayOnce(given: {
  readonly ledger: OpenLedger
  readonly code: CodeSource
  readonly last: StoredReceipt
  readonly runId: RunId
  readonly journal: readonly JournalEntry[]
  readonly before: StateBefore
}): Promise<LastReceiptReplay> {
  const { ledger, code, last, runId, journal, before } = given
  const { index } = last
  const auditor = new Auditor({
    code,
    identity: ledger.identity,
    executions: 1,
    isWanted: (receipt) => receipt.index === index
  })
  const verified = verifiedOf(ledger, last, runId, before)
  for (const entry of journal) {
    const { text, value, evidence } = entry
    const fed = { text, value, evidence, receipt: receiptBeside(entry, verified) }
    const verdict = await feed(auditor, fed, { index, runId, stateBefore: before })
    if (before.withheld !== undefined) {
      return {
        kind: 'not_checked',
        index,
        why: `the value of ${before.withheld} before it is not at hand`
      }
    }
    if (verdict !== undefined) {
      return {
        kind: 'different',
        index,
        verdict,
        difference: differenceOfReceipt(verdict, verified)
      }
    }
  }
  if (auditor.reexecuted === 1) return { kind: 'same', index }
  return { kind: 'not_checked', index, why: auditor.finish().join('; ') }
}

/** Receipts before it are only folded: nothing but their hash counts. */
function receiptBeside(
  { receiptHash }: JournalEntry,
  verified: VerifiedReceipt
): VerifiedReceipt | undefined {
  const { receipt } = verified
  if (receiptHash === undefined || receiptHash === receipt.receiptHash) {
    return receiptHash === undefined ? undefined : verified
  }
  return { ...verified, index: -1, receipt: { ...receipt, receiptHash } }
}

function verifiedOf(
  ledger: OpenLedger,
  last: StoredReceipt,
  runId: RunId,
  stateBefore: StateView
): VerifiedReceipt {
  const { index, commitSeq, receipt, text, writeSet, payloadText, raw, resultText } = last
  return {
    index,
    commitSeq,
    receipt,
    text,
    runId,
    entries: [],
    payloadText,
    raw,
    resultText,
    writeSetText: JSON.stringify(writeSet),
    // The last receipt has written what is there now.
    changes: writeSet.map(({ key }) => ({ key, text: ledger.read(key) ?? null })),
    sealed: [],
    stateBefore
  }
}

/** One entry of a journal, with what its commit has beside it. */
export interface FedEntry {
  readonly text: string
  readonly value: Json
  readonly evidence: string | undefined
  /** The receipt that it completed. */
  readonly receipt: VerifiedReceipt | undefined
}

/** Hands the auditor one entry as an item of its own, and the receipt that it completed. */
export async function feed(
  auditor: Auditor,
  { text, value, evidence, receipt }: FedEntry,
  place: { readonly index: number; readonly runId: RunId; readonly stateBefore: StateView }
): Promise<HookVerdict | undefined> {
  const problem = await auditor.item({
    ...place,
    entries: [text],
    values: [value],
    hasReceipt: receipt !== undefined,
    evidence,
    previousReceiptHash: baseIn(value)
  })
  if (problem !== undefined || receipt === undefined) return problem
  return auditor.receipt(receipt)
}

/** Where the run says that it began: whether that is so, a verification finds out. */
function baseIn(value: Json): Hash | null {
  const { base } = value as { readonly base?: Hash | 'GENESIS' }
  return base === undefined || base === 'GENESIS' ? null : base
}
