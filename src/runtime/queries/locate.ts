import type { OpenWait } from '../../block/index.js'
import { isHash, limits, type RunId } from '../../core/index.js'
import type { Ledger, StoredReceipt } from '../../ledger/index.js'
import type { Found } from './query-types.js'
import type { RunIndex } from './run-index.js'

export interface LocateParts {
  readonly ledger: Pick<Ledger, 'receipt' | 'read'>
  readonly index: RunIndex
  liveWaits(id: RunId): readonly OpenWait[]
}

/**
 * Where a text leads: a run by its id or a part of it, a receipt by its hash or place in the chain,
 * an open wait by its token, a key of the state. What is exactly the text comes first.
 */
export async function locate(parts: LocateParts, text: string): Promise<readonly Found[]> {
  const sought = text.trim()
  if (sought === '') return []
  const { index, ledger } = parts
  await index.refresh()
  const exact: Found[] = []
  const similar: Found[] = []
  const part = sought.toLowerCase()
  for (const { id, name, status, waits } of index.all()) {
    if (id === sought) exact.push({ kind: 'run', id, name })
    else if (similar.length < limits.FOUND_SIMILAR_MAX && id.toLowerCase().includes(part)) {
      similar.push({ kind: 'run', id, name })
    }
    const isOpen = status === 'running' || status === 'waiting'
    const live = isOpen ? parts.liveWaits(id) : []
    if ([...waits, ...live].some(({ token }) => token === sought)) {
      exact.push({ kind: 'wait', runId: id, token: sought })
    }
  }
  const receipt = await receiptOf(ledger, sought)
  if (receipt !== undefined) {
    exact.push({ kind: 'receipt', index: receipt.index, hash: receipt.receipt.receiptHash })
  }
  if (ledger.read(sought) !== undefined) exact.push({ kind: 'state', key: sought })
  return [...exact, ...similar]
}

async function receiptOf(
  ledger: Pick<Ledger, 'receipt'>,
  text: string
): Promise<StoredReceipt | undefined> {
  if (isHash(text)) return ledger.receipt(text)
  const [, index] = /^#?(\d{1,12})$/.exec(text) ?? []
  return index === undefined ? undefined : ledger.receipt(Number(index))
}
