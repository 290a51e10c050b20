import {
  type Call,
  compensationOf,
  type IntentInput,
  type Outcome,
  type RecordedFailure,
  type RecordedProvider,
  StateView
} from '../../code/index.js'
import { type ActorPath, canonicalize, copyJson, type Hash, type Json } from '../../core/index.js'
import type { Sealed } from '../run/entries.js'
import type { SealedReference } from '../run/journal.js'
import { putOff } from '../run/overlay-tasks.js'
import type { LeafWork } from '../run/run-state.js'
import { seedOf } from '../run/unit.js'
import { confirmationOf } from '../run/waits.js'
import { differing, type Finding } from './finding.js'
import type { AskedAttempt, Below, CompensationPort, RedoOptions, Skipped } from './redo.js'
import { executeOnRecordedResults } from './reexecute.js'

export type LeafAgain =
  | { readonly kind: 'done'; readonly work: LeafWork; readonly resultText: string }
  | { readonly kind: 'finding'; readonly finding: Finding }
  | Skipped

export interface LeafOptions extends RedoOptions {
  readonly below: Below
  /** The attempt's frozen time. */
  readonly at: number
  readonly recordedResults: readonly Sealed[]
  /** Who did it, for leaves of the kernel. */
  readonly provider: RecordedProvider | undefined
  /** Of an attempt that failed: how. */
  readonly failure?: RecordedFailure
  /** Gets each call that the code makes. */
  readonly heard?: ((call: Call) => void) | undefined
}

/**
 * Runs one attempt of a leaf again with its recorded results, as often as asked, and compares the
 * runs.
 */
export async function leafAgain(attempt: AskedAttempt, options: LeafOptions): Promise<LeafAgain> {
  const withheld = options.recordedResults.find((entry) => entry.body === undefined)
  if (withheld !== undefined) return { kind: 'skipped', why: 'withheld', what: withheld.effect }
  const unconfirmed = confirmationFinding(attempt, options.recordedResults)
  if (unconfirmed !== undefined) return { kind: 'finding', finding: unconfirmed }
  const first = await execute(attempt, options)
  for (let time = 1; time < options.executions && first.kind === 'done'; time += 1) {
    const again = await execute(attempt, options)
    const finding = differing('determinism', fingerprint(first), fingerprint(again))
    if (finding !== undefined) return { kind: 'finding', finding }
  }
  return first
}

/** One execution of an attempt with its recorded results, whatever it came to. */
export type Executed =
  | {
      readonly kind: 'executed'
      readonly outcome: Outcome
      readonly work: LeafWork
    }
  | {
      readonly kind: 'finding'
      readonly finding: Finding
      /** What the code has asked for until then. */
      readonly calls: ReadonlyMap<number, Call>
      /** It has come to the end of its answers, and waits for more. */
      readonly isUnanswered: boolean
    }

/** Runs an attempt's code once, from its first line, with the answers that it got. */
export async function executeAttempt(
  attempt: AskedAttempt,
  options: LeafOptions
): Promise<Executed> {
  const { ask, block, unitId } = attempt
  const { below, at, base, recordedResults } = options
  const view = new StateView((key) => below.read(key))
  const seed = { base, value: seedOf(base, unitId) }
  const input = {
    runId: options.runId,
    unitId,
    path: ask.path as ActorPath,
    attempt: ask.attempt,
    at,
    block: ask.options.deferred === true ? putOff(block) : block,
    // Copies: what the code does to them changes neither the receipt nor another execution.
    payload: JSON.parse(attempt.payloadText) as Json,
    request: ask.request,
    view,
    ...(block.kernel === undefined ? {} : { kernel: intentInput(attempt, options) }),
    lazy: new Unaborted(seed)
  }
  const calls = new Map<number, Call>()
  const executed = await executeOnRecordedResults(input, recordedResults.map(copied), (call) => {
    calls.set(call.seq, call)
    options.heard?.(call)
  })
  const undo = compensationFinding(attempt, recordedResults, { calls, port: options.undo })
  const stopped = { kind: 'finding', calls, isUnanswered: false } as const
  if (undo !== undefined) return { ...stopped, finding: undo }
  if (executed.kind === 'diverged') return { ...executed, kind: 'finding', calls }
  const { outcome, used, attribution } = executed
  const finding = listFinding(view, below)
  if (finding !== undefined) return { ...stopped, finding }
  const sealedReferences = () => recordedResults.map(referenceTo)
  const given = { unitId, block, ask, at, seed, view, attribution }
  const work = { ...given, capabilitiesUsed: used, sealedReferences }
  return { kind: 'executed', outcome, work }
}

async function execute(attempt: AskedAttempt, options: LeafOptions): Promise<LeafAgain> {
  const executed = await executeAttempt(attempt, options)
  if (executed.kind === 'finding') return executed
  const { outcome, work } = executed
  if (!outcome.ok) return { kind: 'finding', finding: failedAgain(outcome) }
  return { kind: 'done', work, resultText: outcome.text }
}

function intentInput({ ask, payloadText }: AskedAttempt, options: LeafOptions): IntentInput {
  const { principal, provider, failure, below } = options
  return {
    principal,
    inputText: payloadText,
    provider: ask.provider,
    recorded: provider,
    recordedFailure: failure,
    current: (key) => below.read(key)
  }
}

/** A signal that nothing aborts. Made only when code asks for it: most never does. */
class Unaborted {
  readonly seed: { readonly value: Hash }

  constructor(seed: { readonly value: Hash }) {
    this.seed = seed
  }

  get signal(): AbortSignal {
    return new AbortController().signal
  }
}

function copied(entry: Sealed): Sealed {
  return typeof entry.body === 'object' ? { ...entry, body: copyJson(entry.body) } : entry
}

function referenceTo(entry: Sealed): SealedReference {
  const { seq, effect, requestHash, responseHash, body } = entry
  const bytes = Buffer.byteLength(canonicalize(body))
  return { seq, effect, requestHash, responseHash, bytes }
}

/**
 * An attempt whose node wants a confirmation runs only with an answer to it in its recorded
 * results.
 */
function confirmationFinding(
  attempt: AskedAttempt,
  recordedResults: readonly Sealed[]
): Finding | undefined {
  const confirmation = confirmationOf(attempt.ask, attempt.block)
  const entry = recordedResults.find(({ seq }) => seq === 0)
  const { body } = entry ?? {}
  const isApproved =
    entry?.ok === true &&
    typeof body === 'object' &&
    body !== null &&
    'action' in body &&
    body.action === 'approve'
  if (confirmation === undefined) {
    return entry === undefined
      ? undefined
      : { field: 'sealed.0', signed: entry.effect, computed: 'no confirmation' }
  }
  if (!isApproved) {
    return { field: 'sealed.0', signed: 'none', computed: 'an approved confirmation' }
  }
  return differing('sealed.0.requestHash', confirmation.requestHash, entry.requestHash)
}

/** Lists of keys are sealed, but they are state: they must be what the state says. */
function listFinding(view: StateView, below: Below): Finding | undefined {
  for (const [prefix, keys] of view.lists) {
    const finding = differing('state.list', below.list(prefix), keys)
    if (finding !== undefined) return { ...finding, key: prefix }
  }
  return undefined
}

function failedAgain(outcome: Outcome & { readonly ok: false }): Finding {
  const { reason, details } = outcome
  return { field: 'result', signed: 'a success', computed: canonicalize({ reason, details }) }
}

function fingerprint(again: LeafAgain): unknown {
  if (again.kind !== 'done') return again.kind === 'finding' ? { ...again.finding } : again.what
  const { work, resultText } = again
  return { resultText, writes: [...work.view.writes], used: work.capabilitiesUsed }
}

/** What a finding about a compensation is about. */
export const UNDO_FIELD = 'journal.undo'

/**
 * Works out again what undoes the writes of an attempt that was executed again: a compensation is a
 * function of the request, which the code has made once more, and the response, which is sealed.
 */
export function compensationFinding(
  { block }: AskedAttempt,
  recordedResults: readonly Sealed[],
  { calls, port }: { readonly calls: ReadonlyMap<number, Call>; readonly port: CompensationPort }
): Finding | undefined {
  for (const entry of recordedResults) {
    const call = calls.get(entry.seq)
    if (entry.undo === undefined || call === undefined) continue
    const { effect, body: response } = entry
    const compensation = block.compensate ?? port.provider(effect)?.compensate
    const again =
      compensation === undefined
        ? null
        : compensationOf(compensation, { effect, request: call.request ?? null, response })
    const differs = differing(UNDO_FIELD, again, entry.undo)
    const provider = block.compensate === undefined ? effect : undefined
    const finding = port.workedOut({ entry, provider, finding: differs })
    if (finding !== undefined) return finding
  }
  return undefined
}
