import type { Command } from 'commander'
import type { CommonOptions, ExitCode, Frame } from '../frame/frame.js'

/** How commands are added to the program; each file beside this one adds those of one concern. */

type Action<Arguments extends readonly unknown[]> = (
  frame: Frame,
  ...rest: Arguments
) => Promise<ExitCode>

export type Launch = (
  options: CommonOptions,
  run: (frame: Frame) => Promise<ExitCode>
) => Promise<void>

export type Add = ReturnType<typeof adder>

/** Adds a command with the options that all have; `load` gives its function when it is used. */
export function adder(program: Command, launch: Launch) {
  return <Arguments extends readonly unknown[]>(
    usage: string,
    description: string,
    load: () => Promise<Action<Arguments>>
  ): Command => {
    const command = program.command(usage).description(description)
    command.option('--dir <directory>', 'directory of the ledger', '.tally')
    command.option('--identity <id>', 'which identity of the ledger, by id or name')
    command.option('--json', 'one JSON document, or one a line, each with a $type')
    return command.action((...given: unknown[]) => {
      // Commander gives the arguments, then the options, then the command.
      const rest = given.slice(0, -1) as unknown as Arguments
      return launch(command.opts(), async (frame) => (await load())(frame, ...rest))
    })
  }
}

export const configOption = ['--config <file>', 'configuration with the blocks'] as const
export const waitOption = ['--wait', 'stay while the run waits for a message'] as const

/** Options of commands that answer a wait. */
export function answering(command: Command): Command {
  return command
    .option('--by <name>', 'who answers; kept as a claim')
    .option('--as <keyfile>', 'sign the answer with the key of an approver')
    .option('--digest <hash>', 'refuse to answer anything but what has this digest')
    .option('--command-id <id>', 'given again with the same id, the command changes nothing')
    .option(...waitOption)
    .option(...configOption)
}

/** For an option that may be given more than once. */
export function collected(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value]
}
