import { resolve } from 'node:path'
import { type ExitCode, exitCodes } from './exit-codes.js'
import { Output, type Sink } from './output.js'
import { escapeText } from './text.js'

export const DEFAULT_DIRECTORY = '.tally'

/** Options that every command has. */
export interface CommonOptions {
  readonly dir?: string
  readonly json?: boolean
  readonly config?: string
}

/** What a command is handed: where it reads, where it writes, where it stands. */
export interface Frame {
  readonly output: Output
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Directory of the ledger, absolute. */
  readonly directory: string
  /** Words that name this ledger in a command that is shown; empty for the default one. */
  readonly directoryWords: readonly string[]
  /** The same for the configuration. */
  readonly configWords: readonly string[]
}

export function createFrame(
  options: CommonOptions,
  host: {
    readonly stdout: Sink
    readonly stderr: Sink
    readonly environment: Readonly<Record<string, string | undefined>>
    readonly cwd: string
  }
): Frame {
  const { dir = DEFAULT_DIRECTORY, json = false, config } = options
  const { stdout, stderr, environment, cwd } = host
  return {
    output: new Output({ stdout, stderr, isJson: json, environment }),
    environment,
    cwd,
    directory: resolve(cwd, dir),
    directoryWords: dir === DEFAULT_DIRECTORY ? [] : ['--dir', dir],
    configWords: config === undefined ? [] : ['--config', config]
  }
}

/** A command as it would be typed: words quoted for a shell where they must be. */
export function commandLine(frame: Frame, words: readonly string[]): string {
  const { directoryWords, configWords } = frame
  return ['tally', ...words, ...directoryWords, ...configWords].map(shellWord).join(' ')
}

function shellWord(word: string): string {
  if (/^[\w./:@%+=,-]+$/.test(word)) return word
  // Escaped first, so that what is shown is one line; such a word cannot be typed anyway.
  return `'${escapeText(word).replaceAll("'", `'\\''`)}'`
}

export { type ExitCode, exitCodes }
