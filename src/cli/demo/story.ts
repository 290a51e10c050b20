import { type ChildProcess, spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isJsonObject, nextTurn, systemClock } from '../../core/index.js'
import { holdStore } from '../../ledger/index.js'
import { alterRecords } from './alter.js'

/**
 * `tally demo`: the main job with a kill in the middle, told step by step. Every step is a command
 * that the reader could type; the demonstration only types them, kills one, and alters a copy.
 */

// From dist/src/cli/demo to the package.
const packageRoot = new URL('../../../../', import.meta.url)
const main = fileURLToPath(new URL('../main.js', import.meta.url))
const example = fileURLToPath(new URL('examples/01-invoices/', packageRoot))
const config = fileURLToPath(new URL('dist/examples/01-invoices/tally.config.js', packageRoot))

/** Transfers after which the process is killed: the middle of the run. */
const KILL_AFTER_TRANSFERS = 10
/** What one transfer takes, so that there is something to watch. */
const BANK_DELAY_MS = 120
const POLL_MS = 20
const DEMO_MS_MAX = 120_000

interface Stage {
  readonly folder: string
  readonly ledger: string
  readonly book: string
  print(line: string): void
}

/**
 * Runs the demonstration; true when every step went as told. Leaves nothing behind unless `keep`.
 */
export async function runDemo(options: {
  readonly keep: boolean
  print(line: string): void
}): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'tally-demo-'))
  const stage: Stage = {
    folder,
    ledger: join(folder, 'ledger'),
    book: join(folder, 'bank.jsonl'),
    print: options.print
  }
  try {
    return await tell(stage)
  } finally {
    if (options.keep) options.print(`\nKept: ${folder}`)
    else await rm(folder, { recursive: true, force: true })
  }
}

async function tell(stage: Stage): Promise<boolean> {
  const { ledger, print } = stage
  const onLedger = ['--dir', ledger]
  const onRun = [...onLedger, '--config', config]
  const inputs = JSON.stringify({ path: join(example, 'invoices.csv'), confirm_above: '10000.00' })
  const document = join(example, 'pay-invoices.yaml')

  title(print, '1', 'Make a ledger: a key, a chain, an empty state')
  await tally(stage, ['init', ...onLedger, '--insecure-plaintext-key'], [0])

  title(print, '2', 'Pay 24 invoices, and kill the process (SIGKILL) after ten transfers')
  const run = start(stage, ['run', document, '--id', 'june', '--inputs', inputs, ...onRun])
  await killAfter(stage, run, KILL_AFTER_TRANSFERS)
  const before = await transfersOf(stage)
  print(`\nKilled. The bank's book has ${before.length} transfers.`)

  title(print, '3', 'Resume: what was done is not done again; a large invoice waits for a person')
  await tally(stage, ['resume', 'june', ...onRun], [4])

  title(print, '4', 'Confirm it; the approval is bound to exactly this payment')
  await tally(stage, ['approve', 'june', '--by', 'demo', ...onRun], [0])

  const transfers = await transfersOf(stage)
  const distinct = new Set(transfers.map(({ invoice }) => invoice)).size
  print(`\nThe bank's book has ${transfers.length} transfers for ${distinct} invoices: none twice.`)

  title(print, '5', 'Verify: check every hash and signature, and execute every step again')
  await tally(stage, ['verify', '--replay', ...onRun], [0])

  title(print, '6', 'Alter one amount in a copy of the ledger, checksums and all, and verify that')
  const copy = await alteredCopy(stage)
  await tally(stage, ['verify', '--dir', copy], [3])

  title(print, 'Next', 'Where to look')
  for (const line of nextSteps) print(`  ${line}`)
  return transfers.length === distinct && distinct > before.length
}

const nextSteps = [
  'examples/01-invoices/pay-invoices.yaml   the document that ran',
  'examples/01-invoices/blocks.ts           its blocks',
  'npm run example 01-invoices              the same, embedded in a program',
  'docs/guide.md                            write your own',
  'docs/guarantees.md                       what is promised, and the test that shows it',
  'tally --help                             every command'
]

function title(print: Stage['print'], step: string, text: string): void {
  print(`\n== ${step}. ${text}`)
}

function start(stage: Stage, args: readonly string[]): ChildProcess {
  const shown = args.map((word) => (/^[\w./:-]+$/.test(word) ? word : `'${word}'`))
  const short = shown.join(' ').replaceAll(`${stage.folder}/`, '')
  stage.print(`$ tally ${short.replaceAll(fileURLToPath(packageRoot), '')}`)
  return spawn(process.execPath, [main, ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, BANK_BOOK: stage.book, BANK_DELAY_MS: String(BANK_DELAY_MS) }
  })
}

/** Runs one command to its end; throws when it ends otherwise than the story needs. */
async function tally(
  stage: Stage,
  args: readonly string[],
  expected: readonly number[]
): Promise<void> {
  const code = await ended(start(stage, args))
  if (expected.includes(code)) return
  throw new Error(`tally ${args[0]} ended with ${code}, expected ${expected.join(' or ')}`)
}

function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? -1))
  })
}

async function killAfter(stage: Stage, child: ChildProcess, transfers: number): Promise<void> {
  const over = ended(child)
  const until = systemClock.now() + DEMO_MS_MAX
  let isOver = false
  void over.then(() => {
    isOver = true
  })
  while (!isOver && (await transfersOf(stage)).length < transfers) {
    if (systemClock.now() > until) throw new Error('the run made no progress')
    await pause(POLL_MS)
  }
  if (isOver) throw new Error('the run ended before it could be killed')
  child.kill('SIGKILL')
  await over
}

async function pause(ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    systemClock.schedule(systemClock.now() + ms, resolve)
  })
  await nextTurn()
}

async function transfersOf(stage: Stage): Promise<readonly { readonly invoice: string }[]> {
  const text = await readFile(stage.book, 'utf8').catch(() => '')
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => {
    const transfer: unknown = JSON.parse(line)
    return { invoice: isJsonObject(transfer) ? String(transfer['invoice']) : '' }
  })
}

/** A copy of the ledger in which the large invoice was a tenth of what was paid. */
async function alteredCopy(stage: Stage): Promise<string> {
  const copy = join(stage.folder, 'copy')
  await cp(stage.ledger, copy, { recursive: true })
  const held = await holdStore(copy)
  try {
    const [identity] = held.location.marker.identities
    if (identity === undefined) throw new Error('the ledger has no identity')
    const altered = await alterRecords(held.store, identity, (text) =>
      text
        .split('\n')
        .map((line) => (line.includes('"payment/INV-2617"') ? withLessPaid(line) : line))
        .join('\n')
    )
    if (altered === 0) throw new Error('there was nothing to alter')
  } finally {
    await held.close()
  }
  return copy
}

function withLessPaid(line: string): string {
  return line.replaceAll('"amount":"18250.00"', '"amount":"1825.00"')
}
