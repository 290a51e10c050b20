import { type Add, answering, configOption, waitOption } from './add.js'
import { acting, addWorkflowCommands } from './workflows.js'

/** Commands that run documents and answer what they wait for. */
export function addRunCommands(add: Add): void {
  acting(
    add(
      'run [file]',
      'run a document, or a workflow in code',
      async () => (await import('../run.js')).run
    )
  )
    .option('--id <id>', 'name of the run; the same id is the same run')
    .option('--inputs <json>', 'payload of the run: JSON, or @file', '{}')
    .option('--workflow <name>', 'a registered workflow in code, instead of a file')
    .option('--context <json>', 'context of the run: a JSON object, or @file')
    .option('--trace <traceparent>', 'trace of the caller, in the form of W3C Trace Context')
    .option('--subject <name>', 'whose data it is about: kept under a key that can be erased')
    .option(...waitOption)
    .option(...configOption)
  const resume = async () => (await import('../resume.js')).resume
  answering(add('resume <run> [token]', 'resume a run, or end a wait with a value', resume))
    .option('--value <json>', 'the value that was waited for, or a patch: JSON, or @file')
    .option('--action <action>', 'resume, retry, patch, skip or abort')
  const approve = async () => (await import('../approve.js')).approve
  answering(add('approve <run> [token]', 'let a wait continue', approve))
  const deny = async () => (await import('../deny.js')).deny
  answering(add('deny <run> [token]', 'refuse a wait', deny))
  add(
    'signal <run> <name>',
    'send a run a signal',
    async () => (await import('../signal.js')).signal
  )
    .option('--value <json>', 'what the run is given: JSON, or @file')
    .option('--id <id>', 'sent again with the same id, the signal changes nothing')
    .option('--by <name>', 'who sends it; kept as a claim')
    .option(...configOption)
  const schedules = async () => (await import('../schedules.js')).schedules
  add('schedules [name]', 'list what begins by time, or change one', schedules)
    .option('--pause', 'begin no more of its runs until it is resumed')
    .option('--resume', 'begin its runs again, without what fell due meanwhile')
    .option('--remove', 'forget it; runs that have begun continue')
    .option(...configOption)
  add('cancel <run>', 'end a run', async () => (await import('../cancel.js')).cancel)
    .option('--reason <text>', 'kept in the journal')
    .option(...configOption)
  const release = async () => (await import('../release.js')).release
  add('release <run>', 'let a quarantined run continue', release).option(...configOption)
  addWorkflowCommands(add)
}
