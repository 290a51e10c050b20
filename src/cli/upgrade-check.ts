import { canonicalize, isHash, type RunId } from '../core/index.js'
import type { RunReadiness } from '../runtime/index.js'
import type { ServiceClient } from './frame/client.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { configOf, withSession } from './frame/session.js'
import { type Text, text } from './frame/text.js'

/**
 * `tally upgrade check [CONFIG]`: whether each open run can continue with the code of a
 * configuration, and why not. The ledger is only read, also while a service holds it; no code of a
 * block runs.
 */
export async function upgradeCheck(frame: Frame, config: string | undefined): Promise<ExitCode> {
  const { output, directory } = frame
  const code = await configOf(frame, config)
  return withSession(frame, 'read', async ({ client }) => {
    const { identity } = await client.request('status', {})
    const { checkUpgradeWith } = await import('../runtime/index.js')
    const source = {
      identity,
      runs: () => runsOf(client),
      journal: (runId: RunId) => journalOf(client, runId)
    }
    let [open, stuck] = [0, 0]
    for await (const one of checkUpgradeWith(code, source, directory)) {
      output.document('readiness', one)
      for (const line of linesOf(frame, one)) output.line(line)
      open += 1
      if (!one.ready) stuck += 1
    }
    const ready = open - stuck
    output.document('upgrade', { ok: stuck === 0, open, ready })
    output.line(text`${`${ready} of ${open} open runs can continue`}`)
    return stuck === 0 ? exitCodes.done : exitCodes.failed
  })
}

async function* runsOf(client: ServiceClient) {
  for await (const { id, name, status } of client.stream('runs', {})) {
    // Taking over an imported ledger asks the same of its open runs.
    yield { runId: id, name, status: status === 'imported' ? ('waiting' as const) : status }
  }
}

async function* journalOf(client: ServiceClient, runId: RunId) {
  for await (const { entry, receiptHash } of client.stream('journal', { id: runId })) {
    const text = canonicalize(entry)
    yield { text, value: entry, ...(isHash(receiptHash) ? { receiptHash } : {}) }
  }
}

function linesOf({ output: { paint } }: Frame, one: RunReadiness): readonly Text[] {
  const { id, name, status, ready, problem, foldsUnderCurrent } = one
  if (ready) return [text`${paint('green', 'ready')} ${id} ${name} (${status})`]
  const head = text`${paint('red', 'stays')} ${id} ${name} (${status}): ${problem ?? ''}`
  if (foldsUnderCurrent === null) return [head]
  const how = foldsUnderCurrent
    ? 'its history leads to the same states under the versions that its names lead to now'
    : 'its history leads elsewhere under the versions that its names lead to now'
  return [head, text`  ${how}`]
}
