import { type Add, collected, configOption } from './add.js'
import { needing } from './workflows.js'

/** Commands that make, check and mend what is there, and draw and check documents. */
export function addKeepingCommands(add: Add): void {
  add('init', 'make a ledger', async () => (await import('../init.js')).init).option(
    '--insecure-plaintext-key',
    'keep the key in plain text, for demonstrations'
  )
  const newService = async () => (await import('../new.js')).newService
  add('new <name>', 'write a service to begin with: a directory of that name', newService)
  const graph = async () => (await import('../graph.js')).graph
  needing(add('graph <file>', 'draw a document', graph))
    .option('--format <format>', 'mermaid, chart, json or xstate', 'mermaid')
    .option(...configOption)
  const lint = async () => (await import('../lint.js')).lint
  needing(add('lint <file>', 'check a document', lint)).option(...configOption)
  add('doctor', 'check the surroundings', async () => (await import('../doctor.js')).doctor).option(
    ...configOption
  )
  add('recover', 'leave safe mode', async () => (await import('../recover.js')).recover)
    .option('--cut', 'keep the longest verified prefix if nothing else is left')
    .option('--accept-lock', 'drop an integrity lock that the ledger is not what it says')
    .option('--remove-packages', 'remove stored packages whose bytes are wrong')
    .option('--archive <file>', 'with --cut: an archive of the ledger (repeatable)', collected, [])
    .option('--note <file>', 'a note that was kept elsewhere (repeatable)', collected, [])
    .option('--acknowledge-notes', 'continue although a note proves that more was there')
  const importing = async () => (await import('../import.js')).importLedger
  add('import [file]', 'make the ledger of a snapshot, or restore one', importing)
    .option('--note <file>', 'a note that was kept elsewhere (repeatable)', collected, [])
    .option('--take-over', 'run it here from now on; nothing else may run its identity')
    .option('--key <file>', 'with --take-over: the key file of its identity, to be copied')
  const archiving = async () => (await import('../archive.js')).archive
  add('archive <file>', 'move history of ended runs into a signed file', archiving)
    .option('--before <date>', 'history before this date')
    .option('--through <receipt>', 'history through this receipt: its hash, or its place')
    .option('--check', 'check the file alone, and change nothing')
  const erasing = async () => (await import('../erase.js')).erase
  add('erase <subject>', 'destroy the key of a subject, for ever', erasing)
    .option('--dry-run', 'say what would be erased and what cannot be, and change nothing')
    .option(...configOption)
  add('demo', 'see it all in a minute', async () => (await import('../demo.js')).demo).option(
    '--keep',
    'keep what it made'
  )
}
