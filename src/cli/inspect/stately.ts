import {
  blockError,
  canonicalize,
  isHash,
  isTallyError,
  limits,
  present,
  type RunId,
  systemClock,
  systemRandom
} from '../../core/index.js'
import type { InspectionMessage } from '../../inspect/index.js'
import type { InspectedLedger, InspectedRunsHere, TallyConfig } from '../../runtime/index.js'
import type { ServiceClient } from '../frame/client.js'
import { type ExitCode, exitCodes, type Frame } from '../frame/frame.js'
import { onInterrupt } from '../frame/interrupt.js'
import { portOf } from '../frame/port.js'
import { configOf, openSession } from '../frame/session.js'
import { SharedSession } from '../frame/shared-session.js'
import { text } from '../frame/text.js'

export interface StatelyOptions {
  readonly payloads?: boolean
  readonly port?: string
  readonly config?: string
}

/**
 * `tally inspect [RUN] --stately`: shows what runs did, and do, to Stately's inspector, which
 * connects to the address that is printed. Each viewer gets everything from the beginning; of a
 * ledger that a service holds also what comes. The ledger is only read.
 */
export async function inspectStately(
  frame: Frame,
  run: string | undefined,
  options: StatelyOptions
): Promise<ExitCode> {
  const code = await configOf(frame, options.config)
  const { serveInspection } = await import('../../inspect/index.js')
  const { payloads = false } = options
  const sessions = new SharedSession(() => openSession(frame, 'read'))
  const socket = await serveInspection({
    port: portOf(options.port),
    token: Buffer.from(systemRandom.bytes(TOKEN_BYTES)).toString('base64url'),
    messages: (signal) => messagesOf(frame, { run, code, payloads, signal, sessions }),
    failed: (error) => frame.output.log(text`${String(error)}`)
  })
  const { url } = socket
  frame.output.document('inspection', { url, run: run ?? null, payloads })
  frame.output.line(text`${url}`)
  const interruption = onInterrupt(() => socket.close())
  await socket.ended
  await sessions.close()
  interruption.release()
  return interruption.exitCode ?? exitCodes.done
}

const TOKEN_BYTES = 24

interface Shown {
  readonly run: string | undefined
  readonly code: TallyConfig
  readonly payloads: boolean
  readonly signal: AbortSignal
  readonly sessions: SharedSession
}

/**
 * All that was; then what comes, as long as a service holds the ledger. When it lets go, what it
 * did last is read from the disk.
 */
async function* messagesOf(frame: Frame, shown: Shown): AsyncGenerator<InspectionMessage> {
  const { signal, sessions } = shown
  const entries = new Map<RunId, number>()
  let runs: InspectedRunsHere | undefined
  let client: ServiceClient | undefined
  const journal = (id: RunId, from: number) => journalOf(present(client, 'client'), id, from)
  try {
    for (;;) {
      const use = await sessions.use()
      const { client: opened, holder } = use.session
      client = opened
      try {
        runs ??= await runsOf(frame, shown, { client, journal })
        yield* moved(client, runs, { entries, run: shown.run })
        if (holder === 'us') return
      } catch (error) {
        if (!isTallyError(error, 'owner.disconnected')) throw error
        use.forget()
      } finally {
        use.release()
      }
      await pause(limits.INSPECTION_POLL_MS, signal)
      if (signal.aborted) return
    }
  } finally {
    await runs?.close()
  }
}

async function runsOf(
  frame: Frame,
  { code, payloads }: Shown,
  ledger: { readonly client: ServiceClient; readonly journal: InspectedLedger['journal'] }
): Promise<InspectedRunsHere> {
  const { client, journal } = ledger
  const { identity, location } = await client.request('status', {})
  const { inspectRunsWith } = await import('../../runtime/index.js')
  const lacks = (id: RunId, problem: string) => {
    frame.output.log(text`${id} is not shown: ${problem}`)
  }
  return inspectRunsWith(code, { identity, journal }, { payloads, location, lacks })
}

/** What runs did that have more entries than were shown. */
async function* moved(
  client: ServiceClient,
  runs: InspectedRunsHere,
  { entries, run }: { readonly entries: Map<RunId, number>; readonly run: string | undefined }
): AsyncGenerator<InspectionMessage> {
  let isThere = run === undefined
  for await (const { id, entries: count } of client.stream('runs', {})) {
    isThere ||= id === run
    if ((run !== undefined && id !== run) || entries.get(id) === count) continue
    yield* runs.read(id)
    entries.set(id, count)
  }
  if (!isThere) throw blockError('run.not_found', { runId: run ?? '' })
}

async function* journalOf(client: ServiceClient, id: RunId, from: number) {
  for await (const { entry, receiptHash } of client.stream('journal', { id, from })) {
    const receipt = isHash(receiptHash) ? { receiptHash } : {}
    yield { text: canonicalize(entry), value: entry, ...receipt }
  }
}

async function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => {
      callOff()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const callOff = systemClock.schedule(systemClock.now() + durationMs, end)
    signal.addEventListener('abort', end)
  })
}
