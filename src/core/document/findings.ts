import { DIAGNOSTIC_TEXT_LENGTH_MAX, DOCUMENT_FINDINGS_MAX } from '../limits.js'
import type { Pieces } from './pieces.js'
import type { Locate } from './places.js'
import { passSteps } from './work.js'
import type { DocumentPath } from './yaml.js'

/** What every finding about a document has, whatever else a room says of it. */
export interface Finding {
  /** Keys from the root of the document. */
  readonly path: DocumentPath
  readonly message: string
  /** In the last finding of a report that leaves some out: how many. */
  readonly more?: number
}

/**
 * Findings as a report shows them: at most {@link DOCUMENT_FINDINGS_MAX}, errors before doubts once
 * there are more, and a last one that says how many more there are. A report may go into another.
 * Texts that are very long are cut. Places are looked up for what is shown.
 */
export function reported<One extends Finding>(
  found: readonly One[],
  options: ReportOptions<One>
): readonly One[] {
  const { isError, more, locate, isInText } = options
  const shown = (one: One) =>
    shortened(locate === undefined || isInText?.(one) === false ? one : located(one, locate))
  const notes = found.filter((one) => one.more !== undefined)
  const named = found.filter((one) => one.more === undefined)
  const hidden = notes.reduce((sum, one) => sum + (one.more ?? 0), 0)
  const over = Math.max(0, named.length - DOCUMENT_FINDINGS_MAX)
  if (hidden + over === 0) return named.map(shown)
  const errors = named.filter(isError)
  const ranked = over === 0 ? named : [...errors, ...named.filter((one) => !isError(one))]
  const note = more({
    more: hidden + over,
    message: `${hidden + over} more findings are not shown`,
    hasErrors: errors.length > DOCUMENT_FINDINGS_MAX || notes.some(isError)
  })
  return [...ranked.slice(0, DOCUMENT_FINDINGS_MAX).map(shown), note]
}

/**
 * Findings as they are found: as many as a report shows are kept, of the others there is a number.
 * For lists in which all findings have one rank.
 */
export class FirstFindings<One extends Finding> {
  readonly #kept: One[] = []
  #hidden = 0

  get isEmpty(): boolean {
    return this.#kept.length + this.#hidden === 0
  }

  /** Takes a finding, or the note of a list of its own. */
  add(one: One): void {
    passSteps(STEPS_OF_FINDING)
    if (one.more !== undefined) this.#hidden += one.more
    else if (this.#kept.length < DOCUMENT_FINDINGS_MAX) this.#kept.push(one)
    else this.#hidden += 1
  }

  /** What is kept, and a note about the others. */
  list(noteOf: (more: number) => One): readonly One[] {
    return this.#hidden === 0 ? this.#kept : [...this.#kept, noteOf(this.#hidden)]
  }
}

/** Work of a finding that is not shown. */
const STEPS_OF_FINDING = 2

export interface ReportOptions<One extends Finding> {
  isError(one: One): boolean
  more(hidden: HiddenFindings): One
  /** In the text of the document, where it is known. */
  readonly locate?: Locate | undefined
  /** Whether a finding is about that text; absent: all are. */
  isInText?(one: One): boolean
}

/** {@link reported} in pieces: the places of what is shown are looked for before. */
export function* reporting<One extends Finding>(
  found: readonly One[],
  options: ReportOptions<One>
): Pieces<readonly One[]> {
  const { locate, isInText, isError } = options
  if (locate?.finding === undefined) return reported(found, options)
  const named = found.filter((one) => one.more === undefined)
  const isOver = named.length > DOCUMENT_FINDINGS_MAX
  const ranked = isOver
    ? [...named.filter(isError), ...named.filter((one) => !isError(one))]
    : named
  const shown = ranked.slice(0, DOCUMENT_FINDINGS_MAX).filter((one) => isInText?.(one) !== false)
  yield* locate.finding(shown.map(({ path }) => path))
  return reported(found, options)
}

/** The findings that a report leaves out. */
export interface HiddenFindings {
  readonly more: number
  readonly message: string
  readonly hasErrors: boolean
}

function located<One extends Finding>(one: One, locate: Locate): One {
  return { ...one, ...locate(one.path) }
}

/** What a schema says of a value that is not there, which names no member: the path does. */
const absent = /^Invalid input: expected (.+), received undefined$/

/** The message with the name of the member that is missing. */
function named(path: DocumentPath, message: string): string {
  const name = path.at(-1)
  const [, expected] = absent.exec(message) ?? []
  if (expected === undefined || name === undefined) return message
  const which = typeof name === 'number' ? `item ${name}` : name
  return `${which} is missing: expected ${expected}`
}

function shortened<One extends Finding>(given: One): One {
  const { path } = given
  const message = named(path, given.message)
  const one = message === given.message ? given : { ...given, message }
  if (isShort(message) && path.every((segment) => isShort(String(segment)))) return one
  return {
    ...one,
    message: cut(message),
    path: path.map((segment) => (typeof segment === 'string' ? cut(segment) : segment))
  }
}

function isShort(text: string): boolean {
  return text.length <= DIAGNOSTIC_TEXT_LENGTH_MAX
}

function cut(text: string): string {
  return isShort(text) ? text : `${text.slice(0, DIAGNOSTIC_TEXT_LENGTH_MAX)}...`
}
