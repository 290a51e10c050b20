import type { CodeSource } from '../../audit/index.js'
import { stateOf } from '../../capability/index.js'
import { type Clock, isTallyError, runtimeError, systemClock } from '../../core/index.js'
import { VERSIONS_KEY, type Versions, versionsIn } from '../../intent/index.js'
import type { Ledger } from '../../ledger/index.js'
import { checkLastReceipt, type LastReceiptFound } from '../audit/boot-replay.js'
import type { Packages } from '../code/packages.js'
import { forgedJournal, forgedOpenJournal } from '../run/own-journal.js'
import type { IntegrityLock } from './integrity-lock.js'
import type { OpeningCause } from './opening-remedies.js'

/** What was found when a ledger was opened, or looked at as opening does. */
export interface OpeningFound extends LastReceiptFound {
  /** All causes of safe mode; opening names the first. */
  readonly causes: readonly OpeningCause[]
  /** What could not be checked, or was not because of an earlier cause. */
  readonly notChecked: readonly string[]
}

/** By which clock opening waits for the last receipt; that of the system unless one is given. */
export interface OpeningTime {
  readonly clock?: Clock
}

/**
 * What is checked when a ledger is opened, before anything is done (K10): the versions that have
 * used it, its integrity lock, the bytes of its packages, the journals of open runs, and its last
 * receipt, which is executed again. The chain was checked by opening it. The first cause puts the
 * ledger into safe mode; a receipt that comes out otherwise is returned.
 */
export async function checkOpening(
  opened: OpeningTime & {
    readonly ledger: Ledger
    readonly lock: IntegrityLock
    readonly packages: Packages
    readonly code: CodeSource
    readonly versions: Versions
  }
): Promise<OpeningFound> {
  const { ledger, lock, packages, code, versions, clock = systemClock } = opened
  const causes: OpeningCause[] = []
  const notChecked: string[] = []
  const found = (cause: OpeningCause | undefined) => {
    if (cause === undefined) return
    causes.push({ code: cause.code, message: cause.message })
    ledger.enterSafeMode(cause)
  }
  // What cannot be read is damaged (L4).
  const check = async (looks: () => Promise<OpeningCause | undefined>) => {
    try {
      found(await looks())
    } catch (error) {
      if (!isTallyError(error)) throw error
      if (!causes.some(({ message }) => message === error.message)) found(error)
    }
  }
  const { mode, cause: broken } = ledger.state()
  if (mode === 'safe') found(broken)
  else await check(async () => laterVersions(ledger, versions))
  if (causes.length > 0) notChecked.push('the integrity lock')
  else await check(() => lock.check())
  if (!lock.isKeyed) notChecked.push('the code of the integrity lock, which needs the key')
  await check(async () => {
    await packages.arrange()
    return packages.damage
  })
  const openJournals = 'the journals of open runs'
  if (!lock.isKeyed) notChecked.push(`${openJournals}, which need the key`)
  else if (mode === 'safe') notChecked.push(openJournals)
  else await check(() => forgedOpenJournal(ledger))
  if (causes.length > 0) {
    return { causes, notChecked: [...notChecked, 'the last receipt'], warnings: [] }
  }
  const last = await checkLastReceipt({ ledger, code, clock })
  const { cause } = ledger.state()
  if (cause !== undefined) found(cause)
  else if (last.difference !== undefined && lock.isKeyed) {
    found(await forgedJournal(ledger, last.difference.run))
  }
  return { ...last, causes, notChecked }
}

/** A ledger that a later kernel has used; what it has written may mean something else here. */
function laterVersions(ledger: Ledger, versions: Versions): OpeningCause | undefined {
  const recorded = versionsIn(stateOf(ledger).get(VERSIONS_KEY))
  const [theirs = '', ours = ''] = [recorded['kernel'], versions['kernel']]
  if (Number(theirs) <= Number(ours)) return undefined
  return runtimeError('runtime.newer_versions', { theirs, ours })
}
