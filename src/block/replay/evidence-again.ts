import type { Json, JsonObject } from '../../core/index.js'
import type { EvidenceDraft } from '../journal.js'
import type { JournalEntry, ScopeEnded, WaitBegun } from '../run/entries.js'
import { endCode } from '../run/overlay-tasks.js'
import type { RootBlock } from '../run/root-block.js'
import { runUnitId, unitIdOf } from '../run/unit-ids.js'
import type { ReplayState } from './replay-state.js'

/** What evidence beside an entry says: whose it is, over which journal, and why. */
export type EvidenceAgain = Omit<EvidenceDraft, 'at' | 'payloadText' | 'details'> & {
  readonly payload: Json
  readonly details: JsonObject
}

export function evidenceAgain(
  entry: JournalEntry,
  state: ReplayState,
  root: RootBlock
): EvidenceAgain | undefined {
  switch (entry.k) {
    case 'scope':
      return scopeEvidence(entry, state)
    case 'wait':
      return releaseEvidence(entry, state)
    case 'run.finished': {
      const { reason = 'failed', details } = entry.response
      const { sent, cancelled } = state
      const outside = cancelled?.withoutCode === true ? sent : state
      return {
        type: reason === 'denied' ? 'denial' : 'failure',
        unitId: runUnitId(state.runId),
        action: root.name,
        payload: state.started?.input ?? null,
        landed: outside.landed,
        journalHash: entry.journalHash,
        code: reason,
        details: { ...details, in_doubt: [...outside.inDoubt] }
      }
    }
    default:
      return undefined
  }
}

function scopeEvidence(
  entry: ScopeEnded,
  { runId, scopes }: ReplayState
): EvidenceAgain | undefined {
  const { path, step, response, left = [] } = entry
  const scope = scopes.get(path)
  if (scope === undefined) return undefined
  return {
    type: entry.outcome === 'released' ? 'failure' : 'abort',
    unitId: unitIdOf(runId, path, step),
    action: scope.ask.block,
    payload: scope.ask.request.payload,
    landed: scope.outside.references(left),
    code: endCode(entry),
    details: {
      ...response.details,
      ...(left.length === 0 ? {} : { left: left.map((one) => ({ ...one })) })
    }
  }
}

/** A deferred step failed for good, and waits for a decision. */
function releaseEvidence({ path, step }: WaitBegun, state: ReplayState): EvidenceAgain {
  const { response } = state.decisions.get(path) ?? {}
  const parent = state.errandsAt(path)?.parentReceipt ?? null
  return {
    type: 'failure',
    unitId: unitIdOf(state.runId, path, step),
    action: 'step.deferred',
    payload: { parent, path },
    landed: state.landedAt(path),
    code: response?.reason ?? 'failed',
    details: response?.details ?? {}
  }
}
