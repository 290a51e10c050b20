import type { Command } from 'commander'
import { type Add, answering, collected, configOption } from './add.js'

/** Options by which a command is given what a workflow of AIS needs. */
export function needing(command: Command): Command {
  return command
    .option('--protocol <file>', 'a protocol that a workflow names (repeatable)', collected, [])
    .option('--pack <file>', 'a policy pack (repeatable)', collected, [])
    .option('--chain <id>', 'chain of nodes that name none')
}

/** Options of `run` that say how a workflow may act. */
export function acting(command: Command): Command {
  return needing(command)
    .option('--ctx <json>', 'values of who runs a workflow: JSON, or @file')
    .option('--dry-run', 'show what a workflow would do and what is missing; nothing is sent')
    .option('--offline', 'with --dry-run: ask no chain')
    .option('--simulate', 'let chains simulate what a workflow writes; nothing is sent')
    .option('--broadcast', 'let a workflow send what its policy allows')
    .option('--on-error <what>', 'after a failure of which it says nothing: ask, stop, continue')
    .option('--yes', 'take confirmations that the policy alone asks for as given')
}

/** Commands about workflows of AIS. */
export function addWorkflowCommands(add: Add): void {
  needing(
    add(
      'plan <file>',
      'show what a workflow will do',
      async () => (await import('../plan.js')).plan
    )
  )
    .option('--format <format>', 'text, mermaid, json or ais-plan', 'text')
    .option(...configOption)
  const diagnose = async () => (await import('../diagnose.js')).diagnose
  add('diagnose <run>', 'show what stands in the way of a run, and what may be done', diagnose)
    .option('--on-chain', 'demand that chains say whether what the run has sent stands')
    .option('--offline', 'ask no chain; by default those with configured endpoints are asked')
    .option('--send-again', 'send the same bytes of what a chain does not know any more again')
    .option(...configOption)
  const events = async () => (await import('../events.js')).events
  add('events <run>', 'write the events of a workflow as engines of AIS do, a line each', events)
    .option('--checkpoint', 'instead of them a checkpoint of its end, with the events in it')
    .option(...configOption)
  const patch = async () => (await import('../decide.js')).patch
  answering(add('patch <run> <node> <changes...>', 'give a node PATH=JSON, and continue', patch))
  const retry = async () => (await import('../decide.js')).decide('retry')
  answering(add('retry <run> [node]', 'let a node that failed try again', retry))
  const skip = async () => (await import('../decide.js')).decide('skip')
  answering(add('skip <run> [node]', 'take a node that failed as done', skip))
  const abort = async () => (await import('../decide.js')).decide('abort')
  answering(add('abort <run> [node]', 'let a node that failed fail its run', abort))
}
