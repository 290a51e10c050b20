import { canonicalize, type Json } from '../../core/index.js'
import type { Receipt } from '../../ledger/index.js'
import type { RunResult } from '../../runtime/index.js'

/** What is left of a run, of which a crash must change nothing. */
export interface LeftOfRun {
  readonly result: RunResult
  readonly receipts: readonly Receipt[]
  /** Canonical JSON. */
  readonly state: string
}

/**
 * Everything of it that a crash must not change. `sameOrder` false: the order of effects beside
 * each other is not promised, and not compared.
 */
export function essence({ result, receipts, state }: LeftOfRun, sameOrder = true): Json {
  return JSON.parse(
    canonicalize({
      result: resultEssence(result),
      state,
      receipts: receiptsEssence(receipts, sameOrder)
    })
  )
}

/** The last receipt covers the journal, which says in which life something was done. */
export function receiptsEssence(receipts: readonly Receipt[], sameOrder: boolean): Json {
  return receipts
    .filter(({ intent }) => intent !== 'run.completed')
    .map((receipt) => (sameOrder ? receipt.receiptHash : unordered(receipt)))
}

export function resultEssence({ receiptHash: _, ...rest }: RunResult): Json {
  return JSON.parse(canonicalize(rest))
}

function unordered({ inputPayload, resultHash }: Receipt): Json {
  const sealed = [...inputPayload.sealed].sort((a, b) => a.seq - b.seq)
  return JSON.parse(canonicalize({ ...inputPayload, seed: null, sealed, resultHash }))
}
