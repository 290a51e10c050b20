import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { TallyError } from '../core/index.js'
import { exitCodeOf } from './frame/exit-codes.js'
import {
  type CommonOptions,
  createFrame,
  type ExitCode,
  exitCodes,
  type Frame
} from './frame/frame.js'
import { escapeText } from './frame/text.js'
import { adder, type Launch } from './program/add.js'
import { addIntentCommands } from './program/intents.js'
import { addKeepingCommands } from './program/keeping.js'
import { addKeyCommands } from './program/keys.js'
import { addPackageCommands, addPackageMaking } from './program/packages.js'
import { addReadCommands } from './program/reading.js'
import { addRunCommands } from './program/running.js'
import { addServingCommands } from './program/serving.js'
import { addUpgradeCommands } from './program/upgrading.js'

/**
 * The command line. Each command is a file that is loaded when it is used, so that a quick command
 * does not pay for a slow one.
 */

/** Runs one command line; sets the exit code and ends the process when all is written. */
export async function main(words: readonly string[]): Promise<void> {
  process.stdout.once('error', endUnread)
  process.stdout.on('error', () => undefined)
  process.stderr.on('error', () => undefined)
  let exitCode: ExitCode = exitCodes.done
  let frame = frameOf({ json: words.includes('--json') })
  const program = build((options, run) => {
    frame = frameOf(options)
    return run(frame).then((code) => {
      exitCode = code
    })
  })
  try {
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    exitCode = showFailure(frame, error)
  }
  await frame.output.flushed()
  // Blocks may have left connections open; what had to be kept is in the ledger.
  process.exit(exitCode)
}

/** When the output is closed, a run is parked, and everything else ends without a word. */
function endUnread(): void {
  if (!process.emit('SIGTERM')) process.exit(exitCodes.unread)
}

function frameOf(options: CommonOptions): Frame {
  const { stdout, stderr, env: environment } = process
  return createFrame(options, { stdout, stderr, environment, cwd: process.cwd() })
}

function showFailure(frame: Frame, error: unknown): ExitCode {
  if (!(error instanceof CommanderError)) {
    frame.output.error(error)
    return exitCodeOf(error)
  }
  // Without a command the help was shown already.
  if (error.exitCode === 0) return exitCodes.done
  if (error.code === 'commander.help') return exitCodes.usage
  const problem = error.message.replace(/^error: /, '').replace(/\.$/, '')
  frame.output.error(new TallyError('cli.usage', { problem }))
  return exitCodes.usage
}

function build(launch: Launch): Command {
  const program = new Command('tally')
    .description('Run multi-step work that can be proved: durable, signed, re-executable.')
    .version(packageVersion(), '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (shown) => process.stdout.write(escapedLines(shown)),
      // Told by showFailure, as every other error is.
      outputError: () => undefined,
      writeErr: (shown) => process.stderr.write(escapedLines(shown))
    })
    .showHelpAfterError(false)
  const add = adder(program, launch)
  addRunCommands(add)
  addReadCommands(add)
  addIntentCommands(add)
  addKeepingCommands(add)
  addServingCommands(add)
  addPackageCommands(add)
  addUpgradeCommands(adder(program.command('upgrade').description('before a deploy'), launch))
  addKeyCommands(adder(program.command('key').description('change the key'), launch))
  addPackageMaking(adder(program.command('package').description('make packages'), launch))
  return program
}

function escapedLines(shown: string): string {
  return shown.split('\n').map(escapeText).join('\n')
}

function packageVersion(): string {
  // From dist/src/cli to the package.
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
  )
  return String((manifest as { readonly version: string }).version)
}
