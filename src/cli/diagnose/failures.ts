import { type JournalEntry, type WriteOutside, WritesOutside } from '../../block/index.js'
import { type Exception, isJsonObject, isTallyError, type Json } from '../../core/index.js'
import type { ServiceRequests } from '../../runtime/index.js'
import type { ServiceClient } from '../frame/client.js'
import { commandText } from '../frame/command-line.js'
import type { Frame } from '../frame/frame.js'
import { shortValue } from '../frame/render.js'
import { joined, type Text, text } from '../frame/text.js'

type Thrown = ServiceRequests['exceptions']['result']['exceptions'][number]

/** What code of the run has thrown; nothing where its holder is of a version that keeps none. */
export async function thrownIn(client: ServiceClient, id: string): Promise<readonly Thrown[]> {
  try {
    return (await client.request('exceptions', { id })).exceptions
  } catch (error) {
    if (isTallyError(error, 'service.unknown_method')) return []
    throw error
  }
}

/** An attempt that failed, as the journal has it. */
export interface FailedAttempt {
  readonly path: string
  readonly step: number
  readonly attempt: number
  readonly reason: string
  readonly errorType: string
  readonly details: Json
  /** What its code, or what performs its effects, has thrown; nothing where none was kept. */
  readonly exceptions: readonly Thrown[]
}

/**
 * What failed in a run and what it had sent, whatever kind of run it is: read off its journal,
 * entry by entry.
 */
export class FailureTrail {
  readonly #failed = new Map<string, FailedAttempt>()
  readonly #sent = new WritesOutside()

  take(entry: JournalEntry): void {
    this.#sent.take(entry)
    if (entry.k === 'settled') this.#settled(entry)
    // It was taken as done.
    else if (entry.k === 'decision' && entry.action === 'skip') this.#failed.delete(entry.path)
  }

  #settled(entry: JournalEntry & { readonly k: 'settled' }): void {
    const { path, step, attempt, response } = entry
    this.#failed.delete(path)
    if (response.success) return
    const { reason = 'failed', errorType = '', details = {} } = response
    const failed = { path, step, attempt, reason, errorType, details, exceptions: [] }
    this.#failed.set(path, failed)
  }

  /** Steps whose last attempt failed, and which were not skipped, with what they have thrown. */
  failed(thrown: readonly Thrown[]): readonly FailedAttempt[] {
    return [...this.#failed.values()].map((one) => ({
      ...one,
      exceptions: thrown.filter(
        ({ path, step, attempt }) =>
          path === one.path && step === one.step && attempt === one.attempt
      )
    }))
  }

  get sent(): readonly WriteOutside[] {
    return this.#sent.all
  }
}

/** What failed, where, and what its code had thrown. */
export function failureLines({ output }: Frame, one: FailedAttempt): readonly Text[] {
  const { path, step, attempt, reason, errorType, details, exceptions } = one
  const type = errorType === '' ? '' : ` (${errorType})`
  const hasDetails = JSON.stringify(details) !== '{}'
  return [
    joined([output.paint('bold', path), output.paint('red', 'failed'), `${reason}${type}`]),
    text`  step ${step}, attempt ${attempt}`,
    ...(hasDetails ? [text`  ${shortValue(details)}`] : []),
    ...exceptions.flatMap(({ effect, exception }) => [
      ...(effect === undefined ? [] : [text`  thrown by what performs ${effect}:`]),
      ...exceptionLines(exception)
    ])
  ]
}

/** An exception as engines show it: its text, where it was thrown, its causes. */
export function exceptionLines(exception: Exception, prefix = ''): readonly Text[] {
  const { name, message, stack, code, cause } = exception
  const shownCode = code === undefined ? '' : ` [${code}]`
  return [
    ...`${prefix}${name}${shownCode}: ${message}`.split('\n').map((line) => text`  ${line}`),
    ...stack.map((frame) => text`    ${frame}`),
    ...(cause === undefined ? [] : exceptionLines(cause, 'caused by '))
  ]
}

/** What is known of steps about which a person decides. */
export interface Undecided {
  readonly writes: readonly WriteOutside[]
  readonly thrown: readonly Thrown[]
  readonly waits: readonly { readonly token: string; readonly request: Json }[]
}

/** Of a step about which a person decides: what it has sent, and how that failed. */
export function undecidedLines(
  frame: Frame,
  at: { readonly path: string; readonly token: string | null },
  { writes, thrown, waits }: Undecided
): readonly Text[] {
  const open = writes.filter(({ path, state }) => path === at.path && state === 'unknown')
  const last = thrown.findLast(({ path }) => path === at.path)
  const request = waits.find(({ token }) => token === at.token)?.request ?? null
  const failure = isJsonObject(request) ? (request['failure'] ?? null) : null
  return [
    ...sentLines(frame, open).map((line) => text`  ${line}`),
    ...(last !== undefined
      ? exceptionLines(last.exception)
      : failure === null
        ? []
        : [text`  ${shortValue(failure)}`])
  ]
}

/** A run, and the steps of it that failed and of which nothing else tells. */
export interface DiagnosedRun {
  readonly id: string
  readonly status: string
  readonly failed: readonly FailedAttempt[]
}

/** What a run that did not end well had sent, and what can be done about it; nothing of others. */
export function overLines(
  frame: Frame,
  run: DiagnosedRun,
  sent: readonly WriteOutside[],
  exceptions: readonly Thrown[]
): readonly Text[] {
  const isBad = run.status === 'failed' || run.status === 'cancelled'
  if (!isBad || run.failed.length + sent.length === 0) return []
  return [...sentLines(frame, sent), ...adviceLines(frame, run, sent, exceptions)]
}

function sentLines({ output }: Frame, sent: readonly WriteOutside[]): readonly Text[] {
  const said = {
    landed: 'was done, and stays done',
    undone: 'was done, and was undone',
    failed: 'was sent and failed',
    unknown: 'was sent; whether it took effect is not known'
  }
  return sent.map(({ path, effect, key, state, isCompensation = false }) => {
    const told = isCompensation && state === 'landed' ? 'was done, and undoes another' : said[state]
    return joined([output.paint('bold', 'sent'), effect, `by ${path}:`, told, `(key ${key})`])
  })
}

function adviceLines(
  frame: Frame,
  { id, status, failed }: DiagnosedRun,
  sent: readonly WriteOutside[],
  exceptions: readonly Thrown[]
): readonly Text[] {
  const hasFailed = status === 'failed' && failed.length > 0
  const isOpen = sent.some(({ state }) => state === 'unknown')
  const hasLanded = sent.some(
    ({ state, isCompensation }) => state === 'landed' && isCompensation === undefined
  )
  return [
    ...(hasFailed
      ? [text`the run is over: correct the cause, and start it again under another id`]
      : []),
    ...(hasLanded ? [text`what was done outside stays: undo it, or let the next run find it`] : []),
    ...(isOpen ? [text`ask the receiver by the key, before it is sent again`] : []),
    ...(hasFailed && exceptions.length === 0 ? [text`no exception of it was kept`] : []),
    commandText(frame, ['show', id, '--journal'])
  ]
}
