import { isTallyError } from '../../core/index.js'
import type { RunView, ServiceEvent, ServiceStreams } from '../../runtime/index.js'
import type { Followed } from './follow.js'
import type { Frame } from './frame.js'
import { openSession, type Session, withSession } from './session.js'

/**
 * Continues a run whose service went away, wherever it stands: the durable records say (L6, L7).
 * Needs key and configuration only if there is something left to run.
 */
export async function takeOver(
  frame: Frame,
  options: {
    readonly runId: string
    readonly isPatient: boolean
    readonly config: string | undefined
    /** Begins the run when it had not begun. */
    readonly start?: ServiceStreams['run']['params']
  }
): Promise<Followed> {
  const { runId, isPatient, config, start } = options
  const view = await withSession(frame, 'read', ({ client }) => find(client, runId))
  const end = view === undefined ? undefined : restOf(view, isPatient)
  if (end !== undefined) return { session: closedSession, events: once(end) }
  const session = await openSession(frame, 'run', { config })
  const { client } = session
  const events =
    view === undefined && start !== undefined
      ? client.stream('run', start)
      : client.stream('resume', { id: runId, follow: isPatient })
  return { session, events }
}

async function find(client: Session['client'], id: string): Promise<RunView | undefined> {
  try {
    return await client.request('show', { id })
  } catch (error) {
    if (isTallyError(error, 'run.not_found')) return undefined
    throw error
  }
}

/** The event that says how a run stands, unless it has to continue. */
function restOf(view: RunView, isPatient: boolean): ServiceEvent | undefined {
  const { id: runId, updatedAt: at, status, response, receiptHash, waits, due } = view
  const isOpen = status === 'running' || status === 'waiting' || status === 'imported'
  if (response !== null && !isOpen) {
    const hash = receiptHash === null ? {} : { receiptHash }
    return { type: 'run.finished', runId, at, status, response, ...hash }
  }
  if (status !== 'waiting' || isPatient || waits.length === 0) return undefined
  return { type: 'run.parked', runId, at, waits, due }
}

async function* once(event: ServiceEvent): AsyncGenerator<ServiceEvent> {
  yield event
}

/** Nothing is held: the ledger told how the run stands. */
const closedSession: Followed['session'] = { holder: 'us', close: async () => undefined }
