import { resolve } from 'node:path'
import { type IdentityId, isIdentityId, Redactor } from '../../core/index.js'
import type { ShownCommands, TakesOption } from './command-line.js'
import { type ExitCode, exitCodes } from './exit-codes.js'
import { Output } from './output.js'
import type { Sink } from './sink.js'

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
  /** What a command that is shown needs, so that it works on the same ledger. */
  readonly commands: ShownCommands
}

export function createFrame(
  options: CommonOptions,
  host: {
    readonly stdout: Sink
    readonly stderr: Sink
    readonly environment: Readonly<Record<string, string | undefined>>
    readonly cwd: string
  },
  takes: TakesOption = () => true
): Frame {
  const { dir = DEFAULT_DIRECTORY, json = false, config, identity } = options
  const { stdout, stderr, environment, cwd } = host
  const redactor = new Redactor()
  const named = { '--dir': dir === DEFAULT_DIRECTORY ? undefined : dir, '--identity': identity }
  const given = Object.entries({ ...named, '--config': config }).flatMap(([option, value]) =>
    value === undefined ? [] : [[option, value] as const]
  )
  const commands = { given, takes }
  return {
    output: new Output({ stdout, stderr, isJson: json, environment, redactor, commands }),
    redactor,
    environment,
    cwd,
    directory: resolve(cwd, dir),
    identity: identity !== undefined && isIdentityId(identity) ? identity : undefined,
    commands
  }
}

export { type ExitCode, exitCodes }
