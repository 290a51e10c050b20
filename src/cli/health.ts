import type { HealthCheck, OpeningReport } from '../runtime/index.js'
import { completed } from './frame/command-line.js'
import type { Frame } from './frame/frame.js'
import { errorDocument } from './frame/output.js'
import { givenPassphrase } from './frame/passphrase.js'
import { configOf, openSession } from './frame/session.js'

/** One line of `tally doctor`. */
export interface Check {
  readonly name: string
  readonly state: 'ok' | 'warning' | 'problem'
  readonly found: string
  readonly fix?: string
}

/**
 * How the ledger is: as the service that holds it says, or as opening it would find it. Only a
 * configuration that is named is loaded: then the last receipt is executed with its code.
 */
export async function checkHealth(
  frame: Frame,
  config: string | undefined
): Promise<readonly HealthCheck[]> {
  const { healthChecks } = await import('../runtime/index.js')
  const { findingsOf, ledgerHealth, problemOf } = await healthChecks()
  try {
    const session = await openSession(frame, 'read')
    const status = await session.client.request('status', {}).finally(() => session.close())
    const { process: pid, quarantined = [] } = status
    const condition = { ...status, quarantined }
    if (session.holder === 'owner') return ledgerHealth(condition, findingsOf(status), pid)
    return ledgerHealth(condition, await inspected(frame, config), undefined)
  } catch (error) {
    return [{ ...problemOf('ledger', error), fix: errorDocument(error).fix }]
  }
}

async function inspected(frame: Frame, config: string | undefined): Promise<OpeningReport> {
  const { inspectOpening } = await import('../runtime/index.js')
  const code = config === undefined ? {} : { code: await configOf(frame, config) }
  const { identity, directory } = frame
  return inspectOpening(directory, { identity, passphrase: givenPassphrase(frame), ...code })
}

/** A check as `tally doctor` writes it. */
export function shownCheck(
  { commands }: Frame,
  { name, status, message, fix }: HealthCheck
): Check {
  const state = status === 'failed' ? 'problem' : status
  const found = completed(commands, message)
  return { name, state, found, ...(fix === null ? {} : { fix: completed(commands, fix) }) }
}
