import { canonicalize, isJsonObject, jsonIn } from '../../../src/core/index.js'
import { unwrapText, wrapValue } from '../../../src/ledger/envelope.js'
import { type JournalItem, openMemoryStore, type Store } from '../../../src/ledger/index.js'
import { forgedLedger, honestLedger, verifyForged } from '../../support/forge.js'
import type { FuzzTarget } from '../target.js'

const honest = await honestLedger()
const everything = { gte: '', lt: '\uffff' }

/** Texts of the honest ledger, from which its corpus was taken. */
export async function honestTexts(): Promise<{ journal: string; records: readonly string[] }> {
  const records: string[] = []
  for await (const [key, value] of honest.store.entries(everything)) {
    if (key.includes('/commit/')) records.push(unwrapText(key, value))
  }
  return { journal: honest.items.flatMap(({ entries }) => entries).join('\n'), records }
}

/** An entry that the ledger would take; undefined for what its writer could not have written. */
function entryIn(line: string): string | undefined {
  try {
    const value = jsonIn(line)
    return isJsonObject(value) ? canonicalize(value) : undefined
  } catch {
    return undefined
  }
}

/** Items of which each has the entry of its line in the input, where that is one. */
export function forgedItems(input: Buffer, items: readonly JournalItem[]): readonly JournalItem[] {
  const lines = input.toString('utf8').split('\n')
  return items.slice(0, lines.length).map((item, index) => {
    const entry = entryIn(lines[index] ?? '')
    return entry === undefined ? item : { ...item, entries: [entry] }
  })
}

/** What the holder of the key can make of the journal: hashes and signatures in order. */
async function forgedJournal(input: Buffer): Promise<unknown> {
  return verifyForged(await forgedLedger(forgedItems(input, honest.items)))
}

/** A record in place of the one of its number, under a checksum that fits. */
async function alteredRecord(input: Buffer): Promise<unknown> {
  const store: Store = openMemoryStore()
  const entries: (readonly [string, Uint8Array])[] = []
  for await (const entry of honest.store.entries(everything)) entries.push(entry)
  const commits = entries.map(([key]) => key).filter((key) => key.includes('/commit/'))
  const number = Number(/"seq":(\d+)/.exec(input.toString('latin1'))?.[1] ?? 0)
  const altered = commits[number % commits.length] ?? ''
  const puts = entries.map(([key, value]) =>
    key === altered ? ([key, wrapValue(key, input)] as const) : ([key, value] as const)
  )
  await store.commit([{ puts, deletes: [] }])
  return verifyForged(store)
}

/** P1: a verification never throws for bad data. */
export const verificationTargets: Readonly<Record<string, FuzzTarget>> = {
  'forged-journals': { readers: [], isSlow: true, read: forgedJournal },
  'commit-records': { readers: [], isSlow: true, read: alteredRecord }
}
