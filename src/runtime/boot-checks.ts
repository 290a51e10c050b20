import type { CodeSource } from '../audit/index.js'
import type { Ledger } from '../ledger/index.js'
import { checkLastReceipt, type LastReceiptFound } from './boot-replay.js'
import type { IntegrityLock } from './integrity-lock.js'
import type { Packages } from './packages.js'

/**
 * What is checked when a ledger is opened, before anything is done (K10): its integrity lock, the
 * bytes of its packages, and the last receipt, which is done again. Bytes that are wrong are safe
 * mode; what came out otherwise, or could not be compared, is returned.
 */
export async function checkAtBoot(opened: {
  readonly ledger: Ledger
  readonly lock: IntegrityLock
  readonly packages: Packages
  readonly code: CodeSource
}): Promise<LastReceiptFound> {
  const { ledger, lock, packages, code } = opened
  const isSafe = ledger.state().mode === 'safe'
  const cause = isSafe ? undefined : await lock.check()
  if (cause !== undefined) ledger.enterSafeMode(cause)
  await packages.arrange()
  return checkLastReceipt({ ledger, code })
}
