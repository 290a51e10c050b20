import { canonicalize, type Json, type JsonObject } from '../../src/core/index.js'
import type { Outcome } from './run-to-end.js'

/** Receipts of nodes, in order, whole; the last names the journal, which keeps who was first. */
export function nodeReceiptsOf({ receipts }: Pick<Outcome, 'receipts'>): readonly string[] {
  const nodes = receipts.filter(({ intent }) => intent !== 'run.completed')
  return nodes.map(({ receiptHash, signature }) => `${receiptHash} ${signature}`)
}

/** `run.completed` but for what names the journal, which keeps who was first (decision 0019). */
export function completionOf({ receipts }: Pick<Outcome, 'receipts'>): Json {
  const receipt = receipts.find(({ intent }) => intent === 'run.completed')
  if (receipt === undefined) return null
  const { receiptHash: _, signature: __, inputHash: ___, inputPayload, ...rest } = receipt
  const payload = { ...(inputPayload.payload as JsonObject), journalHash: null }
  return JSON.parse(canonicalize({ ...rest, inputPayload: { ...inputPayload, payload } }))
}
