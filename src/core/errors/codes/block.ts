import type { CodeTexts } from '../texts.js'

export const blockCodes = {
  'block.unknown_path': {
    message: 'The run has no block at {path}.',
    fix: 'The journal and the definition do not belong together; verify the ledger.'
  },
  'block.invalid_definition': {
    message: 'Block {name} cannot be defined: {problem}.',
    fix: 'Correct the definition passed to defineBlock.'
  },
  'block.invalid_state_key': {
    message: 'The state key {key} cannot be used.',
    fix: 'Use a non-empty string without NUL that does not begin with "local/".'
  },
  'block.reserved_state_key': {
    message: 'The state key {key} is part of the tables of the kernel.',
    fix: 'Use another prefix; grants, preferences and packages change by system intents.'
  },
  'run.not_found': {
    message: 'There is no run {runId} in this ledger.',
    fix: 'List the runs with "tally runs".'
  },
  'run.refused': {
    message: 'Run {runId} was not begun: {problem}.',
    fix: 'Mend the document or its inputs; details.diagnostics of the cause list all that is wrong.'
  },
  'run.id_reused': {
    message: 'Run {runId} exists with another {what}.',
    fix: 'Use a new id for other work; the same id stands for the same work.'
  },
  'run.not_permitted': {
    message: 'The {principal} lacks {capability} of code {codeHash} for run {runId}: {missing}.',
    fix: 'As the owner: "{command}".'
  },
  'run.invalid_context': {
    message: 'The context of a run cannot be used: {problem}.',
    fix: 'Give a plain JSON object.'
  },
  'run.invalid_trace': {
    message: 'The trace of a run cannot be used: {problem}.',
    fix: 'Give a traceparent, or traceId (32) and spanId (16 lower-case hex digits, not all 0).'
  },
  'run.invalid_id': {
    message: 'The run id {runId} cannot be used.',
    fix: 'Use letters, digits and "._:-", at most 128, beginning with a letter or digit.'
  },
  'run.quarantined': {
    message:
      'Run {runId} is quarantined, because it gave another result when it was executed again: {problem}.',
    fix: 'Put the code back that it ran with, and release it with "tally release {runId}"; or end it with "tally cancel {runId}".'
  },
  'run.version_quarantined': {
    message: 'A new run of {block} is refused: run {runId} gave another result under that version.',
    fix: 'Correct the block and raise its version; or release the run with "tally release {runId}".'
  },
  'run.definition_changed': {
    message: 'Run {runId} was started with another definition: {difference}.',
    fix: 'Register the code and documents that the run was started with, or cancel the run.'
  },
  'run.code_missing': {
    message: 'Run {runId} cannot continue: its code is not registered: {missing}.',
    fix: 'Register these versions beside the newer ones and resume the run, or cancel it with "tally cancel {runId}".'
  },
  'run.not_executed': {
    message: 'Code could not be executed again here, which says nothing about it: {problem}',
    fix: 'Look at what the machine lacks, then verify again.'
  },
  'run.interrupted': {
    message: 'Run {runId} is parked because the runtime closed; nothing is lost.',
    fix: 'Resume it by its id after opening the ledger again: "tally resume {runId}".'
  },
  'run.answer_refused': {
    message: 'The answer to run {runId} was refused: {problem}.',
    fix: 'See what it waits for with "tally show {runId}", and answer that.'
  },
  'run.journal_forged': {
    message:
      'The journal of run {runId} is not what this ledger wrote: its entries up to {entry} do not fit their code.',
    fix: 'The store was changed from outside. Run "tally verify --replay", and continue from a copy that you trust.'
  },
  'run.journal_malformed': {
    message: 'Entry {entry} ({kind}) of the journal of run {runId} does not have its form.',
    fix: 'Run "tally verify --replay". A newer version may have written it: continue with that one, or from a copy that you trust.'
  },
  'run.result_forged': {
    message: 'The result of run {runId} is not what this ledger signed: {problem}.',
    fix: 'The store was changed from outside. Run "tally verify", and continue from a copy that you trust.'
  },
  'run.wait_forged': {
    message:
      'Run {runId} shows a wait that its digest does not fit: signed {signed}, computed {computed}.',
    fix: 'Do not answer it: the store, or what lies between it and you, was changed. Run "tally verify --replay".'
  },
  'run.unknown_block': {
    message: 'Run {runId} needs the block {block}, which is not registered.',
    fix: 'Register the block with createRuntime or in tally.config, then resume the run.'
  },
  'run.diverged': {
    message:
      'Run {runId} differs from its journal: {path} step {step}, the request of call {seq} ({effect}) has signed {signed}, computed {computed}.',
    fix: 'The code of the block has changed. Register the version that the run was started with, or cancel the run.'
  }
} as const satisfies CodeTexts
