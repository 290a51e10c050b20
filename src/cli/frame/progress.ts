import { limits, systemClock } from '../../core/index.js'
import type { Sink } from './sink.js'
import { fitted } from './text.js'

const BAR_COLUMNS = 24
const COLUMNS = 80
const [FULL, EMPTY] = ['█', '░']
const ERASE_LINE = '\r\u001b[K'

/** How far a work is; `unit` names what is counted. */
export interface Progress {
  readonly label: string
  readonly done: number
  readonly total: number
  readonly unit: string
}

/**
 * A bar on a terminal's standard error, for work that takes longer than a moment. It is drawn ten
 * times a second at most, by those who report; the line is gone when the work ends.
 */
export class ProgressBar {
  readonly #sink: Sink
  /** From when on it is drawn next: short work has no bar. */
  #drawFrom = systemClock.now() + limits.TERMINAL_PROGRESS_AFTER_MS
  #isDrawn = false

  constructor(sink: Sink) {
    this.#sink = sink
  }

  show(progress: Progress): void {
    const now = systemClock.now()
    if (now < this.#drawFrom) return
    this.#drawFrom = now + limits.TERMINAL_FRAME_MS
    this.#isDrawn = true
    const columns = this.#sink.columns || COLUMNS
    this.#sink.write(`${ERASE_LINE}${fitted(barText(progress), columns - 1)}`)
  }

  end(): void {
    if (this.#isDrawn) this.#sink.write(ERASE_LINE)
    this.#isDrawn = false
  }
}

/** `verifying  ████░░░░  33%  120 of 360 commits`. */
export function barText({ label, done, total, unit }: Progress): string {
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const full = Math.floor(share * BAR_COLUMNS)
  const bar = FULL.repeat(full) + EMPTY.repeat(BAR_COLUMNS - full)
  const percent = `${Math.floor(share * 100)}%`.padStart(4)
  return `${label}  ${bar} ${percent}  ${counted(done)} of ${counted(total)} ${unit}`
}

/** `12,345`, in every locale. */
function counted(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}
