import { auditError, elapsedMs, type IdentityId } from '../core/index.js'
import {
  type GivenNote,
  type KeptPlace,
  noNoteGiven,
  type Store,
  type VerificationReport as StructuralReport,
  storedMarks,
  type VerifyOptions,
  verifyLedger
} from '../ledger/index.js'
import { Auditor } from './auditor.js'
import type { CodeSource } from './code-source.js'
import { type Difference, differenceOfItem, differenceOfReceipt } from './difference.js'
import { type VerificationReport, verificationLine } from './report.js'

export interface DeepVerifyOptions {
  readonly store: Store
  readonly identity: IdentityId
  /** The blocks and documents that are registered; needed to execute again. */
  readonly code?: CodeSource
  /** Executes again what receipts say was executed. Default: when `code` is given. */
  readonly reexecute?: boolean
  /** How often; more than once compares the executions with one another too (P2). Default 1. */
  readonly executions?: number
  /** Notes from outside the ledger's own directory (P5). */
  readonly notes?: readonly GivenNote[]
  /** Where the ledger stood when it was closed last (K10). */
  readonly kept?: KeptPlace | undefined
  /** With it journals of open runs, and codes of derived records, are checked too (L12). */
  readonly key?: VerifyOptions['key']
  /** Opens what is under keys of subjects; `key` may have them too. */
  readonly subjects?: VerifyOptions['subjects']
}

/**
 * Verifies a whole ledger: hashes, links, signatures, roots, journals, state, notes; and, with the
 * code at hand, by doing every run again (semantics.md P1). Never throws for bad data: the report
 * names the first thing that is wrong, and what was not checked.
 */
export async function verifyLedgerDeep(options: DeepVerifyOptions): Promise<VerificationReport> {
  const began = elapsedMs()
  const { store, identity, code, notes = [], kept, key, subjects } = options
  const { executions = 1 } = options
  const isAsked = options.reexecute ?? code !== undefined
  // Without the archives what runs have begun with is not here.
  const isWanted = isAsked && store.get(`${identity}/archived`) === undefined
  if (isAsked && code === undefined) throw auditError('audit.no_code', {})
  const auditor =
    isWanted && code !== undefined ? new Auditor({ code, identity, executions }) : undefined
  const hooks = auditor === undefined ? undefined : hooksOf(auditor)
  const before = chainHeadOf(store, identity)
  const structural = await verifyLedger({
    store,
    identity,
    notes,
    kept,
    ...{ key, subjects },
    ...(hooks === undefined ? {} : hooks.hooks)
  })
  const isMoved = before !== chainHeadOf(store, identity)
  const quarantined = await storedMarks(store, identity)
  const difference = hooks?.found()
  const isNoted = notes.length > 0
  return reportOf({ structural, auditor, isMoved, isNoted, began, quarantined, difference })
}

/** An auditor as a verification calls it, and the difference that ended the verification. */
export interface AuditHooks {
  readonly hooks: Pick<Parameters<typeof verifyLedger>[0], 'onItem' | 'onReceipt'>
  found(): Difference | undefined
}

export function hooksOf(auditor: Auditor): AuditHooks {
  let difference: Difference | undefined
  return {
    hooks: {
      onItem: async (item) => {
        const verdict = await auditor.item(item)
        if (verdict !== undefined) difference = differenceOfItem(verdict, item)
        return verdict
      },
      onReceipt: async (receipt) => {
        if (receipt.isClosed) {
          // What it has changed is known by hashes alone: who reads it is not executed again.
          auditor.elsewhere(receipt.changes, receipt.stateBefore)
          return undefined
        }
        const verdict = await auditor.receipt(receipt)
        if (verdict !== undefined) difference = differenceOfReceipt(verdict, receipt)
        return verdict
      }
    },
    found: () => difference
  }
}

// What is written while a verification reads may be newer than the commits that it has read.
const moving = /^(state|derived|head)(\.|$)/

/** Commit records and blobs are never written again; slices of indexes replace one another. */
function mayMove({ field, key = '' }: NonNullable<StructuralReport['failure']>): boolean {
  return (
    moving.test(field) ||
    (field === 'store' &&
      /^[^/]*\/(chain|checkpoint|index|run|state|tile|visits|writes)\//.test(key))
  )
}

function reportOf(found: {
  readonly structural: StructuralReport
  readonly auditor: Auditor | undefined
  readonly isMoved: boolean
  readonly isNoted: boolean
  readonly began: number
  readonly quarantined: VerificationReport['quarantined']
  readonly difference: Difference | undefined
}): VerificationReport {
  const { structural, auditor, isMoved, isNoted, began, quarantined, difference } = found
  const { failure } = structural
  const isOvertaken = isMoved && failure !== undefined && mayMove(failure)
  const notChecked = structural.notChecked.filter((text) => text !== 'everything after the failure')
  if (auditor !== undefined) notChecked.push(...auditor.finish())
  if (!isNoted) notChecked.push(noNoteGiven)
  if (isOvertaken) notChecked.push('state entries and indexes: written to while being read')
  else if (failure !== undefined) notChecked.push('everything after the failure')
  const { failure: _, ...rest } = structural
  const isOk = failure === undefined || isOvertaken
  const report = {
    ...rest,
    ok: isOk,
    complete: isOk && auditor?.isComplete(structural.receipts) === true,
    reexecuted: auditor?.reexecuted ?? 0,
    reexecutedFailures: auditor?.failures.reexecuted ?? 0,
    reexecutedByProfile: auditor?.reexecutedByProfile ?? {},
    elapsedMs: elapsedMs() - began,
    ...(failure === undefined || isOvertaken ? {} : { failure }),
    ...(difference === undefined ? {} : { difference }),
    quarantined,
    anchored: { ...structural.anchored, source: sourceOf(structural) },
    notChecked
  }
  return { ...report, line: verificationLine(report) }
}

function sourceOf({ anchored }: StructuralReport): string | null {
  const { upTo, notes } = anchored
  return notes.find(({ ok, size }) => ok && size === upTo)?.source ?? null
}

/** Head and watermark of the derived records as stored: changed when the ledger was written to. */
function chainHeadOf(store: Store, identity: IdentityId): string {
  const texts = ['head', 'derived'].map((name) => {
    const value = store.get(`${identity}/${name}`)
    return value === undefined ? '' : Buffer.from(value).toString('latin1')
  })
  return texts.join('\n')
}
