import type { JournalEntry, UnfinishedJournals } from '../block/index.js'
import { isJsonObject, type Json } from '../core/index.js'
import type { Executor, SignedTransaction, UnfinishedTransaction } from './port.js'
import type { Routes } from './routes.js'
import { chainEffects } from './steps/effects.js'

/**
 * Tells executors which transactions the runs that have not ended had prepared, so that their
 * nonces are known again (semantics.md W11). Returns how many were found.
 */
export async function recoverTransactions(
  unfinished: UnfinishedJournals,
  routes: Routes
): Promise<number> {
  const found: UnfinishedTransaction[] = []
  for await (const entries of unfinished) found.push(...unfinishedIn(entries))
  const byExecutor = new Map<Executor, UnfinishedTransaction[]>()
  for (const one of found) {
    const executor = routes.findTransaction(one.transaction)
    if (executor === undefined) continue
    const own = byExecutor.get(executor) ?? []
    own.push(one)
    byExecutor.set(executor, own)
  }
  for (const [executor, own] of byExecutor) executor.recover(own)
  return found.length
}

/**
 * The prepared transactions of one run's journal. What was refused for certain counts as unsent.
 */
export function unfinishedIn(entries: readonly JournalEntry[]): readonly UnfinishedTransaction[] {
  const found = new Map<string, { transaction: SignedTransaction; wasSent: boolean }>()
  const latest = new Map<string, string>()
  for (const entry of entries) {
    if (entry.k !== 'sealed' && entry.k !== 'requested') continue
    const place = `${entry.path} ${entry.step}`
    const transaction =
      entry.k === 'sealed' && entry.ok && entry.effect === chainEffects.prepare
        ? signedIn(entry.body)
        : undefined
    if (transaction !== undefined) {
      latest.set(place, transaction.hash)
      // A retry seals again what it keeps of the try before.
      if (!found.has(transaction.hash)) found.set(transaction.hash, { transaction, wasSent: false })
    }
    if (entry.effect !== chainEffects.broadcast) continue
    // A step prepares a transaction right before it sends it.
    const one = found.get(latest.get(place) ?? '')
    if (one === undefined) continue
    one.wasSent = entry.k === 'requested' || entry.ok || !isDefinite(entry.body)
  }
  return [...found.values()]
}

function isDefinite(body: Json): boolean {
  return isJsonObject(body) && body['definite'] === true
}

function signedIn(body: Json): SignedTransaction | undefined {
  if (!isJsonObject(body) || body['kind'] !== 'signed') return undefined
  return body['transaction'] as unknown as SignedTransaction
}
