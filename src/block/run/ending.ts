import { canonicalize, type Hash } from '../../core/index.js'
import type { Response } from '../chart/protocol.js'
import type { Completed } from './decide.js'
import type { RunFinished } from './entries.js'
import { runEvidence } from './evidence.js'
import type { RunState } from './run-state.js'
import { bare, begun, completedUnit, type UnitContext } from './unit.js'

/**
 * The end of a run: a `run.completed` receipt that commits to the whole of it, or failure evidence
 * with what landed outside all the same (formats.md §3).
 */
export function runEnd(
  state: RunState,
  {
    settled,
    at,
    context
  }: {
    readonly settled: Response
    readonly at: number
    readonly context: UnitContext
  }
): { readonly draft: Omit<RunFinished, 'run' | 'n'>; readonly more: Completed } {
  const response = bare(settled)
  const isCancelled = state.cancelled !== undefined
  const status = response.success ? 'done' : isCancelled ? 'cancelled' : 'failed'
  const journalHash = state.journalHash as Hash
  const draft = { k: 'run.finished', at, status, response, journalHash } as const
  if (!response.success) {
    return { draft, more: { evidence: runEvidence(begun(state.started), draft, state) } }
  }
  // A plan's result holds those of all its nodes: entry and receipt have one text of it.
  const dataText = canonicalize(response.data)
  const known = { get: (value: object) => (value === response.data ? dataText : undefined) }
  return { draft, more: { unit: completedUnit(state, dataText, context), known } }
}
