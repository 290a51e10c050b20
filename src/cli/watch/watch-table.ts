import { isJsonObject, type Json, limits, systemClock } from '../../core/index.js'
import { DEFAULT_DIRECTORY, type Frame } from '../frame/frame.js'
import type { Screen } from '../frame/screen.js'
import type { LedgerChange } from './follow-ledger.js'
import { watchPicture } from './watch-rows.js'
import type { WatchedRuns } from './watched-runs.js'

/**
 * The table of a watch on a terminal.
 *
 * Owns: the screen while the command runs, and the clock by which ages grow. Does not own: the
 * runs.
 */
export class WatchTable {
  #screen: Screen | undefined
  #mode: string | undefined
  #hasBegun = false
  #callOff: () => void = () => undefined

  private constructor() {}

  /** Undefined where there is no terminal to draw on. */
  static async on(frame: Frame, runs: WatchedRuns): Promise<WatchTable | undefined> {
    const { output, commands } = frame
    if (!output.isLive) return undefined
    const table = new WatchTable()
    const named = commands.given.find(([option]) => option === '--dir')
    const ledger = named?.[1] ?? DEFAULT_DIRECTORY
    table.#screen = await output.screen((size) => {
      const known = { hasBegun: table.#hasBegun, mode: table.#mode }
      const shown = { runs, ledger, now: systemClock.now(), ...known }
      return watchPicture(output.paint, shown, size)
    })
    table.#tick()
    return table
  }

  show(change: LedgerChange): void {
    if (change.type === 'begun') this.#hasBegun = true
    if (change.type === 'mode') this.#mode = modeText(change.mode, change.cause)
    this.#screen?.draw()
  }

  close(): void {
    this.#callOff()
    this.#screen?.close()
  }

  #tick(): void {
    this.#screen?.draw()
    const at = systemClock.now() + limits.TERMINAL_AGE_MS
    this.#callOff = systemClock.schedule(at, () => this.#tick())
  }
}

/** Undefined where all is as usual. */
function modeText(mode: string, cause: Json): string | undefined {
  if (mode === 'ready' || mode === 'closed') return undefined
  const message = isJsonObject(cause) ? cause['message'] : undefined
  return typeof message === 'string' ? `${mode}: ${message}` : mode
}
