import { limits, systemClock } from '../../core/index.js'
import type { Sink } from './sink.js'
import type { Text } from './text.js'

/** Control sequences of terminals (ECMA-48, and the private modes of xterm). */
const ESCAPE = '\u001b['
const ENTER = `${ESCAPE}?1049h${ESCAPE}?25l${ESCAPE}?7l`
const LEAVE = `${ESCAPE}?7h${ESCAPE}?25h${ESCAPE}?1049l`
const HOME = `${ESCAPE}H`
const ERASE_LINE = `${ESCAPE}K`
const END_OF_SCREEN = `${ESCAPE}0J`
/** Terminals that know it show what stands between the two at once; others ignore it. */
const [HOLD, SHOW] = [`${ESCAPE}?2026h`, `${ESCAPE}?2026l`]

const COLUMNS = 80
const ROWS = 24

/** How much fits on a screen. */
export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

/**
 * The whole screen of a terminal, which a command draws on and gives back as it was.
 *
 * Owns: the terminal's second screen, its cursor and its wrapping, until `close`, or the end of the
 * process. Does not own: what is drawn.
 *
 * - A picture is one write, over the one before, and only where it differs: nothing flickers.
 * - There are ten pictures a second at most, and none while the terminal has not taken the last.
 */
export class Screen {
  readonly #sink: Sink
  readonly #shown: (content: Text) => string
  readonly #picture: (size: ScreenSize) => readonly Text[]
  #last = ''
  #drawnAt = Number.NEGATIVE_INFINITY
  #isTaken = true
  #isWanted = false
  #callOff: (() => void) | undefined
  #isClosed = false

  /** `shown` is what may be written of a line; `picture` makes the lines when they are drawn. */
  constructor(
    sink: Sink,
    shown: (content: Text) => string,
    picture: (size: ScreenSize) => readonly Text[]
  ) {
    this.#sink = sink
    this.#shown = shown
    this.#picture = picture
    sink.write(ENTER)
    sink.on?.('resize', this.#resized)
    process.once('exit', this.#restore)
  }

  /** What is drawn has changed. */
  draw(): void {
    this.#isWanted = true
    if (this.#isClosed || !this.#isTaken || this.#callOff !== undefined) return
    const at = this.#drawnAt + limits.TERMINAL_FRAME_MS
    if (systemClock.now() >= at) this.#paint()
    else {
      this.#callOff = systemClock.schedule(at, () => {
        this.#callOff = undefined
        this.#paint()
      })
    }
  }

  /** Gives the terminal back. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#callOff?.()
    this.#sink.off?.('resize', this.#resized)
    process.off('exit', this.#restore)
    this.#restore()
  }

  readonly #restore = () => {
    this.#sink.write(LEAVE)
  }

  readonly #resized = () => {
    this.#last = ''
    this.draw()
  }

  #paint(): void {
    if (this.#isClosed || !this.#isTaken) return
    this.#isWanted = false
    // A terminal that does not know its size says 0.
    const columns = this.#sink.columns || COLUMNS
    const rows = this.#sink.rows || ROWS
    const lines = this.#picture({ columns, rows }).slice(0, rows)
    const content = lines.map((line) => `${ERASE_LINE}${this.#shown(line)}`).join('\r\n')
    if (content === this.#last) return
    this.#last = content
    this.#drawnAt = systemClock.now()
    this.#isTaken = false
    this.#sink.write(`${HOLD}${HOME}${content}${END_OF_SCREEN}${SHOW}`, () => {
      this.#isTaken = true
      if (this.#isWanted) this.draw()
    })
  }
}
