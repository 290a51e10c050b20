import type {
  CompensatingCall,
  FunctionCall,
  Obligations,
  RecordedProvider,
  Response,
  SideEffectClass
} from '../../code/index.js'
import {
  type Approvers,
  canonicalizeOwn,
  canonicalString,
  type DigestedWait,
  type Hash,
  type Json,
  type JsonObject,
  type KnownTexts,
  type RunId,
  type RunTrace
} from '../../core/index.js'
import type { Approval } from '../../identity/index.js'
import type { QueueTerms } from '../../queue/index.js'

/**
 * Journal entries of a run. Every entry has its kind `k`, its run, its number `n` (from 0, without
 * gaps) and the time `at` on the run's logical clock. Live and recovering pumps apply the same
 * entries in the same way; a live one has decided them first.
 *
 * `step` counts the child executions of the parent; `seq` counts the calls of one attempt from 1,
 * and 0 is the confirmation that the node itself asks for.
 */
export type JournalEntry =
  | RunStarted
  | RunStatus
  | RunFinished
  | Requested
  | Sealed
  | WaitBegun
  | Waiting
  | Answered
  | ApprovalGiven
  | SignalGiven
  | Rewound
  | Settled
  | TimerFired
  | DecisionMade
  | OverlayEnded
  | Called
  | Returned
  | CancelAsked

interface EntryBase {
  readonly run: string
  readonly n: number
  readonly at: number
}

/** Where in the run something happened: which block, which execution of its node, which try. */
export interface AttemptKey {
  readonly path: string
  readonly step: number
  readonly attempt: number
}

export function placeKey({ path, step, attempt }: AttemptKey): string {
  return `${path} ${step} ${attempt}`
}

export interface RunStarted extends EntryBase {
  readonly k: 'run.started'
  readonly status: 'running'
  readonly name: string
  readonly definition: JsonObject
  readonly definitionHash: Hash
  readonly input: Json
  readonly inputHash: Hash
  /** Context of the root's request (B1); absent when it is empty. */
  readonly context?: JsonObject
  /** Head receipt when the run started: base of its random seeds. */
  readonly base: Hash | 'GENESIS'
  readonly principal: Json
  /** As the caller gave it: of no influence on what the run does, and on no id. */
  readonly trace?: RunTrace
  /** By which its caller finds it, sorted: of no influence either; absent where none was given. */
  readonly tags?: readonly string[]
  /** The run whose workflow waits for it: of no influence either; absent: none does. */
  readonly parent?: RunId
  /** Under whose key it is kept: of no influence either; absent: under none. */
  readonly subject?: string
  /** In which it waits for its turn: of no influence either; absent: it waits for none. */
  readonly queue?: QueueTerms
  /** Versions to which the names alone of its document have led (B10); absent: to none. */
  readonly pins?: Pins
  /**
   * Its document has a fallback after a retry or repair, and where that would be unsafe after a
   * failure that did nothing, the fallback is tried (C3). Absent: the node fails, as in 0.1.0.
   */
  readonly unsafe?: 'next'
  /** By which its charts decide (B9, C3); absent where they ask for none, and in 0.1.0. */
  readonly classes?: Classes
  /** What holds for what it may reach, whatever its document says (K14); absent: nothing. */
  readonly obligations?: Obligations
}

/** Side-effect class of each block, as the document names it. */
export type Classes = Readonly<Record<string, SideEffectClass>>

/** Versions by name. */
type PinnedVersions = Readonly<Record<string, string>>

/** What the names of a document led to when its run began, as far as it has versions. */
export interface Pins {
  readonly blocks?: PinnedVersions
  readonly composites?: PinnedVersions
  readonly conditions?: PinnedVersions
  readonly repairs?: PinnedVersions
}

/** The run was parked, or resumed. */
export interface RunStatus extends EntryBase {
  readonly k: 'run.waiting' | 'run.resumed'
  readonly status: 'waiting' | 'running'
  /** What it waits for; empty when resumed. */
  readonly waits: readonly OpenWait[]
  /** When the first of them ends by itself, milliseconds, or null. */
  readonly due: number | null
  /** Those that its code has set last, sorted; absent: it has set none. */
  readonly tags?: readonly string[]
}

export interface RunFinished extends EntryBase {
  readonly k: 'run.finished'
  /** As of {@link RunStatus}. */
  readonly tags?: readonly string[]
  readonly status: 'done' | 'failed' | 'cancelled'
  readonly response: Response
  readonly journalHash: Hash
}

/** An effect of class idempotent or non_idempotent is about to be performed (L7). */
export interface Requested extends EntryBase, AttemptKey {
  readonly k: 'requested'
  readonly seq: number
  readonly effect: string
  readonly sideEffects: SideEffectClass
  readonly requestHash: Hash
  readonly key: Hash
}

/** The result of a call, as the code gets it. `ok` false: `body` says why it failed. */
export interface Sealed extends EntryBase, AttemptKey {
  readonly k: 'sealed'
  readonly seq: number
  readonly effect: string
  readonly requestHash: Hash
  readonly responseHash: Hash
  readonly salt: Hash
  readonly ok: boolean
  readonly body: Json
  /** Inside an atomic composite, of a write: what undoes it; null: nothing does (C4). */
  readonly undo?: CompensatingCall | null
}

export interface WaitBegun extends EntryBase, AttemptKey {
  readonly k: 'wait'
  /** Null: the chart asks for a decision about a failed attempt. */
  readonly seq: number | null
  readonly token: string
  readonly reason: string
  readonly request: Json
  readonly requestHash: Hash
  readonly actions: readonly string[]
  readonly digest: Hash
  readonly due: number | null
  /** How many times the attempt has asked this, from 2; absent: for the first time (W7). */
  readonly asking?: number
  /** The code that asks, which the digest covers; absent in journals of 0.1.0. */
  readonly blockHash?: Hash
  /** Who has to sign the answer (K13); absent: it needs no signature. */
  readonly approvers?: Approvers
}

/** Nothing but waits is left for the attempt: it cannot continue by itself (B2). */
export interface Waiting extends EntryBase, AttemptKey {
  readonly k: 'waiting'
  readonly token: string
}

/** A message that lets a call continue without giving its result: "send it again". */
export interface Answered extends EntryBase, AttemptKey {
  readonly k: 'answered'
  readonly seq: number
  readonly token: string
  readonly action: string
  readonly by: Json
}

/** An approver has signed an answer, and others have to sign it before the wait ends (K13). */
export interface ApprovalGiven extends EntryBase, AttemptKey {
  readonly k: 'approval'
  readonly seq: number | null
  readonly token: string
  readonly approval: Approval
  /** Who brought it. */
  readonly by: Json
}

/**
 * The run was sent a signal: it is there for the code that asks for one of its name, now or later.
 */
export interface SignalGiven extends EntryBase {
  readonly k: 'signal'
  readonly name: string
  /** Names it in its run: sent again, it changes nothing. */
  readonly id: string
  readonly value: Json
  /** Who has sent it (K13). */
  readonly by: Json
}

/**
 * The attempt's code ran again on another state and did not ask for these results any more: they
 * are not in its recorded results from here on (L10).
 */
export interface Rewound extends EntryBase, AttemptKey {
  readonly k: 'rewound'
  readonly dropped: readonly number[]
  /**
   * Writes are among them, and evidence states what they have done outside. Absent: none are, or
   * evidence leaves them out, as in 0.1.0.
   */
  readonly outside?: true
}

export interface Settled extends EntryBase, AttemptKey {
  readonly k: 'settled'
  readonly response: Response
  /** False: the attempt failed before anything could have happened outside (C3). */
  readonly sent: boolean
  /** Of an attempt of the kernel: who did it. */
  readonly provider?: RecordedProvider
  /** Inside an atomic composite: what the attempt did to its overlay. */
  readonly overlay?: OverlayEntry
}

export interface OverlayEntry {
  readonly writes: readonly (readonly [key: string, text: string | null])[]
  /** SHA-256 of each text read from below, null where the key was absent. */
  readonly reads: readonly (readonly [key: string, hash: Hash | null])[]
  /** By prefix, sorted: SHA-256 of the keys that were listed below the attempt. Absent: of none. */
  readonly lists?: readonly (readonly [prefix: string, hash: Hash])[]
  /** Capabilities that it used, sorted. */
  readonly used: readonly string[]
  /** Of an attempt of the kernel: capabilities that its provider declares, sorted. */
  readonly declared?: readonly string[]
  readonly isPrivate?: boolean
}

/**
 * An atomic composite committed, was rolled back, or has to run again (C4, L10). `aborting`: it is
 * going to be rolled back, and what it did outside is being undone. `released`: it has committed
 * before, and what it had put off until then is done.
 */
export interface OverlayEnded extends EntryBase, AttemptKey {
  readonly k: 'scope'
  readonly outcome: 'committed' | 'aborted' | 'conflict' | 'aborting' | 'released'
  readonly response: Response
  /**
   * Aborted: what happened outside, or may have, and was not undone. Released: what was put off and
   * not done. Absent when there is nothing of it.
   */
  readonly left?: readonly LeftOutside[]
  /** Committed: what is to be done now, by path and step; absent when nothing was put off. */
  readonly outbox?: readonly OutboxEntry[]
}

/** A write of a rolled back composite that was not undone, or one that was put off for good. */
export interface LeftOutside {
  readonly path: string
  readonly step: number
  /** Of a step that was put off: its block. */
  readonly effect: string
  /** Idempotency key of the effect; of a step that was put off: hash of its payload. */
  readonly key: Hash
  readonly state: 'landed' | 'in_doubt' | 'not_done'
  /**
   * Why nothing undid it, or the reason of the compensation or of the step that failed;
   * `cancelled`: the run was, and waited no more.
   */
  readonly reason: string
}

/** A deferred step, in the commit of its composite. */
export interface OutboxEntry {
  readonly path: string
  readonly step: number
  readonly block: string
  readonly payloadHash: Hash
}

export interface TimerFired extends EntryBase {
  readonly k: 'timer'
  readonly path: string
  readonly step: number
}

export interface DecisionMade extends EntryBase {
  readonly k: 'decision'
  readonly path: string
  readonly step: number
  readonly token: string
  readonly action: string
  readonly patch: Json
  readonly by: Json
}

/** Code of a workflow function asks for a child, or begins or ends an atomic part (B12). */
export interface Called extends EntryBase, AttemptKey {
  readonly k: 'called'
  readonly seq: number
  readonly call: FunctionCall
}

/** Code of a workflow function has ended. */
export interface Returned extends EntryBase, AttemptKey {
  readonly k: 'returned'
  readonly response: Response
}

/** A caller asked to cancel the run. */
export interface CancelAsked extends EntryBase {
  readonly k: 'cancel'
  readonly reason: string
  readonly by: Json
  /**
   * Ended from its journal alone, without its code: its charts get nothing, and
   * `run.finished` comes next.
   */
  readonly withoutCode?: true
}

/** Body of a sealed effect that failed. */
export interface SealedFailure {
  readonly reason: string
  readonly definite: boolean
  readonly details: Json
}

type Without<Entry> = Entry extends EntryBase ? Omit<Entry, 'run' | 'n'> : never
/** An entry before the pump has numbered it. */
export type EntryDraft = Without<JournalEntry>

export function encodeEntry(entry: JournalEntry, known?: KnownTexts): string {
  return canonicalizeOwn(entry, known)
}

/**
 * {@link encodeEntry} of a step that succeeded, from the canonical text of its data: the one entry
 * that every step writes, and its result has been written already.
 */
export function encodeSuccess(entry: Omit<Settled, 'k' | 'response'>, dataText: string): string {
  const { at, attempt, n, overlay, path, provider, run, sent, step } = entry
  const over = overlay === undefined ? '' : `"overlay":${canonicalizeOwn(overlay)},`
  const by = provider === undefined ? '' : `"provider":${providerText(provider)},`
  return (
    `{"at":${at},"attempt":${attempt},"k":"settled","n":${n},${over}` +
    `"path":${canonicalString(path)},${by}` +
    `"response":{"data":${dataText},"metadata":{},"success":true},` +
    `"run":${canonicalString(run)},"sent":${sent},"step":${step}}`
  )
}

function providerText({ codeHash, id, kind }: RecordedProvider): string {
  return (
    `{"codeHash":${canonicalString(codeHash)},"id":${canonicalString(id)},` +
    `"kind":${canonicalString(kind)}}`
  )
}

/** A wait as it is shown, with what its digest covers: an answer names `token` and `digest`. */
export interface OpenWait extends DigestedWait {
  readonly token: string
  readonly digest: Hash
  readonly reason: string
  readonly actions: readonly string[]
  /** Logical time at which it ends by itself, or null. */
  readonly due: number | null
  /** What approvers have signed so far, each key once; absent: nothing. */
  readonly approvals?: readonly Approval[]
}
