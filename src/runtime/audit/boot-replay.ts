import {
  type CodeSource,
  type Difference,
  type LastReceiptReplay,
  replayLastReceipt
} from '../../audit/index.js'
import { type Clock, isTallyError, limits, runtimeError } from '../../core/index.js'
import type { Ledger } from '../../ledger/index.js'

/**
 * Does the last receipt again when a ledger is opened (K10).
 *
 * Owns: nothing. A difference is returned, and its run quarantined (L14); whatever could not be
 * compared (code that is not registered, withheld bodies, another engine, a run that is too long)
 * is a warning, which it returns, and no more.
 */
export async function checkLastReceipt(options: {
  readonly ledger: Ledger
  readonly code: CodeSource
  readonly clock: Clock
}): Promise<LastReceiptFound> {
  const { ledger, clock } = options
  if (ledger.state().mode === 'safe') return nothing
  let found: LastReceiptReplay
  try {
    found = await withinBound(replayLastReceipt(options), ledger, clock)
  } catch (error) {
    if (isTallyError(error, 'run.not_executed')) return notDone(error.message)
    // What this machine lacks is no damage: the key of a subject may be elsewhere, or erased.
    if (isTallyError(error, 'ledger.erased')) return notDone(error.message)
    // What cannot be read is damaged (L4).
    if (!isTallyError(error)) throw error
    ledger.enterSafeMode({ code: error.code, message: error.message })
    return nothing
  }
  switch (found.kind) {
    case 'nothing':
    case 'same':
      return nothing
    case 'different': {
      const { verdict, difference, index } = found
      const { field, key, signed, computed } = verdict
      const about = key === undefined ? field : `${field} (${key})`
      const problem = `${about}: signed ${shown(signed)}, computed ${shown(computed)}`
      const { message } = runtimeError('runtime.replay_mismatch', { index, problem })
      return { warnings: [message], ...(difference === undefined ? {} : { difference }) }
    }
    case 'not_checked':
      return notDone(`the last receipt, ${found.index}, was not done again: ${found.why}`)
  }
}

/** What executing the last receipt again found. */
export interface LastReceiptFound {
  /** What the owner should know, in words. */
  readonly warnings: readonly string[]
  /** Why it was not executed; a warning too. */
  readonly notDone?: string
  /** Code that gave something else than what was signed. */
  readonly difference?: Difference
}

const nothing: LastReceiptFound = { warnings: [] }

function notDone(why: string): LastReceiptFound {
  return { warnings: [why], notDone: why }
}

/** Opening does not wait for slow code; what it still does is not heard. */
async function withinBound(
  replay: Promise<LastReceiptReplay>,
  ledger: Ledger,
  clock: Clock
): Promise<LastReceiptReplay> {
  const index = ledger.state().receipts - 1
  const why = `it takes longer than ${limits.BOOT_REPLAY_MS_MAX} ms`
  let callOff: () => void = () => undefined
  const late = new Promise<LastReceiptReplay>((resolve) => {
    callOff = clock.schedule(clock.now() + limits.BOOT_REPLAY_MS_MAX, () =>
      resolve({ kind: 'not_checked', index, why })
    )
  })
  replay.catch(() => undefined)
  try {
    return await Promise.race([replay, late])
  } finally {
    callOff()
  }
}

const SHOWN_LENGTH = 160

function shown(text: string): string {
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}…`
}
