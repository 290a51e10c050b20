import { type CodeSource, type LastReceiptReplay, replayLastReceipt } from '../audit/index.js'
import { isTallyError, limits, systemClock, TallyError } from '../core/index.js'
import type { Ledger } from '../ledger/index.js'

/**
 * Does the last receipt again when a ledger is opened (K10).
 *
 * Owns: nothing. A difference puts the ledger into safe mode; whatever could not be compared (code
 * that is not registered, withheld bodies, another engine, a run that is too long) is a warning,
 * which it returns, and no more.
 */
export async function checkLastReceipt(options: {
  readonly ledger: Ledger
  readonly code: CodeSource
}): Promise<readonly string[]> {
  const { ledger } = options
  if (ledger.state().mode === 'safe') return []
  let found: LastReceiptReplay
  try {
    found = await withinBound(replayLastReceipt(options), ledger)
  } catch (error) {
    // What cannot be read is damaged (L4).
    if (!isTallyError(error)) throw error
    ledger.enterSafeMode({ code: error.code, message: error.message })
    return []
  }
  switch (found.kind) {
    case 'nothing':
    case 'same':
      return []
    case 'different': {
      const { field, key, expected, actual } = found.difference
      const about = key === undefined ? field : `${field} (${key})`
      const problem = `${about}: expected ${shown(expected)}, found ${shown(actual)}`
      const error = new TallyError('runtime.replay_mismatch', { index: found.index, problem })
      ledger.enterSafeMode({ code: error.code, message: error.message })
      return []
    }
    case 'not_checked':
      return [`the last receipt, ${found.index}, was not done again: ${found.why}`]
  }
}

/** Opening does not wait for slow code; what it still does is not heard. */
async function withinBound(
  replay: Promise<LastReceiptReplay>,
  ledger: Ledger
): Promise<LastReceiptReplay> {
  const index = ledger.state().receipts - 1
  const why = `it takes longer than ${limits.BOOT_REPLAY_MS_MAX} ms`
  let callOff: () => void = () => undefined
  const late = new Promise<LastReceiptReplay>((resolve) => {
    callOff = systemClock.schedule(systemClock.now() + limits.BOOT_REPLAY_MS_MAX, () =>
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
