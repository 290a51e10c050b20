import { systemClock, timeText } from '../core/index.js'
import { localClient } from './frame/client.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { onInterrupt } from './frame/interrupt.js'
import { statusStyles } from './frame/render.js'
import { joined, text } from './frame/text.js'
import { LedgerSource } from './inspect/ledger-source.js'
import { followLedger, type LedgerChange } from './watch/follow-ledger.js'
import { listenToKeys } from './watch/keys.js'
import { openRuns, stepText, whyOf } from './watch/watch-rows.js'
import { WatchTable } from './watch/watch-table.js'
import { type Change, type WatchedRun, WatchedRuns } from './watch/watched-runs.js'

export interface WatchOptions {
  readonly steps?: boolean
}

/**
 * `tally watch`: runs and waits as they change, of a ledger that a service holds or none does, or
 * of a snapshot; as a table on a terminal, otherwise a line for each change. The ledger is only
 * read. It ends at q, or as commands do that are interrupted.
 */
export async function watch(frame: Frame, { steps = false }: WatchOptions): Promise<ExitCode> {
  const source = await LedgerSource.of(frame)
  const ended = new AbortController()
  const runs = new WatchedRuns()
  const interruption = onInterrupt(async () => ended.abort())
  const table = await WatchTable.on(frame, runs)
  const stopKeys =
    table === undefined
      ? undefined
      : listenToKeys({
          ends: () => ended.abort(),
          interrupted: () => process.kill(process.pid, 'SIGINT')
        })
  try {
    const client = localClient(source.handle)
    for await (const heard of followLedger(client, runs, ended.signal)) {
      if (ended.signal.aborted) break
      const change = taken(runs, heard)
      if (table !== undefined) table.show(heard)
      else if (heard.type === 'begun') await tellOpen(frame, runs)
      else await tell(frame, heard, change, steps)
    }
  } finally {
    stopKeys?.()
    table?.close()
    interruption.release()
    await source.close()
  }
  return interruption.exitCode ?? exitCodes.done
}

/** What a change of the ledger changes in the runs that are known; nothing where it is not new. */
function taken(runs: WatchedRuns, heard: LedgerChange): Change | undefined {
  if (heard.type === 'line') {
    if (!heard.isNew && !runs.has(heard.line.id)) return undefined
    return runs.take(heard.line, systemClock.now())
  }
  if (heard.type !== 'entry') return undefined
  const change = runs.step(heard.runId, heard.entry)
  return heard.isNew ? change : undefined
}

/** One line for each run that is open when the watch begins. */
async function tellOpen(frame: Frame, runs: WatchedRuns): Promise<void> {
  for (const run of openRuns(runs)) {
    frame.output.document('open', { run })
    await tellRun(frame, run.status, run)
  }
}

/** One line for each change. */
async function tell(
  frame: Frame,
  heard: LedgerChange,
  change: Change | undefined,
  steps: boolean
): Promise<void> {
  const { output } = frame
  if (heard.type === 'mode') {
    const { mode, cause } = heard
    output.document('mode', { mode, cause })
    if (mode !== 'ready' && mode !== 'closed') output.log(text`the ledger is ${mode}`)
  }
  if (change === undefined || (change.change === 'step' && !steps)) return
  const { change: what, run } = change
  output.document('change', { change: what, run })
  await tellRun(frame, what, run)
}

async function tellRun({ output }: Frame, what: Change['change'], run: WatchedRun): Promise<void> {
  const { paint } = output
  const style = what === 'quarantined' ? 'red' : 'cyan'
  const shown = paint(what in statusStyles ? statusStyles[run.status] : style, what)
  const line = [timeText(systemClock.now()), shown, run.id, run.name, stepText(run), whyOf(run)]
  output.line(joined(line.filter((part) => part !== '')))
  await output.ready()
}
