import { canonicalize, type JsonObject, type RunId } from '../../core/index.js'
import type { DecisionCommand } from '../chart/protocol.js'
import type { OverlayEnded, RunFinished, RunStarted } from './entries.js'
import type { EvidenceDraft, SealedReference } from './journal.js'
import { endCode } from './overlay-tasks.js'
import type { OpenOverlay, RunState } from './run-state.js'
import { runUnitId, unitIdOf } from './unit.js'

/** What stands beside the entries of what did not succeed; live and in verification the same. */

/** Of a run that did not end well, with what landed outside all the same (formats.md §3). */
export function runEvidence(
  { run, name, input }: RunStarted,
  { response, journalHash, at }: Pick<RunFinished, 'response' | 'journalHash' | 'at'>,
  outside: {
    readonly landed: readonly SealedReference[]
    readonly inDoubt: readonly JsonObject[]
  },
  isPrivate: boolean
): EvidenceDraft {
  return {
    type: response.reason === 'denied' ? 'denial' : 'failure',
    unitId: runUnitId(run as RunId),
    action: name,
    payloadText: canonicalize(input),
    landed: outside.landed,
    journalHash,
    code: response.reason ?? 'failed',
    details: { ...response.details, in_doubt: [...outside.inDoubt] },
    isPrivate,
    // Of a run that was cancelled they are the caller's words.
    areDetailsPrivate: isPrivate && response.reason !== 'cancelled',
    at
  }
}

/** Of an overlay that was rolled back, or whose steps that were put off are not all done (C4). */
export function overlayEvidence(
  { runId, root }: Pick<RunState, 'runId' | 'root'>,
  { ask, outside }: Pick<OpenOverlay, 'ask' | 'outside'>,
  ended: Pick<OverlayEnded, 'path' | 'step' | 'response' | 'at' | 'outcome' | 'left'>
): EvidenceDraft {
  const { path, step, response, left = [], at, outcome } = ended
  return {
    type: outcome === 'released' ? 'failure' : 'abort',
    unitId: unitIdOf(runId, path, step),
    action: ask.block,
    payloadText: canonicalize(ask.request.payload),
    landed: outside.references(left),
    code: endCode(ended),
    details: {
      ...response.details,
      ...(left.length === 0 ? {} : { left: left.map((one) => ({ ...one })) })
    },
    isPrivate: root.isPrivate(),
    areDetailsPrivate: root.isPrivate(),
    at
  }
}

/** Of a step that was put off and failed for good: its composite's promise is not kept yet. */
export function releaseEvidence(
  state: RunState,
  { path, step, response }: DecisionCommand,
  at: number
): EvidenceDraft {
  const parent = state.tasksAt(path)?.parentReceipt ?? null
  return {
    type: 'failure',
    unitId: unitIdOf(state.runId, path, step),
    action: 'step.deferred',
    payloadText: canonicalize({ parent, path }),
    landed: state.appliedAt(path),
    code: response.reason ?? 'failed',
    details: response.details ?? {},
    isPrivate: state.root.isPrivate(),
    areDetailsPrivate: state.root.isPrivate(),
    at
  }
}
