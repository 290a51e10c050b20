import { isTallyError, limits, systemClock, TallyError } from '../../core/index.js'
import { connectOwner, inspectLocation, type OwnerClient } from '../../ledger/index.js'
import type { Frame } from './frame.js'

/**
 * Asks whoever holds the ledger, or does the work here when nobody does. Commands that open the
 * ledger at once take turns. Throws `ledger.not_found`, `ledger.locked` after a while, and what the
 * work throws.
 */
export async function atHolder<Result>(
  frame: Frame,
  work: {
    readonly owner: (owner: OwnerClient, realPath: string) => Promise<Result>
    readonly here: (directory: string) => Promise<Result>
  }
): Promise<Result> {
  const { directory } = frame
  for (const end = systemClock.now() + limits.LOCK_WAIT_MS; ; ) {
    const found = await inspectLocation(directory)
    if (found === undefined) throw new TallyError('ledger.not_found', { path: directory })
    const owner = await connectOwner(found.realPath)
    if (owner !== undefined) return work.owner(owner, found.realPath)
    try {
      return await work.here(directory)
    } catch (error) {
      if (!isTallyError(error, 'ledger.locked') || systemClock.now() >= end) throw error
      await pause(limits.LOCK_POLL_MS)
    }
  }
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
