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

/**
 * The command line. Each command is a file that is loaded when it is used, so that a quick command
 * does not pay for a slow one.
 */

type Action<Arguments extends readonly unknown[]> = (
  frame: Frame,
  ...rest: Arguments
) => Promise<ExitCode>

/** Runs one command line; sets the exit code and ends the process when all is written. */
export async function main(words: readonly string[]): Promise<void> {
  // When nobody reads any more, a run is parked and everything else ends.
  process.stdout.once('error', () => process.kill(process.pid, 'SIGTERM'))
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

type Launch = (options: CommonOptions, run: (frame: Frame) => Promise<ExitCode>) => Promise<void>

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
  addOtherCommands(add)
  return program
}

type Add = ReturnType<typeof adder>

/** Adds a command with the options that all have; `load` gives its function when it is used. */
function adder(program: Command, launch: Launch) {
  return <Arguments extends readonly unknown[]>(
    usage: string,
    description: string,
    load: () => Promise<Action<Arguments>>
  ): Command => {
    const command = program.command(usage).description(description)
    command.option('--dir <directory>', 'directory of the ledger', '.tally')
    command.option('--json', 'one JSON document, or one a line, each with a $type')
    return command.action((...given: unknown[]) => {
      // Commander gives the arguments, then the options, then the command.
      const rest = given.slice(0, -1) as unknown as Arguments
      return launch(command.opts(), async (frame) => (await load())(frame, ...rest))
    })
  }
}

const configOption = ['--config <file>', 'configuration with the blocks'] as const
const waitOption = ['--wait', 'stay while the run waits for a message'] as const

function addRunCommands(add: Add): void {
  add('run <file>', 'run a document', async () => (await import('./run.js')).run)
    .option('--id <id>', 'name of the run; the same id is the same run')
    .option('--inputs <json>', 'payload of the run: JSON, or @file', '{}')
    .option(...waitOption)
    .option(...configOption)
  const resume = async () => (await import('./resume.js')).resume
  answering(add('resume <run> [token]', 'take up a run, or end a wait with a value', resume))
    .option('--value <json>', 'the value that was waited for, or a patch: JSON, or @file')
    .option('--action <action>', 'resume, retry, patch, skip or abort')
  const approve = async () => (await import('./approve.js')).approve
  answering(add('approve <run> [token]', 'let a wait go on', approve))
  const deny = async () => (await import('./deny.js')).deny
  answering(add('deny <run> [token]', 'refuse a wait', deny))
  add('cancel <run>', 'end a run', async () => (await import('./cancel.js')).cancel)
    .option('--reason <text>', 'kept in the journal')
    .option(...configOption)
}

function answering(command: Command): Command {
  return command
    .option('--by <name>', 'who answers; kept as a claim')
    .option('--digest <hash>', 'refuse to answer anything but what has this digest')
    .option(...waitOption)
    .option(...configOption)
}

function addReadCommands(add: Add): void {
  add('runs', 'list the runs', async () => (await import('./runs.js')).runs).option(
    '--status <status>',
    'running, waiting, done, failed or cancelled'
  )
  add('log', 'list the receipts', async () => (await import('./log.js')).log)
    .option('--last <count>', 'only so many; 50 unless told otherwise')
    .option('--from <index>', 'first place in the chain, from 0')
    .option('--to <index>', 'place in the chain before which to stop')
    .option('--run <id>', 'only those of one run')
    .option('--all', 'from the first one on')
  add(
    'show <what>',
    'show a run or a receipt',
    async () => (await import('./show.js')).show
  ).option('--journal', 'every entry of the run')
  add('verify', 'check the whole ledger', async () => (await import('./verify.js')).verify)
    .option('--note <file>', 'a note that was kept elsewhere (repeatable)', collected, [])
    .option('--replay', 'execute every step again')
    .option(...configOption)
  const replay = async () => (await import('./replay.js')).replay
  add('replay [receipt]', 'execute a receipt again, or all of them, twice', replay).option(
    ...configOption
  )
  add('note', 'sign everything so far', async () => (await import('./note.js')).note).option(
    '-o, --output <file>',
    'where to write it'
  )
}

function addOtherCommands(add: Add): void {
  add('init', 'make a ledger', async () => (await import('./init.js')).init).option(
    '--insecure-plaintext-key',
    'keep the key in plain text, for demonstrations'
  )
  add('graph <file>', 'draw a document', async () => (await import('./graph.js')).graph).option(
    '--format <format>',
    'mermaid, chart, json or xstate',
    'mermaid'
  )
  add('lint <file>', 'check a document', async () => (await import('./lint.js')).lint).option(
    ...configOption
  )
  add('doctor', 'check the surroundings', async () => (await import('./doctor.js')).doctor).option(
    ...configOption
  )
  add('recover', 'leave safe mode', async () => (await import('./recover.js')).recover)
    .option('--cut', 'keep the longest verified prefix if nothing else is left')
    .option('--note <file>', 'a note that was kept elsewhere (repeatable)', collected, [])
    .option('--acknowledge-notes', 'go on although a note proves that more was there')
  add('demo', 'see it all in a minute', async () => (await import('./demo.js')).demo).option(
    '--keep',
    'keep what it made'
  )
}

function collected(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value]
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
