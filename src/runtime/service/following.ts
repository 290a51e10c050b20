import type { MessageOutcome } from '../../block/index.js'
import {
  blockError,
  type Json,
  type JsonObject,
  type RunId,
  runtimeError,
  type TallyError
} from '../../core/index.js'
import { approvalRefusal } from '../../identity/index.js'
import type { Ledger, RunRecord } from '../../ledger/index.js'
import type { QueueTerms } from '../../queue/index.js'
import type { PreparedRun } from '../code/prepared-run.js'
import type { Registry } from '../code/registry.js'
import { agentNamed } from '../gate/agents.js'
import type { DeliveredEvent } from '../run/channel.js'
import { isEnded } from '../run/ended.js'
import type { Answer, RunResult } from '../run/handle.js'
import { type Command, messageOf, ownerNamed } from '../run/messages.js'
import type { RunEntry } from '../run/run-entry.js'
import type { Runs } from '../run/runs.js'
import type { StartedRun } from '../run/start-options.js'
import { writtenInTurns } from '../run/written-inputs.js'
import type { Params } from './params.js'
import type { AnswerAction } from './service-types.js'

/** What the service needs to run anything. */
export interface Running {
  readonly ledger: Ledger
  readonly runs: Runs
  readonly registry: Registry
}

/** A run that a caller asks for. */
export interface AskedStart {
  readonly id: RunId
  /** The document, compiled: asked for once, when everything else is right. */
  readonly prepare: () => Promise<PreparedRun>
  readonly inputs: Json
  readonly context?: JsonObject | undefined
  readonly trace?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly subject?: string | undefined
  readonly queue?: string | QueueTerms | undefined
  /** Absent: the owner. */
  readonly principal?: Json
}

/** What `run` and `start` are asked for; reads the last of their parameters. */
export function askedStart(running: Running, params: Params): AskedStart {
  const agent = params.optionalText('agent')
  const prepare = preparationOf(running, params, agent)
  const [inputs, context] = [params.value('inputs') ?? {}, params.optionalObject('context')]
  const trace = params.optionalText('trace')
  const id = params.text('id') as RunId
  // How runs are found and who comes first is the owner's to say.
  const owned = agent === undefined ? ownedTerms(params) : { principal: agentNamed(agent) }
  params.end()
  return { id, prepare, inputs, context, trace, ...owned }
}

function ownedTerms(params: Params): Pick<AskedStart, 'tags' | 'subject' | 'queue'> {
  const [tags, queue] = [params.value('tags') ?? undefined, params.value('queue') ?? undefined]
  const subject = params.optionalText('subject')
  // What they are is checked where the run begins, as it is in this process.
  const listed = tags as readonly string[] | undefined
  return { tags: listed, subject, queue: queue as AskedStart['queue'] }
}

/** Prepares a document, a workflow in code by its name, or what is published under a name. */
function preparationOf(
  running: Running,
  params: Params,
  agent: string | undefined
): () => Promise<PreparedRun> {
  const name = params.optionalText('published')
  if (name !== undefined) {
    return async () => (await import('../gate/published.js')).preparePublished(running, name)
  }
  const { documents } = running.registry
  const workflow = params.optionalText('workflow')
  if (workflow !== undefined) {
    // Others than the owner run what the owner has published (K14).
    if (agent !== undefined) throw runtimeError('runtime.not_published', { name: workflow })
    return async () => documents.prepareWorkflow(workflow)
  }
  const document = params.text('document')
  return () => documents.prepare(document)
}

/**
 * Starts a run, or attaches to the one that has this id and resumes it if it was interrupted; then
 * follows it. Throws `run.id_reused`, `run.invalid_id` before the first event.
 */
export async function* startAndFollow(
  { ledger, runs }: Running,
  options: AskedStart & { readonly follow: boolean }
): AsyncGenerator<DeliveredEvent> {
  const { id, prepare, follow, principal = ownerNamed(), ...terms } = options
  const written = await writtenInTurns(terms.inputs)
  const earlier = ledger.run(id)
  const wasInterrupted = earlier?.status === 'running' && !runs.isLive(id)
  const source = prepare()
  // A start that is refused at once awaits it no more.
  source.catch(() => undefined)
  const entry = runs.begin(id, source, { ...terms, written, principal })
  const events = listen(runs.read(entry))
  await entry.begun
  if (wasInterrupted) await runs.resume(id)
  if (earlier !== undefined && isEnded(earlier)) yield await endOf(earlier, entry)
  else yield* until(events, { id, entry, follow })
}

/** Starts a run, or attaches to the one that has this id; resolves once the start is durable. */
export async function startRun(
  { runs }: Running,
  { id, prepare, principal = ownerNamed(), ...terms }: AskedStart
): Promise<StartedRun | { readonly refused: RunResult }> {
  const written = await writtenInTurns(terms.inputs)
  return runs.startOrRefuse(id, prepare(), { ...terms, written, principal })
}

/** Resumes an interrupted run and follows it. */
export async function* resumeAndFollow(
  { ledger, runs }: Running,
  { id, follow }: { readonly id: RunId; readonly follow: boolean }
): AsyncGenerator<DeliveredEvent> {
  const { entry, end } = await attached(ledger, runs, id)
  if (end !== undefined) return yield end
  const isUp = runs.isLive(id)
  const events = listen(isUp ? runs.read(entry) : runs.readOn(entry))
  if (!isUp) await runs.resume(id)
  yield* until(events, { id, entry, follow })
}

/** A run of this ledger, and its end if it has ended before. */
async function attached(ledger: Ledger, runs: Runs, id: RunId) {
  const entry = await runs.attach(id)
  const record = ledger.run(id)
  const hasEnded = record !== undefined && isEnded(record)
  return { entry, record, end: hasEnded ? await endOf(record, entry) : undefined }
}

/** Answers a wait and follows what comes of it. Throws `run.answer_refused`. */
export async function* answerAndFollow(
  running: Running,
  options: {
    readonly id: RunId
    readonly token: string
    readonly answer: Answer
    readonly action: AnswerAction
    readonly follow: boolean
  }
): AsyncGenerator<DeliveredEvent> {
  const { id, token, answer, action, follow } = options
  const { runs } = running
  const entry = await runs.attach(id)
  const events = listen(runs.readOn(entry))
  const outcome = await sendMessage(runs, id, messageOf(token, answer, action))
  if (!outcome.accepted) throw refused(id, outcome)
  if (outcome.repeated !== true) {
    yield* until(events, { id, entry, follow })
    return
  }
  // What the first one led to is over: the run tells how it stands.
  void events.iterator.return?.()
  yield* resumeAndFollow(running, { id, follow })
}

/** Gives a message to a run. One that a parked run would refuse does not resume it. */
export async function sendMessage(
  runs: Runs,
  id: RunId,
  message: Command
): Promise<MessageOutcome> {
  // One that was given before finds no wait any more.
  if (message.commandId !== undefined) return runs.messages.message(id, message)
  const waits = runs.isLive(id) ? [] : runs.waits(id)
  const wait = waits.find(({ token }) => token === message.token)
  if (wait === undefined) {
    if (waits.length > 0) return { accepted: false, reason: 'unknown_token' }
  } else if (wait.digest !== message.digest) {
    return { accepted: false, reason: 'digest_mismatch' }
  } else if (!wait.actions.includes(message.action)) {
    return { accepted: false, reason: 'action_not_allowed' }
  } else {
    const reason = approvalRefusal(wait, wait.approvals ?? [], message)
    if (reason !== undefined) return { accepted: false, reason }
  }
  return runs.messages.message(id, message)
}

/** Follows a run that continues by itself, or gives its status. Throws `run.interrupted`. */
export async function* followOnly(
  { ledger, runs }: Running,
  { id, follow }: { readonly id: RunId; readonly follow: boolean }
): AsyncGenerator<DeliveredEvent> {
  const { entry, record, end } = await attached(ledger, runs, id)
  if (end !== undefined) return yield end
  if (record?.status === 'running' && !runs.isLive(id)) {
    throw blockError('run.interrupted', { runId: id })
  }
  yield* until(listen(runs.read(entry)), { id, entry, follow })
}

const refusals = {
  unknown_token: 'no open wait has this token; it may have been answered already',
  digest_mismatch: 'what is waited for is not what the digest names',
  action_not_allowed: 'this wait cannot end in this way',
  run_moved: 'the run moved meanwhile',
  command_id_reused: 'another command of this run has this id',
  answer_refused: 'what asks would not take all of it, and so takes none of it',
  signature_missing: 'it needs the signatures of its approvers; sign with --as KEYFILE',
  not_an_approver: 'the key that has signed it is none of its approvers',
  signature_invalid: 'its signature is not valid for this key, action, value, token and digest',
  already_approved: 'this key has signed the same already, and counts once'
} as const

function refused(
  id: RunId,
  { reason, problem = refusals[reason] }: MessageOutcome & { readonly accepted: false }
): TallyError {
  return blockError('run.answer_refused', { runId: id, problem })
}

interface Listening {
  readonly iterator: AsyncIterator<DeliveredEvent>
  readonly first: Promise<IteratorResult<DeliveredEvent>>
}

/** Begins to read at once, so that nothing is missed while the caller awaits something else. */
function listen(events: AsyncIterable<DeliveredEvent>): Listening {
  const iterator = events[Symbol.asyncIterator]()
  const first = iterator.next()
  first.catch(() => undefined)
  return { iterator, first }
}

async function* until(
  { iterator, first }: Listening,
  { id, entry, follow }: { readonly id: RunId; readonly entry: RunEntry; readonly follow: boolean }
): AsyncGenerator<DeliveredEvent> {
  try {
    for (let next = await first; !next.done; next = await iterator.next()) {
      yield next.value
      if (isEndOf(next.value, follow)) return
    }
  } finally {
    void iterator.return?.()
  }
  yield finished(id, await entry.result)
}

// Without a wait that a message can end, the due time resumes the run again by itself.
function isEndOf(event: DeliveredEvent, follow: boolean): boolean {
  if (event.type === 'run.finished') return true
  return event.type === 'run.parked' && !follow && (event.waits.length > 0 || event.due === null)
}

/** The end of a run that has ended before, with its receipt. */
async function endOf({ runId, updatedAt }: RunRecord, entry: RunEntry): Promise<DeliveredEvent> {
  return finished(runId, await entry.result, updatedAt)
}

/** The end of a run that told nothing, such as one whose document was refused. */
function finished(runId: RunId, result: RunResult, at = 0): DeliveredEvent {
  const { status, response, receiptHash } = result
  const hash = receiptHash === undefined ? {} : { receiptHash }
  return { type: 'run.finished', runId, at, status, response, ...hash }
}

/** Ends a run; resolves when it has ended. */
export async function cancelRun({ ledger, runs }: Running, id: RunId, reason: string) {
  const entry = await runs.attach(id)
  const record = ledger.run(id)
  if (record === undefined || isEnded(record)) return
  await runs.cancel(id, reason, ownerNamed())
  // Where its code could not continue it has ended all the same, and its record says how.
  await entry.result.catch(() => undefined)
}
