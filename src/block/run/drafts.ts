import type { Obligations, Response } from '../../code/index.js'
import type { Hash, Json, JsonObject, RunId, RunTrace } from '../../core/index.js'
import type { QueueTerms } from '../../queue/index.js'
import type { EntryDraft, Pins, RunFinished, RunStarted, WaitBegun } from './entries.js'
import type { RootBlock } from './root-block.js'
import type { OpenAttempt, RunState, RunTotals } from './run-state.js'

/** Entries about a run itself, as they are appended: how it begins, rests and ends. */

/** What a run is begun with. */
export interface AskedRun {
  readonly inputs: Json
  readonly inputHash: Hash
  readonly context: JsonObject | undefined
  readonly trace: RunTrace | undefined
  readonly tags: readonly string[] | undefined
  readonly subject?: string | undefined
  readonly principal: Json
}

/** The entry with which a run begins. */
export function startedDraft(
  root: RootBlock,
  terms: {
    readonly at: number
    readonly base: Hash | 'GENESIS'
    readonly start: AskedRun
    readonly queue?: QueueTerms | undefined
    readonly parent?: RunId | undefined
    readonly pins?: Pins | undefined
    readonly obligations?: Obligations | undefined
  }
): Omit<RunStarted, 'run' | 'n'> {
  const { at, base, start, queue, parent, pins, obligations } = terms
  const { name, definition, definitionHash } = root
  const classes = root.classes()
  return {
    k: 'run.started',
    at,
    status: 'running',
    name,
    definition,
    definitionHash,
    input: start.inputs,
    inputHash: start.inputHash,
    ...(start.context === undefined ? {} : { context: start.context }),
    ...(start.trace === undefined ? {} : { trace: start.trace }),
    ...(start.tags === undefined ? {} : { tags: start.tags }),
    ...(start.subject === undefined ? {} : { subject: start.subject }),
    ...(parent === undefined ? {} : { parent }),
    ...(queue === undefined ? {} : { queue }),
    base,
    principal: start.principal,
    ...(pins === undefined ? {} : { pins }),
    ...(root.hasAlternatives() ? { unsafe: 'next' } : {}),
    ...(classes === undefined ? {} : { classes }),
    ...(obligations === undefined ? {} : { obligations })
  }
}

/** The run is being cancelled; `withoutCode`: its journal alone gives its end. */
export function cancelDraft(
  asked: { readonly at: number; readonly reason: string; readonly by: Json },
  { withoutCode }: { readonly withoutCode: boolean } = { withoutCode: false }
): EntryDraft & { readonly k: 'cancel' } {
  const { at, reason, by } = asked
  return { k: 'cancel', at, reason, by, ...(withoutCode ? { withoutCode } : {}) }
}

/** The run has ended; `journalHash` is that of all entries before this one. */
export function finishedDraft(
  { tags }: Tagged,
  end: {
    readonly at: number
    readonly status: RunFinished['status']
    readonly response: Response
    readonly journalHash: Hash
  }
): Omit<RunFinished, 'run' | 'n'> {
  const { at, status, response, journalHash } = end
  const entry = { k: 'run.finished', at, status, response, journalHash } as const
  return tags === undefined ? entry : { ...entry, tags }
}

/** A run, as far as its code has set tags: lists find it by its last entry of these. */
type Tagged = Pick<RunTotals, 'tags'>

/** The run is parked: nothing but messages and due times lets it continue. */
export function parkedDraft(
  state: RunState,
  at: number
): EntryDraft & { readonly k: 'run.waiting' } {
  const waits = state.shownWaits()
  const entry = { k: 'run.waiting', at, status: 'waiting', waits, due: state.nextDue() } as const
  return state.tags === undefined ? entry : { ...entry, tags: state.tags }
}

/** The run continues. */
export function resumedDraft(
  { tags }: Tagged,
  at: number
): EntryDraft & { readonly k: 'run.resumed' } {
  const entry = { k: 'run.resumed', at, status: 'running', waits: [], due: null } as const
  return tags === undefined ? entry : { ...entry, tags }
}

/** Nothing but waits is left for an attempt, this one among them (B2). */
export function waitingDraft(
  { ask }: OpenAttempt,
  { token }: WaitBegun,
  at: number
): EntryDraft & { readonly k: 'waiting' } {
  const { path, step, attempt } = ask
  return { k: 'waiting', at, path, step, attempt, token }
}
