import type { CodeTexts } from '../texts.js'

export const runtimeCodes = {
  'runtime.invalid_archive': {
    message: 'History cannot be archived like this: {problem}.',
    fix: 'Give `archive` an `after` such as 30d, a `directory`, and an `every` such as 1d if you like.'
  },
  'runtime.closed': {
    message: 'The runtime is closed.',
    fix: 'Open a new one with createRuntime.'
  },
  'runtime.too_many_identities': {
    message: '{limit} identities are open already, and each is held or at work.',
    fix: 'Close what identity() gave once it is done with, or give openLocation a larger "openMax".'
  },
  'runtime.identity_not_made': {
    message: 'The identity {name} was not made: {problem}',
    fix: 'Correct what is wrong, and ask again; the same name is the same identity.'
  },
  'runtime.invalid_location': {
    message: 'The location cannot be opened like this: {problem}.',
    fix: 'Give the directory of a ledger, "openMax" and "idleMs" as whole numbers from 1, or none.'
  },
  'runtime.replay_only': {
    message: 'This runtime was opened to replay; it takes no new work.',
    fix: 'Open the ledger with mode "normal" to run something.'
  },
  'runtime.too_many_runs': {
    message: '{limit} runs are live already.',
    fix: 'Start more when some have ended or wait for a message.'
  },
  'runtime.invalid_composite': {
    message: 'A registered composite is not valid: {problem}.',
    fix: 'Check it with "tally lint".'
  },
  'run.invalid_tags': {
    message: 'The tags of the run cannot be kept: {problem}.',
    fix: 'Give at most RUN_TAGS_MAX tags, each a text of 1 to RUN_TAG_LENGTH_MAX characters.'
  },
  'run.invalid_options': {
    message: 'A run cannot be started like this: {problem}.',
    fix: 'Give the inputs of a document as "inputs" among the options, and the input of a workflow in code before them.'
  },
  'run.invalid_subject': {
    message: 'The subject of the run is no text of 1 to {max} characters.',
    fix: 'Give a name that stands for one person or party, such as `customer-17`.'
  },
  'runtime.invalid_queue': {
    message: 'The queue {name} cannot hold: {problem}.',
    fix: 'Declare each queue once, in "queues" of createRuntime or with the block or workflow that names it.'
  },
  'runtime.invalid_schedule': {
    message: 'The schedule {name} cannot hold: {problem}.',
    fix: 'Give it a name, cron or every, and a registered workflow or a document.'
  },
  'run.invalid_queue': {
    message: 'The run cannot wait in that queue: {problem}.',
    fix: 'Name a queue, with a whole number as priority and a text as partition, or without them.'
  },
  'run.unknown_queue': {
    message: 'No queue is declared as {name}.',
    fix: 'Give it to createRuntime in "queues", or name one that is there.'
  },
  'run.invalid_signal': {
    message: 'The signal cannot be sent: {problem}.',
    fix: 'Give it a name that the run asks for, and an id or none.'
  },
  'runtime.duplicate_name': {
    message: 'Two {what} are registered as {name}.',
    fix: 'Give each its own name.'
  },
  'runtime.invalid_obligation': {
    message: 'The obligation of the {what} {name} cannot hold: {problem}.',
    fix: 'Name what is registered; "confirm" is true or has a message, limits are whole numbers from 1.'
  },
  'runtime.integrity_lock': {
    message: 'The ledger does not match its integrity lock: {problem}.',
    fix: 'Run "tally verify", then "tally recover --accept-lock".'
  },
  'runtime.rolled_back': {
    message: 'The ledger was put back to an earlier time: {problem}.',
    fix: 'Put the newer data back, or run "tally recover --acknowledge-notes".'
  },
  'runtime.replay_mismatch': {
    message:
      'The last receipt, {index}, gives another result when it is executed again: {problem}.',
    fix:
      'Register the code that made it; if the code has changed, raise its version. Then open the ' +
      'ledger again, or run "tally verify --replay".'
  },
  'runtime.newer_versions': {
    message: 'Version {theirs} of the kernel has used the ledger, and this is {ours}.',
    fix: 'Use the version of tallystick that was used last, or a later one.'
  },
  'runtime.workflow_not_registered': {
    message: 'The workflow {name} is not registered.',
    fix: 'Give it to createRuntime in "workflows", or name it there in tally.config.'
  },
  'runtime.not_published': {
    message: 'No document is published as {name}.',
    fix: 'As the owner: "tally publish FILE".'
  },
  'runtime.published_missing': {
    message: 'The published document {name} needs code that is not registered: {missing}.',
    fix: 'Register these versions beside the newer ones, or publish the document again.'
  },
  'runtime.published_changed': {
    message: 'The published document {name} compiles to another definition here: {difference}.',
    fix: 'Use the configuration that it was published with, or publish the document again.'
  },
  'service.unknown_method': {
    message: 'The service has no method {method}.',
    fix: 'Use the same version of tallystick on both sides.'
  },
  'service.invalid_params': {
    message: 'The parameters of {method} are not valid: {problem}.',
    fix: 'Use the same version of tallystick on both sides.'
  },
  'service.agent_documents': {
    message: 'The agent {agent} may not run documents of its own.',
    fix: 'Run one that is published, by its name; or serve with "tally mcp --allow-documents".'
  },
  'service.agent_reads_own': {
    message: 'The agent {agent} reads runs of its own and their receipts only.',
    fix: 'As the owner: "tally grant --agent {agent} ledger.read".'
  },
  'service.agent_refused': {
    message: 'The agent {agent} may not answer this wait: {problem}.',
    fix: 'Answer it as the owner, with "tally approve" or "tally deny".'
  }
} as const satisfies CodeTexts
