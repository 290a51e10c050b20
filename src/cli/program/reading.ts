import { type Add, collected, configOption } from './add.js'

/** Commands that read and check a ledger. */
export function addReadCommands(add: Add): void {
  const runs = async () => (await import('../runs.js')).runs
  add('runs', 'list the runs, newest first', runs)
    .option('--status <status>', 'running, waiting, done, failed, cancelled or imported')
    .option('--name <name>', 'only those of documents with this name')
    .option('--tag <tag>', 'only those that were started with this tag')
    .option('--parent <run>', 'only those that the workflow of this run has started')
    .option('--queue <queue>', 'only those that wait for their turn in this queue')
    .option('--limit <count>', 'only so many')
  const queues = async () => (await import('../queues.js')).queues
  add('queues [name]', 'list the queues, and what waits in one', queues)
  add(
    'watch',
    'show runs and waits as they change',
    async () => (await import('../watch.js')).watch
  ).option('--steps', 'where there is no table: also each step')
  add('log', 'list the receipts', async () => (await import('../log.js')).log)
    .option('--last <count>', 'only so many; 50 unless told otherwise')
    .option('--from <index>', 'first place in the chain, from 0')
    .option('--to <index>', 'place in the chain before which to stop')
    .option('--run <id>', 'only those of one run')
    .option('--all', 'from the first one on')
  const showing = async () => (await import('../show.js')).show
  add('show <what>', 'show a run or a receipt', showing)
    .option('--chart', 'the document of the run, with where each of its nodes stands')
    .option('--journal', 'every entry of the run')
  const inspecting = async () => (await import('../inspect.js')).inspect
  add('inspect [run]', 'open the console: runs, waits, receipts, in a browser', inspecting)
    .option('--open', 'open a browser, on a terminal')
    .option('--read-only', 'take no answers, and change nothing')
    .option('--stately', "show runs to Stately's inspector instead, over a WebSocket on loopback")
    .option('--payloads', 'with payloads, which else are replaced by their sizes')
    .option('--port <port>', 'where to listen; any that is free unless told otherwise')
    .option(...configOption)
  add('verify', 'check the whole ledger', async () => (await import('../verify.js')).verify)
    .option('--note <file>', 'a note that was kept elsewhere (repeatable)', collected, [])
    .option('--archive <file>', 'an archive of the ledger (repeatable)', collected, [])
    .option('--replay', 'execute every step again')
    .option('--complete', 'fail unless every step could be executed again')
    .option(...configOption)
  const bindings = async () => (await import('../bindings.js')).bindings
  add('bindings <flow>', 'show what a flow is bound to, and why', bindings).option(...configOption)
  const replay = async () => (await import('../replay.js')).replay
  add('replay [receipt]', 'execute a receipt again, or all of them, twice', replay).option(
    ...configOption
  )
  const identities = async () => (await import('../identities.js')).identities
  add('identities', 'list the identities of the ledger', identities)
  add('note', 'sign everything so far', async () => (await import('../note.js')).note).option(
    '-o, --output <file>',
    'where to write it'
  )
  const exporting = async () => (await import('../export.js')).exportSnapshot
  add('export <file>', 'write a snapshot: the whole ledger in one file', exporting)
    .option('--unsigned', 'without a signed note, and so without the key')
    .option('--damaged', 'also a ledger that does not verify, as it stands')
    .option('--archive <file>', 'an archive of the ledger (repeatable)', collected, [])
}
