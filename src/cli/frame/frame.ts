import { resolve } from 'node:path'
import { type IdentityId, isIdentityId, Redactor, TallyError } from '../../core/index.js'
import { type ExitCode, exitCodes } from './exit-codes.js'
import { Output } from './output.js'
import type { Sink } from './sink.js'
import { escapeText } from './text.js'

export const DEFAULT_DIRECTORY = '.tally'

/** Options that every command has. */
export interface CommonOptions {
  readonly dir?: string
  readonly json?: boolean
  readonly config?: string
  readonly identity?: string
}

/** What a command is handed: where it reads, where it writes, where it stands. */
export interface Frame {
  readonly output: Output
  /** Knows the secrets that this command reads; its output has none of them. */
  readonly redactor: Redactor
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Directory of the ledger, absolute. */
  readonly directory: string
  /** Which identity of the ledger; undefined where none is named. */
  readonly identity: IdentityId | undefined
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
  const { dir = DEFAULT_DIRECTORY, json = false, config, identity } = options
  const { stdout, stderr, environment, cwd } = host
  const redactor = new Redactor()
  return {
    output: new Output({ stdout, stderr, isJson: json, environment, redactor }),
    redactor,
    environment,
    cwd,
    directory: resolve(cwd, dir),
    identity: identityNamed(identity),
    directoryWords: [
      ...(dir === DEFAULT_DIRECTORY ? [] : ['--dir', dir]),
      ...(identity === undefined ? [] : ['--identity', identity])
    ],
    configWords: config === undefined ? [] : ['--config', config]
  }
}

function identityNamed(word: string | undefined): IdentityId | undefined {
  if (word === undefined || isIdentityId(word)) return word
  const problem =
    '--identity takes the 64 hex digits of an identity, as "tally identities" lists them'
  throw new TallyError('cli.usage', { problem })
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
