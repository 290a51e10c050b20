import { type VerificationReport, verifyLedgerDeep } from '../../src/audit/index.js'
import {
  CompactRange,
  canonicalize,
  type Hash,
  type Json,
  leafNode,
  ManualClock,
  sha256Hex
} from '../../src/core/index.js'
import {
  type JournalItem,
  type Ledger,
  openLedger,
  openMemoryStore,
  type Store
} from '../../src/ledger/index.js'
import { Registry } from '../../src/runtime/code/registry.js'
import type { Registrations } from '../../src/runtime/index.js'
import { WiredRuntime } from '../../src/runtime/runtime.js'
import { testKeys } from './lives.js'
import { recording } from './recording.js'

/** An entry of a journal, to be changed. */
export type LooseEntry = Record<string, Json>
/** Evidence beside an entry, to be changed. */
export type LooseEvidence = { -readonly [Name in keyof Evidence]: Evidence[Name] }
type Evidence = NonNullable<JournalItem['evidence']>

/** What a runtime wrote while it was used, in order. */
export interface Recorded {
  readonly items: readonly JournalItem[]
  readonly registrations: Registrations
  /** The honest ledger, verified by executing it again. */
  readonly report: VerificationReport
}

/** What a process does with its runtime. */
type Use = (tally: WiredRuntime, clock: ManualClock) => Promise<void>

export function recorded(registrations: Registrations, use: Use): Promise<Recorded> {
  return recordedLives(registrations, [use])
}

/** The same over several processes, one after the other. */
export async function recordedLives(
  registrations: Registrations,
  uses: readonly Use[]
): Promise<Recorded> {
  const store = openMemoryStore()
  const clock = new ManualClock(1_000)
  const all: JournalItem[] = []
  const random = { bytes: (length: number) => new Uint8Array(length), uuid: () => 'unused' }
  for (const use of uses) {
    const { ledger, items } = recording(await openFor(store))
    const tally = new WiredRuntime(
      { ledger, store, realPath: undefined, close: () => ledger.close() },
      await Registry.open(registrations),
      { clock, random, durability: 'output' }
    )
    await use(tally, clock)
    await tally.close()
    all.push(...items)
  }
  return { items: all, registrations, report: await verifiedWith(store, registrations) }
}

/**
 * What the holder of the right key makes of it: any entry and any evidence may be changed, and
 * journal hashes, links, roots and signatures are in order all the same.
 */
export async function rewritten(
  { items, registrations }: Recorded,
  change: (entry: LooseEntry, evidence: LooseEvidence | undefined) => void = () => undefined,
  code: Registrations = registrations
): Promise<VerificationReport> {
  const store = openMemoryStore()
  const ledger = await openFor(store)
  const totals = new Map<string, Totals>()
  for (const item of items) {
    const { runId } = item
    const total = totals.get(runId) ?? { journalHash: '', receipts: new CompactRange() }
    totals.set(runId, total)
    const fitted = changed(item, total, change)
    const appended = ledger.append(fitted)
    if (!appended.ok) throw new Error(`the forged ledger conflicts on ${appended.conflict}`)
    await ledger.durable(appended.position)
    for (const text of fitted.entries) total.journalHash = sha256Hex(total.journalHash + text)
    if (appended.receiptHash === undefined) continue
    total.receipts.append(leafNode(Buffer.from(appended.receiptHash, 'hex')))
  }
  await ledger.close()
  return verifiedWith(store, code)
}

interface Totals {
  journalHash: string
  readonly receipts: CompactRange
}

function changed(
  item: JournalItem,
  total: Totals,
  change: (entry: LooseEntry, evidence: LooseEvidence | undefined) => void
): JournalItem {
  const entries: string[] = []
  let { journalHash } = total
  const evidence = item.evidence && structuredClone(item.evidence)
  for (const text of item.entries) {
    const entry = JSON.parse(text) as LooseEntry
    if (entry['k'] === 'run.finished') entry['journalHash'] = journalHash
    if (evidence?.journalHash !== undefined) {
      Object.assign(evidence, { journalHash: journalHash as Hash })
    }
    change(entry, evidence)
    entries.push(canonicalize(entry))
    journalHash = sha256Hex(journalHash + entries.at(-1))
  }
  const { unit, rests: _, ...rest } = item
  const again = { ...rest, entries, ...(evidence === undefined ? {} : { evidence }) }
  if (unit === undefined) return again
  const payload = JSON.parse(unit.payloadText)
  const { receipts } = total
  const sums = { count: receipts.size, root: receipts.root() }
  const ending = { ...payload, journalHash: total.journalHash, receipts: sums }
  const isEnd = unit.action === 'run.completed'
  const payloadText = isEnd ? canonicalize(ending) : unit.payloadText
  // Reads are checked against a ledger that continues; a forger has nothing to fear there.
  return { ...again, unit: { ...unit, payloadText, reads: new Map(), lists: new Map() } }
}

async function verifiedWith(store: Store, code: Registrations): Promise<VerificationReport> {
  const { identity } = testKeys
  return verifyLedgerDeep({ store, identity, code: await Registry.open(code) })
}

function openFor(store: Store): Promise<Ledger> {
  const { identity, blobKey } = testKeys
  const signer = testKeys.signer()
  return openLedger({ store, identity, blobKey, signer, create: 'if-absent' })
}
