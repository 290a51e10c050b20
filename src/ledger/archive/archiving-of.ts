import type { CommitQueue } from '../commit/queue.js'
import type { QueuedItem } from '../commit/queued-item.js'
import { codesOf } from '../derived/codes.js'
import { codedForm } from '../derived/record-form.js'
import type { LedgerParts } from '../ledger-parts.js'
import type { PastLedger } from '../past/past-types.js'
import { Archiving } from './archiving.js'
import type { ArchivingParts } from './archiving-parts.js'

/** Archiving of a ledger that was opened with these parts; without the key nothing is archived. */
export function archivingOf(
  parts: LedgerParts,
  queue: CommitQueue<QueuedItem>,
  given: Pick<ArchivingParts, 'signer' | 'commits' | 'settle' | 'behind'> & {
    past(): Promise<Pick<PastLedger, 'cover'>>
  }
): Archiving {
  const { store, keys, identity, derived, blobKey, readOnly, archived: history } = parts
  const form = blobKey === undefined || readOnly ? undefined : codedForm(codesOf(blobKey))
  const hold = () => queue.hold()
  const release = () => queue.release()
  const settle = async () => {
    await given.settle()
    // An index of writes that somebody has asked for cannot be continued over what is removed.
    if (store.get(keys.writes) !== undefined) await (await given.past()).cover()
  }
  const { signer, commits, behind } = given
  const own = { signer, commits, behind, settle, hold, release }
  return new Archiving({ store, keys, identity, derived, form, history, ...own })
}
