import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { cliError, type IdentityId, isIdentityId } from '../core/index.js'
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
import { addApprovalCommands } from './program/approvals.js'
import { addIntentCommands } from './program/intents.js'
import { addKeepingCommands } from './program/keeping.js'
import { addKeyCommands } from './program/keys.js'
import { addPackageCommands, addPackageMaking } from './program/packages.js'
import { addReadCommands } from './program/reading.js'
import { addRunCommands } from './program/running.js'
import { addServingCommands } from './program/serving.js'
import { addTestCommands, addUpgradeCommands } from './program/upgrading.js'

/**
 * The command line. Each command is a file that is loaded when it is used, so that a quick command
 * does not pay for a slow one.
 */

/** Where a command line is typed. */
export type Place = Parameters<typeof createFrame>[1]

/** Runs the command line of this process, and ends the process when all is written. */
export async function main(words: readonly string[]): Promise<void> {
  const { stdout, stderr, env: environment } = process
  stdout.once('error', endUnread)
  stdout.on('error', () => undefined)
  stderr.on('error', () => undefined)
  const exitCode = await perform(words, { stdout, stderr, environment, cwd: process.cwd() })
  // Blocks may have left connections open; what had to be kept is in the ledger.
  process.exit(exitCode)
}

/** Runs one command line, and gives its exit code when all is written. */
export async function perform(words: readonly string[], place: Place): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done
  let frame = createFrame({ json: words.includes('--json') }, place)
  const program = build(place, (options, run) => {
    const framed = (common: CommonOptions) =>
      createFrame(common, place, (given, option) => takesOption(program, given, option))
    // What is printed until the name is known must not carry it: it may be none.
    const { identity: word, ...others } = options
    frame = framed(others)
    return identityOf(frame, word).then(async (identity) => {
      frame = { ...framed(options), identity }
      exitCode = await run(frame)
    })
  })
  try {
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    exitCode = showFailure(frame, error)
  }
  await frame.output.flushed()
  return exitCode
}

/** The identity that `--identity` gives or names; undefined where none is. */
async function identityOf(frame: Frame, word: string | undefined): Promise<IdentityId | undefined> {
  if (word === undefined || isIdentityId(word)) return word
  return (await import('./frame/identity-names.js')).identityNamed(frame, word)
}

/** When the output is closed, a run is parked, and everything else ends without a word. */
function endUnread(): void {
  if (!process.emit('SIGTERM')) process.exit(exitCodes.unread)
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
  frame.output.error(cliError('cli.usage', { problem }))
  return exitCodes.usage
}

function build({ stdout, stderr }: Place, launch: Launch): Command {
  const program = new Command('tally')
    .description('Run multi-step work that can be proved: durable, signed, re-executable.')
    .version(packageVersion(), '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (shown) => stdout.write(escapedLines(shown)),
      // Told by showFailure, as every other error is.
      outputError: () => undefined,
      writeErr: (shown) => stderr.write(escapedLines(shown))
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
  addTestCommands(adder(program.command('test').description('write tests'), launch))
  addKeyCommands(adder(program.command('key').description('change the key'), launch))
  const approval = program.command('approval').description('sign answers, on any machine')
  addApprovalCommands(adder(approval, launch))
  addPackageMaking(adder(program.command('package').description('make packages'), launch))
  add('completion <shell>', 'a script that completes words: bash, zsh or fish', async () => {
    const { completion } = await import('./completion.js')
    return (frame: Frame, shell: string) => completion(frame, shell, program)
  })
  return program
}

/** Whether the command that words name has an option. */
function takesOption(program: Command, words: readonly string[], option: string): boolean {
  const [first, ...rest] = words
  const command = program.commands.find((one) => one.name() === first)
  if (command === undefined) return program.options.some(({ long }) => long === option)
  return takesOption(command, rest, option)
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
