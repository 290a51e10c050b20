import { isTallyError, ledgerError, limits, systemClock } from '../../core/index.js'
import { inspectLocation } from '../../ledger/index.js'
import { connectOwner, type OwnerClient } from '../../owner/index.js'
import type { Frame } from './frame.js'

/**
 * Asks the process that holds the ledger, or does the work here when none does. Commands that
 * open the ledger at once take turns. Throws `ledger.not_found`, `ledger.locked` after a while, and
 * what the work throws.
 */
export async function atHolder<Result>(
  frame: Frame,
  work: {
    readonly owner: (owner: OwnerClient, realPath: string) => Promise<Result>
    readonly here: (directory: string) => Promise<Result>
  }
): Promise<Result> {
  const { directory, identity } = frame
  for (const end = systemClock.now() + limits.LOCK_WAIT_MS; ; ) {
    try {
      const found = await inspectLocation(directory)
      if (found === undefined) throw ledgerError('ledger.not_found', { path: directory })
      const owner = await connectOwner(found.realPath, { identity }).catch((error: unknown) => {
        throw openAsAnother(frame, error)
      })
      return await (owner === undefined ? work.here(directory) : work.owner(owner, found.realPath))
    } catch (error) {
      if (!isPassing(error) || systemClock.now() >= end) throw error
      await pause(limits.LOCK_POLL_MS)
    }
  }
}

/** A process that has the ledger open for one of its identities answers for no other. */
function openAsAnother({ identity, directory: path }: Frame, error: unknown): unknown {
  const isOther = isTallyError(error, 'owner.wrong_ledger') && error.context.expected === identity
  if (!isOther) return error
  const problem = `a process has it open as ${error.context.actual}`
  return ledgerError('ledger.locked', { path, problem }, { cause: error })
}

/** The holder of the ledger is about to let go of it. */
function isPassing(error: unknown): boolean {
  return isTallyError(error, 'ledger.locked') || isTallyError(error, 'owner.disconnected')
}

async function pause(durationMs: number): Promise<void> {
  await new Promise<void>((resolve) => {
    systemClock.schedule(systemClock.now() + durationMs, resolve)
  })
}

/** Uses a connection once. */
export async function once<Result>(
  owner: OwnerClient,
  use: (owner: OwnerClient) => Promise<Result>
): Promise<Result> {
  try {
    return await use(owner)
  } finally {
    owner.close()
  }
}
