import type { AttemptKey } from '../block/index.js'
import type { Hash, IdentityId } from '../core/index.js'
import {
  type Store,
  type SubjectKeys,
  type VerifiedReceipt,
  type VerifyOptions,
  verifyLedger
} from '../ledger/index.js'
import { Auditor } from './auditor.js'
import type { CodeSource } from './code-source.js'
import type { Difference } from './difference.js'
import type { RecordedCalls, RecordingReplay } from './recording-replay.js'
import type { AuditFailure } from './report.js'
import type { ParsedRecording, RecordOptions, RunRecording } from './run-recording.js'
import { hooksOf } from './verify.js'

/** What doing one receipt again gave (P2). */
export interface ReceiptReplay {
  readonly index: number
  readonly receiptHash: Hash
  /** Whether it was executed again, twice, to the recorded result and changes. */
  readonly ok: boolean
  readonly failure?: AuditFailure
  /** As in a report of a verification. */
  readonly difference?: Difference
  readonly notChecked: readonly string[]
}

// Ends a pass over a ledger that has seen enough.
const ENOUGH = { field: 'enough', signed: '', computed: '' } as const

/**
 * Executes one receipt again, twice, on the state and the run that led to it. Undefined when the
 * ledger has no such receipt; a failure at an earlier receipt is reported as it is.
 */
export async function replayReceipt(options: {
  readonly store: Store
  readonly identity: IdentityId
  readonly code: CodeSource
  /** Opens what is under keys of subjects. */
  readonly subjects?: SubjectKeys | undefined
  readonly key?: VerifyOptions['key']
  readonly which: Hash | number
}): Promise<ReceiptReplay | undefined> {
  const { store, identity, subjects, key, code, which } = options
  const isWanted = ({ index, receipt }: VerifiedReceipt) =>
    typeof which === 'number' ? index === which : receipt.receiptHash === which
  const auditor = new Auditor({ code, identity, executions: 2, isWanted })
  let found: { readonly index: number; readonly receiptHash: Hash } | undefined
  const { hooks, found: differing } = hooksOf(auditor)
  const { onItem, onReceipt } = hooks
  const { failure } = await verifyLedger({
    ...{ store, identity, subjects, key },
    ...(onItem === undefined ? {} : { onItem }),
    onReceipt: async (verified) => {
      const problem = await onReceipt?.(verified)
      if (!isWanted(verified)) return problem
      found = { index: verified.index, receiptHash: verified.receipt.receiptHash }
      return problem ?? ENOUGH
    }
  })
  if (found === undefined) return undefined
  const isDone = failure === undefined || failure.field === ENOUGH.field
  const difference = differing()
  return {
    ...found,
    ok: isDone && auditor.reexecuted === 1,
    ...(isDone ? {} : { failure }),
    ...(difference === undefined ? {} : { difference }),
    notChecked: auditor.finish()
  }
}

/**
 * The state after receipt `upTo` (from 0), by folding verified write sets: key to canonical JSON,
 * undefined where the value is withheld. Stops at the first thing that is wrong, which it names.
 */
export async function reconstructState(options: {
  readonly store: Store
  readonly identity: IdentityId
  readonly key?: VerifyOptions['key']
  readonly upTo: number
}): Promise<{
  readonly state: ReadonlyMap<string, string | undefined>
  /** Receipts that were folded. */
  readonly receipts: number
  readonly failure?: AuditFailure
}> {
  const { store, identity, key, upTo } = options
  const state = new Map<string, string | undefined>()
  let receipts = 0
  const { failure } = await verifyLedger({
    ...{ store, identity, key },
    onReceipt: ({ index, changes }) => {
      if (index > upTo) return ENOUGH
      for (const { key, text } of changes) {
        if (text === null) state.delete(key)
        else state.set(key, text)
      }
      receipts = index + 1
      return undefined
    }
  })
  const isWhole = failure === undefined || failure.field === ENOUGH.field
  return { state, receipts, ...(isWhole ? {} : { failure }) }
}

// Opening a ledger loads this file, and needs nothing of recordings.

/**
 * Reads one run out of a ledger, which is verified up to the end of the run meanwhile. Undefined
 * when it has no such run; what is wrong with the ledger before that is named in `missing`.
 */
export async function recordRun(options: RecordOptions): Promise<RunRecording | undefined> {
  return (await import('./run-recording.js')).recordRun(options)
}

/** A recording as text, with a line for each value of the state and for each entry. */
export async function recordingText(recording: RunRecording): Promise<string> {
  return (await import('./run-recording.js')).encodeRecording(recording)
}

/** The recording that a text is, read strictly. */
export async function recordingIn(text: string): Promise<ParsedRecording> {
  return (await import('./run-recording.js')).parseRecording(text)
}

/**
 * Does a recorded run again with the code at hand, twice: its entries go through the charts, and
 * code is executed with the recorded responses. Nothing is performed. Stops where it first differs.
 * `narrowed` is the recording with no more of the state than was read.
 */
export async function replayRecording(
  recording: RunRecording,
  code: CodeSource
): Promise<{ readonly replay: RecordingReplay; readonly narrowed: RunRecording }> {
  return (await import('./recording-replay.js')).replayRecording(recording, code)
}

/**
 * What one attempt of a recorded run asked for: its code is executed again, as far as its answers
 * lead, and nothing before it but the steps of an overlay that it is in.
 */
export async function callsInRecording(
  recording: RunRecording,
  code: CodeSource,
  place: AttemptKey
): Promise<RecordedCalls> {
  return (await import('./recording-replay.js')).callsInRecording(recording, code, place)
}
