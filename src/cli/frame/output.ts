import { isTallyError, type Json, Redactor } from '../../core/index.js'
import { completed, type ShownCommands } from './command-line.js'
import type { Progress } from './progress.js'
import type { Screen, ScreenSize } from './screen.js'
import type { Sink } from './sink.js'
import { escapedJson, type Paint, painter, Text, text } from './text.js'

/** An error as every command tells it. */
export interface ErrorDocument {
  readonly code: string
  readonly message: string
  readonly cause: string | null
  readonly fix: string
}

/**
 * Where a command writes: results to stdout, everything about the command itself to stderr. With
 * `--json` stdout has one document a line, each with a `$type`, and nothing else.
 */
export class Output {
  readonly isJson: boolean
  /** Whether stdout is a terminal. */
  readonly isLive: boolean
  readonly paint: Paint
  readonly #stdout: Sink
  readonly #stderr: Sink
  readonly #paintError: Paint
  readonly #hasBars: boolean
  readonly #redactor: Redactor
  readonly #commands: ShownCommands | undefined
  #full = false
  #live: readonly Text[] = []

  constructor(options: {
    readonly stdout: Sink
    readonly stderr: Sink
    readonly isJson: boolean
    readonly environment: Readonly<Record<string, string | undefined>>
    /** No secret that it knows is written. */
    readonly redactor?: Redactor
    /** Commands that errors name are completed by it. */
    readonly commands?: ShownCommands
  }) {
    const { stdout, stderr, isJson, environment, redactor = new Redactor() } = options
    this.#redactor = redactor
    this.#commands = options.commands
    this.isJson = isJson
    this.#stdout = stdout
    this.#stderr = stderr
    const mayPaint = !environment['NO_COLOR'] && environment['TERM'] !== 'dumb'
    this.isLive = stdout.isTTY === true && !isJson && environment['TERM'] !== 'dumb'
    this.#hasBars = stderr.isTTY === true && !isJson && environment['TERM'] !== 'dumb'
    this.paint = painter(mayPaint && stdout.isTTY === true)
    this.#paintError = painter(mayPaint && stderr.isTTY === true)
  }

  /** A line of the result, for people. */
  line(content: Text): void {
    if (this.isJson) return
    this.#clear()
    this.#write(`${this.#shown(content)}\n`)
    this.#draw()
  }

  /** Text that was made for a file, such as a note or a drawing; escaped line by line. */
  file(content: string): void {
    if (this.isJson) return
    // Before it is cut into lines: a key may have several.
    const clean = this.#redactor.text(content)
    for (const one of clean.replace(/\n$/, '').split('\n')) this.line(text`${one}`)
  }

  /** A document of the result, for programs. */
  document(type: string, fields: object): void {
    if (!this.isJson) return
    // Documents are plain JSON; their types only lack the index signature.
    const clean = this.#redactor.json({ $type: type, ...fields } as unknown as Json)
    this.#write(`${escapedJson(clean)}\n`)
  }

  /** News about the command itself. */
  log(content: Text): void {
    this.#clear()
    this.#stderr.write(`${this.#shown(this.#paintError('dim', content))}\n`)
    this.#draw()
  }

  /** Live state, shown below the last line and replaced by the next call; terminals only. */
  live(lines: readonly Text[]): void {
    if (!this.isLive) return
    this.#clear()
    this.#live = lines
    this.#draw()
  }

  /** The whole terminal, for a command that draws; undefined where there is none. */
  async screen(picture: (size: ScreenSize) => readonly Text[]): Promise<Screen | undefined> {
    if (!this.isLive) return undefined
    const { Screen } = await import('./screen.js')
    return new Screen(this.#stdout, (content) => this.#shown(content), picture)
  }

  /** Does work whose progress a bar shows, on a terminal; elsewhere nothing asks how far it is. */
  async withProgress<Result>(
    work: (report: ((progress: Progress) => void) | undefined) => Promise<Result>
  ): Promise<Result> {
    if (!this.#hasBars) return work(undefined)
    const { ProgressBar } = await import('./progress.js')
    const bar = new ProgressBar(this.#stderr)
    try {
      return await work((progress) => bar.show(progress))
    } finally {
      bar.end()
    }
  }

  error(error: unknown): void {
    // Before it is escaped and cut into lines. All members are text.
    const told: unknown = this.#redactor.json({ ...this.#completed(errorDocument(error)) })
    const document = told as ErrorDocument
    this.live([])
    if (this.isJson) {
      this.document('error', document)
      return
    }
    const { code, message, cause, fix } = document
    const paint = this.#paintError
    const lines = [
      text`${paint('red', 'error')} ${message} ${paint('dim', `[${code}]`)}`,
      ...(cause === null ? [] : [text`${paint('bold', '  why')} ${cause}`]),
      text`${paint('bold', '  fix')} ${fix}`
    ]
    for (const one of lines) this.#stderr.write(`${one.value}\n`)
  }

  /** Resolves when what was written has left the process. */
  async flushed(): Promise<void> {
    const empty = (sink: Sink) =>
      new Promise<void>((resolve) => {
        sink.write('', () => resolve())
      })
    await Promise.all([empty(this.#stdout), empty(this.#stderr)])
  }

  /** Waits for a reader that is slower than we are; call it in loops. */
  async ready(): Promise<void> {
    if (!this.#full) return
    this.#full = false
    await new Promise<void>((resolve) => this.#stdout.write('', () => resolve()))
  }

  #completed(error: ErrorDocument): ErrorDocument {
    const commands = this.#commands
    if (commands === undefined) return error
    const { message, cause } = error
    return {
      ...error,
      message: completed(commands, message),
      cause: cause === null ? null : completed(commands, cause),
      fix: completed(commands, error.fix)
    }
  }

  #shown({ value }: Text): string {
    return this.#redactor.text(value)
  }

  #write(chunk: string): void {
    if (!this.#stdout.write(chunk)) this.#full = true
  }

  #draw(): void {
    if (this.#live.length === 0) return
    const width = this.#stdout.columns ?? 80
    for (const one of this.#live) {
      this.#write(`${shortened(new Text(this.#shown(one)), width).value}\n`)
    }
  }

  #clear(): void {
    if (this.#live.length > 0) this.#write(`\u001b[${this.#live.length}A\u001b[0J`)
  }
}

// A line that wraps would take more rows than are cleared. Live lines carry no colours.
function shortened(content: Text, width: number): Text {
  const { value } = content
  return value.length < width ? content : new Text(`${value.slice(0, width - 2)}…`)
}

/** What happened, why, and what to do, of anything that was thrown. */
export function errorDocument(error: unknown): ErrorDocument {
  if (isTallyError(error)) {
    const { code, message, fix, cause } = error
    return { code, message, cause: reasonOf(cause), fix }
  }
  const message = error instanceof Error ? error.message : String(error)
  const kind = error instanceof Error && 'code' in error ? String(error.code) : 'unexpected'
  const cause = error instanceof Error ? reasonOf(error.cause) : null
  return { code: `system.${kind}`, message, cause, fix: fixes.get(kind) ?? unknownFix }
}

const unknownFix = 'If this is not explained by the message, please report it.'

const fixes: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'Choose a path that you may read and write, or correct its permissions.'],
  ['EPERM', 'Choose a path that you may read and write, or correct its permissions.'],
  ['EROFS', 'The file system is read-only: choose a directory on another one with --dir.'],
  ['ENOSPC', 'Make room on the disk, and try again.'],
  ['ENOENT', 'Check the path.'],
  ['ENOTDIR', 'A part of the path is a file: choose another directory with --dir.']
])

function reasonOf(cause: unknown): string | null {
  if (cause === undefined || cause === null) return null
  const first = cause instanceof Error ? cause.message : String(cause)
  const deeper = cause instanceof Error ? reasonOf(cause.cause) : null
  return deeper === null || first.includes(deeper) ? first : `${first}: ${deeper}`
}
