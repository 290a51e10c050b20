import { type IdentityId, ledgerError, type TallyError } from '../../core/index.js'
import { sourceStore } from '../archive/asked.js'
import { StoreKeys } from '../keys.js'
import { removeDerived } from '../open/derived-records.js'
import { copyOthers } from '../other-identities.js'
import type { Store } from '../stores/port.js'
import type { SubjectKeys } from '../subject/subject-keys.js'
import { VerificationKey } from '../verify/key.js'
import type { GivenNote, VerificationReport } from '../verify/report.js'
import { verifyLedger } from '../verify/verify.js'
import { copyPrefix, keptCommits } from './prefix.js'

export interface RepairOptions {
  /** The damaged store; only its derived records are ever changed. */
  readonly store: Store
  readonly identity: IdentityId
  /** Notes from outside, as for a verification. */
  readonly notes?: readonly GivenNote[]
  /** Where it is known, what is kept holds no forged journal of an open run. */
  readonly blobKey?: Uint8Array | undefined
  /** Opens what is under keys of subjects. */
  readonly subjects?: SubjectKeys | undefined
  /** The store holds what a damaged database still had: it is made again, whatever it says. */
  readonly isSalvaged?: boolean
  /** Paths of all archives of the ledger: what is kept has their history, and none is archived. */
  readonly archives?: readonly string[]
  /**
   * Allows the chain to be cut: an empty store, which gets the longest verified prefix and all
   * other identities byte for byte. The caller then switches the location to it (L9) and keeps the
   * old one.
   */
  readonly target?: Store
  /** Continues although a note from outside proves that records beyond the prefix existed. */
  readonly acknowledgeNotes?: boolean
}

export type RepairOutcome =
  /** Everything verifies; open the ledger again. */
  | { readonly kind: 'clean'; readonly report: VerificationReport }
  /** Only derived records were wrong; they are removed and made again by the next open. */
  | { readonly kind: 'derived'; readonly report: VerificationReport }
  /** The target holds the verified prefix; with archives it may be all there was. */
  | {
      readonly kind: 'cut'
      readonly report: VerificationReport
      readonly commits: number
      readonly receipts: number
      /** Commit records left behind in the old store, or that its head has and that are gone. */
      readonly lostCommits: number
    }

/** See the function of this name in `asked.ts`. */
export async function repairLedger(options: RepairOptions): Promise<RepairOutcome> {
  const { store, identity, notes = [], target, blobKey, subjects } = options
  const { archives = [], isSalvaged = false } = options
  const key = blobKey && new VerificationKey(blobKey)
  const given = { identity, notes, key, subjects }
  const report = await verifyLedger({ store, ...given })
  const { failure } = report
  const keys = new StoreKeys(identity)
  if (failure === undefined && !isSalvaged) return { kind: 'clean', report }
  const at = failure === undefined ? 'its database' : `receipt ${failure.index}, ${failure.field}`
  if (archives.length === 0 && (await hasArchived(store, keys))) {
    throw refused(`${at} is wrong, and history is archived: ${withArchives}`)
  }
  if (archives.length === 0 && !isSalvaged && isOfDerived(failure, keys)) {
    await removeDerived(store, keys, { ofRuns: true })
    return { kind: 'derived', report }
  }
  if (target === undefined) throw refused(`verification failed at ${at}`)
  const source = await sourceStore(store, identity, archives)
  const kept = await verifyLedger({ store: source, ...given })
  checkNotes(kept, notes, options.acknowledgeNotes ?? false)
  const verified = kept.failure?.commit ?? Number.POSITIVE_INFINITY
  const prefix = { store: source, keys, identity, subjects, commits: verified }
  const commits = await keptCommits(prefix)
  if (commits < verified && notes.length > 0 && options.acknowledgeNotes !== true) {
    throw refused('what stands before a lost value is less than the notes cover')
  }
  const copied = await copyPrefix({ ...prefix, commits }, target)
  await copyOthers(store, target, keys)
  return { kind: 'cut', report: kept, ...copied }
}

function isOfDerived(failure: VerificationReport['failure'], keys: StoreKeys): boolean {
  const { field = '', key = '' } = failure ?? {}
  return field.startsWith('derived') || (field === 'store' && keys.isDerived(key))
}

const withArchives =
  'give all archives, to make the ledger again in a new directory (--cut --archive FILE)'

function refused(problem: string): TallyError {
  return ledgerError('ledger.not_recoverable', { problem })
}

/** Whether history is archived; where the record of it is lost, those of archived runs say so. */
async function hasArchived(store: Store, keys: StoreKeys): Promise<boolean> {
  if (store.get(keys.archived) !== undefined) return true
  for (const range of [keys.archivedRuns(), keys.archivedRunsPages()]) {
    for await (const _ of store.entries(range)) return true
  }
  return false
}

function checkNotes(
  report: VerificationReport,
  notes: readonly GivenNote[],
  acknowledged: boolean
): void {
  if (acknowledged || notes.length === 0) return
  const covered = report.anchored.notes.filter(({ ok }) => ok).length
  if (covered === notes.length) return
  throw refused(`${notes.length - covered} notes are not covered by what would be kept`)
}
