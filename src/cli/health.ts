import { isTallyError } from '../core/index.js'
import type { OpeningCause, OpeningReport } from '../runtime/index.js'
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
): Promise<readonly Check[]> {
  try {
    const session = await openSession(frame, 'read')
    const { quarantineWarning } = await import('../runtime/index.js')
    const status = await session.client.request('status', {}).finally(() => session.close())
    const isHeld = session.holder === 'owner'
    const { mode, receipts, process: pid, quarantined = [] } = status
    const opening = isHeld ? await asHeld(status) : await inspected(frame, config)
    const { causes, warnings } = opening
    const holder = isHeld ? `, held by process ${pid}` : ''
    const held = quarantined.map(({ run }) => run).join(', ')
    const marked = held === '' ? '' : `, quarantined: ${held}`
    const shown = causes.length > 0 && mode !== 'poisoned' ? 'safe' : mode
    const found = `${shown}, ${receipts} receipts${holder}${marked}`
    const rest = opening.notChecked.map(notChecked)
    const ledger = (state: Check['state'], told: string, fix?: string): readonly Check[] => [
      { name: 'ledger', state, found: told, ...(fix === undefined ? {} : { fix }) },
      ...rest
    ]
    const [first, ...others] = causes
    if (first !== undefined) {
      const more = others.map(({ message, fix }) => problem('ledger', message, fix))
      const worst = ledger('problem', `${found}: ${first.message}`, first.fix)
      return [...worst.slice(0, 1), ...more, ...rest]
    }
    if (mode === 'restoring') {
      return ledger('warning', found, restoringFix)
    }
    if (mode !== 'ready' && mode !== 'committing') {
      return ledger('problem', found, 'Run "tally verify".')
    }
    if (status.isFollower) return ledger('warning', `imported, ${found}`, replicaFix)
    const [mark] = quarantined
    if (mark !== undefined) return ledger('warning', found, quarantineWarning(mark))
    if (warnings.length === 0) return ledger('ok', found)
    return ledger('warning', [found, ...warnings].join('; '), replayFix)
  } catch (error) {
    return [problemOf('ledger', error)]
  }
}

const restoringFix = 'Once the import has ended, stop the process that holds it, and open it again.'
const replicaFix = 'It can be read and verified; "tally import --take-over" lets it run here.'
const replayFix = 'Run "tally verify --replay" with the configuration that has the code.'

/** A service gives all causes that it found when it opened the ledger; one of 0.1.0 the first. */
async function asHeld(status: {
  readonly cause: OpeningCause | null
  readonly causes?: readonly OpeningCause[]
  readonly warnings: readonly string[]
}): Promise<OpeningReport> {
  const { remedied } = await import('../runtime/index.js')
  const { cause, causes = cause === null ? [] : [cause], warnings } = status
  return { causes: causes.map(remedied), warnings, notChecked: [] }
}

async function inspected(frame: Frame, config: string | undefined): Promise<OpeningReport> {
  const { inspectOpening } = await import('../runtime/index.js')
  const code = config === undefined ? {} : { code: await configOf(frame, config) }
  const { identity, directory } = frame
  return inspectOpening(directory, { identity, passphrase: givenPassphrase(frame), ...code })
}

function notChecked(what: string): Check {
  return { name: 'not checked', state: 'ok', found: what }
}

function problem(name: string, found: string, fix: string): Check {
  return { name, state: 'problem', found, fix }
}

/** What a check that threw found. */
export function problemOf(name: string, error: unknown): Check {
  const { message, fix } = errorDocument(error)
  const state = isTallyError(error, 'ledger.locked') ? 'warning' : 'problem'
  return { name, state, found: message, fix }
}
