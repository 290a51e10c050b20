import {
  type CodeSource,
  type Difference,
  type ReceiptReplay,
  type RunRecording,
  reconstructState,
  recordRun,
  replayReceipt,
  type VerificationReport,
  verifyLedgerDeep
} from '../../audit/index.js'
import { type Hash, type IdentityId, type RunId, TallyError } from '../../core/index.js'
import type { GivenNote, KeptPlace, Ledger, Store } from '../../ledger/index.js'

export interface VerifyOptions {
  /** Does every run again with the registered code. Default true. */
  readonly reexecute?: boolean
  /** How often each unit is executed; more than once compares the executions. Default 1. */
  readonly executions?: number
  /** Notes kept outside the ledger, as text or with the name of where they come from (P5). */
  readonly notes?: readonly (string | GivenNote)[]
}

/** The audit room over one opened ledger and what is registered. */
export interface RuntimeAudit {
  /** With the lock, unless that is what is being recovered. */
  verify(options: VerifyOptions, checks?: { readonly lock: boolean }): Promise<VerificationReport>
  replayReceipt(which: Hash | number): Promise<ReceiptReplay | undefined>
  reconstructState(upTo: number): ReturnType<typeof reconstructState>
  /** Throws `run.not_found`. */
  recording(run: string): Promise<RunRecording>
}

export function auditOf({
  found,
  failed,
  key,
  kept: keptIn,
  ...parts
}: {
  readonly store: Store
  readonly identity: IdentityId
  readonly code: CodeSource
  /** Where the ledger stood when it was closed last. */
  kept(): Promise<KeptPlace | undefined>
  /** That of the ledger. */
  readonly key: Ledger['verificationKey']
  /** Hears of what came out otherwise, before the report is given. */
  found(difference: Difference): Promise<void>
  /** Hears that a verification has failed, before its report is given. */
  failed(): Promise<void>
}): RuntimeAudit {
  const told = async <Report extends { readonly difference?: Difference }>(
    report: Report
  ): Promise<Report> => {
    if (report.difference !== undefined) await found(report.difference)
    return report
  }
  return {
    verify: async ({ notes = [], reexecute = true, ...options }, { lock } = { lock: true }) => {
      const checked = { kept: lock ? await keptIn() : undefined, notes: notes.map(given) }
      const asked = { ...parts, ...options, ...checked, key, reexecute }
      const report = await told(await verifyLedgerDeep(asked))
      if (!report.ok) await failed()
      return report
    },
    replayReceipt: async (which) => {
      const replayed = await replayReceipt({ ...parts, which })
      return replayed === undefined ? undefined : told(replayed)
    },
    reconstructState: (upTo) => reconstructState({ ...parts, upTo }),
    recording: async (run) => {
      const recording = await recordRun({ ...parts, run: run as RunId, key })
      if (recording === undefined) throw new TallyError('run.not_found', { runId: run })
      return recording
    }
  }
}

function given(note: string | GivenNote, index: number): GivenNote {
  return typeof note === 'string' ? { source: `note ${index + 1}`, text: note } : note
}
