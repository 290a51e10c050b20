import { type Json, ledgerError } from '../../core/index.js'
import type { Ledger } from '../../ledger/index.js'
import type { Page, StateChange, StateLine, StateProof } from './query-types.js'
import { invalidCursor } from './run-index.js'

type ReadLedger = Pick<Ledger, 'past'>

const MILLISECONDS = 1_000

/**
 * Keys of the state as of a receipt, in the order of their UTF-8 bytes; without `asOf` as of the
 * last one, which stays that for the pages behind. Throws `receipt.not_found`.
 */
export async function statePage(
  ledger: ReadLedger,
  {
    asOf: asked,
    prefix = '',
    cursor,
    limit
  }: {
    readonly asOf: number | undefined
    readonly prefix: string | undefined
    readonly cursor: string | undefined
    readonly limit: number
  }
): Promise<Page<StateLine>> {
  const past = await ledger.past()
  const place = cursor === undefined ? undefined : parseStatePlace(cursor)
  const asOf = placed(past.receipts, place?.asOf ?? asked)
  if (asOf === undefined) return { items: [], next: null }
  const { values, next } = await past.values({ asOf, prefix, after: place?.after, limit })
  return {
    items: values.map(({ key, text, index }) => ({
      key,
      value: jsonOf(text),
      index: index ?? null
    })),
    next: next === undefined ? null : `${asOf}:${next}`
  }
}

/** Changes of a key, newest first. */
export async function stateHistory(
  ledger: ReadLedger,
  {
    key,
    cursor,
    limit
  }: { readonly key: string; readonly cursor: string | undefined; readonly limit: number }
): Promise<Page<StateChange>> {
  const past = await ledger.past()
  const before = cursor === undefined ? undefined : parseCount(cursor)
  const changes = await past.changes({ key, before, limit: limit + 1 })
  const items = changes.slice(0, limit).map((change) => ({
    index: change.index,
    receiptHash: change.receiptHash,
    at: change.timestamp * MILLISECONDS,
    runId: change.runId ?? null,
    before: jsonOf(change.before),
    after: jsonOf(change.after),
    removed: change.after === null
  }))
  const last = items.at(-1)
  const isWhole = changes.length <= limit || last === undefined
  return { items, next: isWhole ? null : String(last.index) }
}

/** Throws `receipt.not_found`, and `ledger.corrupt` where the state is not what is signed. */
export async function stateProof(
  ledger: ReadLedger,
  { key, asOf: asked }: { readonly key: string; readonly asOf: number | undefined }
): Promise<StateProof> {
  const past = await ledger.past()
  const asOf = placed(past.receipts, asked)
  if (asOf === undefined) throw ledgerError('receipt.not_found', { which: 0 })
  const { root, parts, proof, text } = await past.proof(key, asOf)
  return {
    key,
    asOf,
    root,
    parts: { ...parts },
    proof: JSON.parse(proof) as Json,
    value: jsonOf(text)
  }
}

/** The place that is meant; undefined where there is no receipt and none was named. */
function placed(receipts: number, asOf: number | undefined): number | undefined {
  if (asOf === undefined) return receipts === 0 ? undefined : receipts - 1
  if (asOf >= receipts) throw ledgerError('receipt.not_found', { which: asOf })
  return asOf
}

function jsonOf(text: string | null | undefined): Json {
  return text === undefined || text === null ? null : (JSON.parse(text) as Json)
}

function parseStatePlace(cursor: string): { readonly asOf: number; readonly after: string } {
  const end = cursor.indexOf(':')
  if (end < 0) throw invalidCursor()
  return { asOf: parseCount(cursor.slice(0, end)), after: cursor.slice(end + 1) }
}

/** A whole number that a cursor names. Throws `service.invalid_params`. */
export function parseCount(text: string): number {
  if (!/^(0|[1-9][0-9]{0,14})$/.test(text)) throw invalidCursor()
  return Number(text)
}
