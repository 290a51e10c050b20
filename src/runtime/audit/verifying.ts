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
import {
  blockError,
  type Clock,
  type Hash,
  type IdentityId,
  limits,
  type RunId,
  systemClock
} from '../../core/index.js'
import {
  archivedIn,
  type GivenNote,
  type KeptPlace,
  type Ledger,
  type Store,
  watchedStore,
  wholeStore
} from '../../ledger/index.js'
import type { RunningTelemetry } from '../../telemetry/index.js'

/** What a verification does beside checking hashes, links and signatures. */
export interface VerifyOptions {
  /** Does every run again with the registered code. Default true. */
  readonly reexecute?: boolean
  /** How often each unit is executed; more than once compares the executions. Default 1. */
  readonly executions?: number
  /** Notes kept outside the ledger, as text or with the name of where they come from (P5). */
  readonly notes?: readonly (string | GivenNote)[]
  /**
   * Paths of all archives of the ledger: then it is verified as if nothing had been archived.
   * Rejects with `archive.*` for a file that is not one of them.
   */
  readonly archives?: readonly string[]
}

interface WatchedVerify extends VerifyOptions {
  /** Called with each commit record that is read. */
  readonly onRecord?: (() => void) | undefined
}

/** The audit room over one opened ledger and what is registered. */
export interface RuntimeAudit {
  /** With the lock, unless that is what is being recovered. */
  verify(options: WatchedVerify, checks?: { readonly lock: boolean }): Promise<VerificationReport>
  /** Verifies a ledger that is being written. */
  verifySteadily(options: WatchedVerify): Promise<VerificationReport>
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
  telemetry,
  clock,
  ...parts
}: {
  readonly store: Store
  readonly identity: IdentityId
  readonly code: CodeSource
  /** Where the ledger stood when it was closed last. */
  kept(): Promise<KeptPlace | undefined>
  /** That of the ledger. */
  readonly key: Ledger['verificationKey']
  readonly telemetry: RunningTelemetry | undefined
  readonly clock: Clock
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
  const verify: RuntimeAudit['verify'] = async (asked, { lock } = { lock: true }) => {
    const { notes = [], reexecute = true, onRecord, archives, ...options } = asked
    const { identity } = parts
    const whole =
      archives === undefined ? parts.store : await wholeStore(parts.store, identity, archives)
    const store = onRecord === undefined ? whole : watchedStore(whole, identity, onRecord)
    const checked = { kept: lock ? await keptIn() : undefined, notes: notes.map(given) }
    const from = clock.now()
    const report = await told(
      await verifyLedgerDeep({ ...parts, ...options, ...checked, store, key, reexecute })
    )
    const { ok: isOk, receipts } = report
    telemetry?.verified({ isOk, receipts, from, to: clock.now() })
    if (!report.ok) await failed()
    return report
  }
  // These do everything again from the first receipt on.
  const checkWhole = () => {
    const archived = archivedIn(parts.store, parts.identity)
    if (archived !== undefined) throw archived
  }
  return {
    verify,
    verifySteadily: (options) => steadily(() => verify(options)),
    replayReceipt: async (which) => {
      checkWhole()
      const replayed = await replayReceipt({ ...parts, key, which })
      return replayed === undefined ? undefined : told(replayed)
    },
    reconstructState: async (upTo) => {
      checkWhole()
      return reconstructState({ ...parts, key, upTo })
    },
    recording: async (run) => {
      checkWhole()
      const recording = await recordRun({ ...parts, run: run as RunId, key })
      if (recording === undefined) throw blockError('run.not_found', { runId: run })
      return recording
    }
  }
}

function given(note: string | GivenNote, index: number): GivenNote {
  return typeof note === 'string' ? { source: `note ${index + 1}`, text: note } : note
}

/** What a commit under way makes look wrong is not found twice in the same place. */
async function steadily(verify: () => Promise<VerificationReport>): Promise<VerificationReport> {
  let report = await verify()
  for (let attempt = 1; attempt < limits.VERIFY_ATTEMPTS_MAX && !report.ok; attempt += 1) {
    const seen = JSON.stringify(report.failure)
    await new Promise<void>((resolve) => {
      systemClock.schedule(systemClock.now() + limits.VERIFY_PAUSE_MS, resolve)
    })
    report = await verify()
    if (JSON.stringify(report.failure) === seen) return report
  }
  return report
}
