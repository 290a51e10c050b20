import { checkWait, isTallyError, limits, systemClock } from '../../core/index.js'
import type { ServiceEvent } from '../../runtime/index.js'
import { commandLine } from './command-line.js'
import { type ExitCode, exitCodes, type Frame } from './frame.js'
import { onInterrupt } from './interrupt.js'
import { answerCommands, eventLine, nodeName, shortValue, waitLines } from './render.js'
import type { Session } from './session.js'
import { text } from './text.js'

type Finished = Extract<ServiceEvent, { readonly type: 'run.finished' }>
type Parked = Extract<ServiceEvent, { readonly type: 'run.parked' }>

/** A run's events, and the session that they come from. */
export interface Followed {
  readonly session: Pick<Session, 'holder' | 'close'>
  readonly events: AsyncIterable<ServiceEvent>
}

/**
 * Shows a run as it goes, until it has ended or waits, and closes the session. Ctrl-C parks a run
 * of this process; a run of a service continues.
 */
export async function followRun(
  frame: Frame,
  session: Session,
  options: {
    readonly runId: string
    /** Keeps following when the run waits for a message. */
    readonly isPatient: boolean
    readonly events: AsyncIterable<ServiceEvent>
    /** Whom to follow when the service that drives the run goes away. */
    readonly takeOver: () => Promise<Followed>
  }
): Promise<ExitCode> {
  const { runId, isPatient } = options
  let followed: Followed = { session, events: options.events }
  const interruption = onInterrupt(async () => {
    if (followed.session.holder === 'us') frame.output.log(text`parking; once more ends at once`)
    await followed.session.close()
  })
  // Waiting for a message alone would not keep the process alive.
  const stopWaiting = systemClock.schedule(Number.MAX_SAFE_INTEGER, () => undefined)
  const view = new RunView(frame, runId)
  try {
    for (let turn = 0; ; turn += 1) {
      const error = await showAll(view, followed.events, isPatient)
      if (error === undefined) break
      if (!isGone(error)) throw error
      if (interruption.exitCode !== undefined) break
      if (followed.session.holder === 'us' || turn >= limits.CLI_HANDOVERS_MAX) throw error
      await followed.session.close()
      frame.output.log(text`the service that drove run ${runId} went away`)
      followed = await options.takeOver().catch(failing)
    }
  } finally {
    view.end()
    stopWaiting()
    await followed.session.close()
    interruption.release()
  }
  if (view.finished !== undefined) return showEnd(frame, view.finished)
  if (interruption.exitCode === undefined) return showWaits(frame, runId, view.parked)
  showParked(frame, runId, followed.session)
  return interruption.exitCode
}

/** Shows events until they end; what ended them otherwise is given back. */
async function showAll(
  view: RunView,
  events: AsyncIterable<ServiceEvent>,
  isPatient: boolean
): Promise<unknown> {
  try {
    for await (const event of events) await view.show(event, isPatient)
    return undefined
  } catch (error) {
    return error
  }
}

/** The next service may go away too: then it is looked for once more. */
function failing(error: unknown): Followed {
  if (!isGone(error)) throw error
  const session = { holder: 'owner', close: async () => undefined } as const
  const events: Followed['events'] = {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) })
  }
  return { session, events }
}

function isGone(error: unknown): boolean {
  const codes = ['run.interrupted', 'owner.disconnected', 'runtime.closed'] as const
  return codes.some((code) => isTallyError(error, code))
}

/** Words of a speaking agent that are shown, in UTF-16 units. */
const SAID_LENGTH = 60

/** Prints events; on a terminal it also shows the live state below them. */
class RunView {
  finished: Finished | undefined
  parked: Parked | undefined
  readonly #frame: Frame
  readonly #runId: string
  readonly #busy = new Map<string, string>()
  /** The last words of agents that are speaking, by path. */
  readonly #said = new Map<string, string>()

  constructor(frame: Frame, runId: string) {
    this.#frame = frame
    this.#runId = runId
  }

  async show(event: ServiceEvent, isPatient: boolean): Promise<void> {
    const { output } = this.#frame
    for (const wait of waitsIn(event)) checkWait(this.#runId, wait)
    if (event.type === 'run.finished') this.finished = event
    else output.document('event', event)
    if (event.type === 'run.parked') {
      this.parked = event
      if (isPatient) {
        for (const line of waitLines(this.#frame, this.#runId, event.waits)) output.line(line)
      }
    }
    if (event.type === 'log') {
      output.log(text`log    ${nodeName(event.path)} ${event.message} ${shortValue(event.data)}`)
    }
    const line = eventLine(output.paint, event)
    if (line !== undefined) output.line(line)
    this.#track(event)
    await output.ready()
  }

  end(): void {
    this.#frame.output.live([])
  }

  #track(event: ServiceEvent): void {
    if (event.type === 'agent.delta') this.#hear(`root/${event.nodeId}`, event.text)
    else if ('path' in event) this.#note(event)
    else return
    const lines = [...this.#busy].slice(-limits.CLI_LIVE_LINES_MAX)
    this.#frame.output.live(lines.map(([path, what]) => text`  … ${nodeName(path)} ${what}`))
  }

  #hear(path: string, words: string): void {
    const said = `${this.#said.get(path) ?? ''}${words}`.replace(/\s+/g, ' ')
    this.#said.set(path, said.slice(-SAID_LENGTH))
    this.#busy.set(path, said.slice(-SAID_LENGTH))
  }

  #note(event: Extract<ServiceEvent, { readonly path: string }>): void {
    if (event.type === 'block.started') {
      const tries = event.attempt > 1 ? `, attempt ${event.attempt}` : ''
      this.#busy.set(event.path, `${event.block}${tries}`)
    } else if (event.type === 'block.settled') {
      this.#busy.delete(event.path)
      this.#said.delete(event.path)
    } else if (event.type === 'waiting') this.#busy.set(event.path, `waits for ${event.reason}`)
    else if (event.type === 'answered') this.#busy.set(event.path, event.action)
  }
}

function waitsIn(event: ServiceEvent) {
  if (event.type === 'run.parked') return event.waits
  return event.type === 'waiting' ? [event] : []
}

function showEnd(frame: Frame, { runId, status, response, receiptHash }: Finished): ExitCode {
  const { output } = frame
  const { paint } = output
  const receipt = receiptHash ?? null
  output.document('result', { id: runId, status, response, receiptHash: receipt })
  const problems = response.details?.['diagnostics']
  if (status === 'done') {
    output.line(text`${paint('green', 'done')} ${runId} ${shortValue(response.data)}`)
    if (receiptHash !== undefined) output.line(text`receipt ${receiptHash}`)
    return exitCodes.done
  }
  output.line(text`${paint('red', status)} ${runId} ${response.reason ?? ''}`)
  for (const problem of Array.isArray(problems) ? problems : []) {
    output.line(text`  ${diagnosticText(problem)}`)
  }
  if (problems === undefined && response.details !== undefined) {
    output.line(text`  ${shortValue(response.details)}`)
  }
  // A block that refuses its input fails the same way, but in a run that began.
  const isRefused = problems !== undefined && refusals.some((type) => type === response.errorType)
  return isRefused ? exitCodes.usage : exitCodes.failed
}

/** Error types of what was refused before a run began. */
const refusals = ['InvalidDocument', 'InvalidInput'] as const

/** `line:column message`, as far as they are known. */
export function diagnosticText(problem: unknown): string {
  const { line, column, message, path, reason } = problem as {
    readonly line?: number
    readonly column?: number
    readonly message?: string
    readonly path?: readonly (string | number)[]
    readonly reason?: string
  }
  const place = line === undefined ? (path ?? []).join('.') : `${line}:${column}`
  return `${place === '' ? '' : `${place} `}${message} [${reason}]`
}

function showWaits(frame: Frame, id: string, parked: Parked | undefined): ExitCode {
  const { output } = frame
  const waits = parked?.waits ?? []
  const documents = waits.map((wait) => ({ ...wait, commands: answerCommands(frame, id, wait) }))
  output.document('waiting', { id, due: parked?.due ?? null, waits: documents })
  output.line(text`${output.paint('yellow', 'waiting')} ${id}: answer with one of these`)
  for (const line of waitLines(frame, id, waits)) output.line(line)
  return exitCodes.waiting
}

function showParked(frame: Frame, id: string, session: Followed['session']): void {
  const { output } = frame
  const command = commandLine(frame, ['resume', id])
  output.document('interrupted', { id, holder: session.holder, command })
  if (session.holder === 'owner') output.log(text`run ${id} continues in the service`)
  else output.log(text`run ${id} is parked; nothing is lost. Continue with: ${command}`)
}
