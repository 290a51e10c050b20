import { isDeepStrictEqual } from 'node:util'
import { type AnswerToBlock, type Block, builtInEffects, requestHashOf } from '../../code/index.js'
import {
  type Approvers,
  digestOf,
  type Hash,
  hashOwn,
  type IdentityId,
  isJsonObject,
  type Json,
  limits,
  mergePatch,
  present,
  type RunId
} from '../../core/index.js'
import {
  type Approval,
  type ApprovalRefusal,
  approvalRefusal,
  type KeySignature,
  stricterApprovers,
  withApproval
} from '../../identity/index.js'
import type { AttemptCommand, Wait, WaitAction, WaitReason } from '../chart/protocol.js'
import type { AttemptKey, EntryDraft, OpenWait, WaitBegun } from './entries.js'
import { isOverlayTask } from './overlay-tasks.js'

/**
 * A message from outside the run that ends a wait (B3). `digest` binds it to what was shown (W7).
 */
export interface WaitMessage {
  readonly token: string
  readonly digest: string
  readonly action: WaitAction
  readonly value?: Json
  /** Who sends it; set by the entry point, never by the payload (K13). */
  readonly by: Json
  /** Who has signed it, and the signature (K13). */
  readonly approval?: KeySignature
}

/** What became of a message to a run: taken, or why not. Expected refusals are data. */
export type MessageOutcome =
  | {
      readonly accepted: true
      /** This command was given before, and nothing was done again (W10). */
      readonly repeated?: true
      /** It was signed by one of several approvers, and the wait needs others (K13). */
      readonly isPartial?: true
    }
  | {
      readonly accepted: false
      /**
       * `run_moved`: the run parked or resumed meanwhile; the caller looks for it again.
       * `command_id_reused`: another command of the run has this id. `signature_missing`: the wait
       * has approvers; `already_approved`: this key has signed the same, and counts once.
       * `answer_refused`: what asks would not take all of the value, and so takes none of it.
       */
      readonly reason:
        | 'unknown_token'
        | 'digest_mismatch'
        | 'action_not_allowed'
        | 'run_moved'
        | 'command_id_reused'
        | 'answer_refused'
        | ApprovalRefusal
      /** Of `answer_refused`: what does not fit, for people. */
      readonly problem?: string
    }

export interface WaitTerms {
  readonly place: AttemptKey
  readonly seq: number | null
  readonly reason: WaitReason
  readonly request: Json
  readonly requestHash: Hash
  readonly actions: readonly WaitAction[]
  readonly due: number | null
  /** What an approval is bound to besides the place: the code and its arguments. */
  readonly blockHash: Hash
  readonly approvers?: Approvers | undefined
}

/** The members of a wait that name one question: what is asked, by which call of which attempt. */
type Question = AttemptKey & Pick<WaitBegun, 'seq' | 'requestHash'>

/** How often a question was asked, for a checkpoint: path, the rest of its name, the count. */
export type Askings = readonly (readonly [path: string, question: string, times: number])[]

/**
 * The open waits of one run, by token. Tokens are derived, so that the same wait has the same token
 * after a crash, and a message sent twice finds nothing the second time.
 *
 * Owns: the waits, what approvers have signed of them (K13), and how often each question of an
 * attempt in progress was asked. Does not own: what ends a wait, which `decide` and `apply` say.
 *
 * - W7: an answer to one asking never ends the next.
 */
export class OpenWaits {
  #byToken: Map<string, WaitBegun> | undefined
  #asked: Map<string, Map<string, number>> | undefined
  /** Token of the wait that {@link isSoonDue} has found last. */
  #soon = ''
  /** What approvers have signed of an open wait, by token. */
  #approvals: Map<string, readonly Approval[]> | undefined

  add(wait: WaitBegun): void {
    this.#byToken ??= new Map()
    this.#byToken.set(wait.token, wait)
    // No message ends it.
    if (wait.actions.length === 0) return
    this.#count(wait.path, questionOf(wait), Math.max(this.nextAsking(wait), wait.asking ?? 1))
  }

  /** The number that the next asking of a question gets, from 1. */
  nextAsking(question: Question): number {
    return (this.#asked?.get(question.path)?.get(questionOf(question)) ?? 0) + 1
  }

  askings(): Askings {
    const asked = [...(this.#asked ?? [])]
    return asked.flatMap(([path, questions]) =>
      [...questions].map(([question, times]) => [path, question, times] as const)
    )
  }

  restoreAskings(askings: Askings): void {
    for (const [path, question, times] of askings) this.#count(path, question, times)
  }

  #count(path: string, question: string, times: number): void {
    this.#asked ??= new Map()
    const questions = this.#asked.get(path) ?? new Map<string, number>()
    this.#asked.set(path, questions)
    questions.set(question, times)
  }

  remove(token: string): void {
    this.#byToken?.delete(token)
    this.#approvals?.delete(token)
  }

  /** Takes what one of several approvers has signed. */
  approved(token: string, approval: Approval): void {
    this.#approvals ??= new Map()
    this.#approvals.set(token, withApproval(this.approvalsOf(token), approval))
  }

  /** What approvers have signed of a wait so far, each key once. */
  approvalsOf(token: string): readonly Approval[] {
    return this.#approvals?.get(token) ?? noApprovals
  }

  /** Forgets every wait of an actor path, and what was asked there; returns the waits. */
  removeAt(path: string): readonly WaitBegun[] {
    this.#forgetAskings(path)
    const open = this.#byToken
    if (open === undefined || open.size === 0) return none
    const gone = [...open.values()].filter(
      (wait) => wait.path === path || wait.path.startsWith(`${path}/`)
    )
    for (const wait of gone) this.remove(wait.token)
    return gone
  }

  #forgetAskings(path: string): void {
    for (const at of this.#asked?.keys() ?? []) {
      if (at === path || at.startsWith(`${path}/`)) this.#asked?.delete(at)
    }
  }

  get(token: string): WaitBegun | undefined {
    return this.#byToken?.get(token)
  }

  get isEmpty(): boolean {
    return this.#byToken === undefined || this.#byToken.size === 0
  }

  all(): readonly WaitBegun[] {
    return this.#byToken === undefined ? none : [...this.#byToken.values()]
  }

  /**
   * Whether one of them is due by then. Of many that are, the last one to be due is kept: while it
   * is open, no other is looked at.
   */
  isSoonDue(byMs: number): boolean {
    const isSoon = (due: number | null | undefined) => typeof due === 'number' && due <= byMs
    if (isSoon(this.get(this.#soon)?.due)) return true
    let last = Number.NEGATIVE_INFINITY
    for (const { token, due } of this.#byToken?.values() ?? []) {
      if (due === null || !isSoon(due) || due < last) continue
      last = due
      this.#soon = token
    }
    return last > Number.NEGATIVE_INFINITY
  }

  /** Why a message is refused, or undefined when it may be taken. */
  refusal(message: WaitMessage): (MessageOutcome & { readonly accepted: false }) | undefined {
    const wait = this.#byToken?.get(message.token)
    if (wait === undefined) return { accepted: false, reason: 'unknown_token' }
    if (wait.digest !== message.digest) return { accepted: false, reason: 'digest_mismatch' }
    // A signal has no token: it is sent by its name.
    if (message.action === 'signal' || !wait.actions.includes(message.action)) {
      return { accepted: false, reason: 'action_not_allowed' }
    }
    const reason = approvalRefusal(wait, this.approvalsOf(wait.token), message)
    return reason === undefined ? undefined : { accepted: false, reason }
  }
}

const none: readonly WaitBegun[] = []
const noApprovals: readonly Approval[] = []

function questionOf({ step, attempt, seq, requestHash }: Question): string {
  return `${step} ${attempt} ${seq} ${requestHash}`
}

/**
 * The entry that opens a wait, with its derived token and the digest an answer must name. From the
 * second asking of a question on, both have its number (W7).
 */
export function beginWait(
  terms: WaitTerms,
  context: {
    readonly runId: RunId
    readonly identity: IdentityId
    readonly at: number
    /** Undefined for the first asking. */
    readonly asking?: number | undefined
  }
): EntryDraft & { readonly k: 'wait' } {
  const { place, seq, reason, request, requestHash, actions, due, blockHash, approvers } = terms
  const signed = approvers === undefined ? {} : { approvers }
  const { path, step, attempt } = place
  const asking = context.asking === undefined ? {} : { asking: context.asking }
  const { runId, identity } = context
  const digested = { request, blockHash, identity, path, runId, step, ...asking, ...signed }
  const digest = digestOf(digested)
  const named = ['wait', runId, path, step, attempt, seq, requestHash]
  const number = context.asking === undefined ? [] : [asking]
  const token = hashOwn([...named, ...number]).slice(0, 32)
  return {
    k: 'wait',
    at: context.at,
    path,
    step,
    attempt,
    seq,
    token,
    reason,
    request,
    requestHash,
    actions,
    digest: present(digest, 'all members of a digest'),
    due,
    ...asking,
    blockHash,
    ...signed
  }
}

/** A wait as it is shown, with all that its digest covers: {@link digestOf}. */
export function openWaitOf(
  wait: WaitBegun,
  identity: IdentityId,
  approvals: readonly Approval[]
): OpenWait {
  const { path, step, token, digest, reason, request, actions, due, asking, blockHash } = wait
  const { approvers } = wait
  const shown = { path, step, token, digest, reason, request, actions, due }
  const numbered = asking === undefined ? shown : { ...shown, asking }
  if (blockHash === undefined) return numbered
  const runId = wait.run as RunId
  const bound = { blockHash, chain: null, identity, policyHash: null, runId, signer: null }
  if (approvers === undefined) return { ...numbered, ...bound }
  return { ...numbered, ...bound, approvers, ...(approvals.length === 0 ? {} : { approvals }) }
}

/** A wait as the charts get it. */
export function shownWait({ reason, request, actions, due, token, digest }: WaitBegun): Wait {
  const shown = { reason, request, actions, token, digest, ...(due === null ? {} : { due }) }
  // Journal entries keep these as text; what wrote them had the narrower types.
  return shown as Wait
}

/** The wait that a node asks for before an attempt: call number 0 (decisions/0008). */
export interface Confirmation {
  readonly request: Json
  readonly requestHash: Hash
  readonly approvers?: Approvers | undefined
}

/**
 * What a person is asked before an attempt, when its node wants a confirmation, or its block is not
 * executed without one (K14). What is released after a commit was asked for when it was put off.
 */
export function confirmationOf(ask: AttemptCommand, block: Block): Confirmation | undefined {
  const obliged = isOverlayTask(ask.path) ? undefined : block.obligations?.own?.confirm
  const { confirm } = ask.options
  if (confirm === undefined && obliged === undefined) return undefined
  const request = {
    reason: 'confirmation',
    message: obliged?.message ?? confirm?.message ?? null,
    block: block.name,
    payload: ask.request.payload
  }
  // A document with another list is refused when it is compiled.
  const approvers = stricterApprovers(obliged?.approvers, confirm?.approvers) ?? obliged?.approvers
  const requestHash = requestHashOf(builtInEffects.wait, request, approvers)
  return { request, requestHash, approvers }
}

/**
 * Why a merge patch of what failed is refused (W14): the block would not take what it leads to, or
 * does not read something that it changes. Undefined: all of it takes effect. Without a schema, and
 * for a composite, only what was given can be changed: nothing says what else is read.
 */
export function patchRefusal(
  block: Block | undefined,
  { payload, value: patch, ...failed }: Omit<AnswerToBlock, 'question'>
): string | undefined {
  const answer = { payload, value: patch, question: null, ...failed }
  if (block?.refuses !== undefined) return block.refuses(answer)
  const parse = (value: Json) => block?.parseInput(value) ?? { ok: true, value }
  const taken = parse(mergePatch(payload, patch))
  if (!taken.ok) return `${block?.name} does not take what it makes: ${taken.problem}`
  const changes = changesOf(patch)
  if (changes.length > limits.RUNTIME_PATCHES_MAX) {
    return `it has more than ${limits.RUNTIME_PATCHES_MAX} changes`
  }
  const isOpen = block?.inputSchema !== undefined || !hasMembers(payload)
  const without = changes.find(({ path, value }) => {
    const before = valueAt(payload, path)
    if (isDeepStrictEqual(before, value)) return false
    if (before === undefined && (value === null || !isOpen)) return true
    const rest = changes.filter((one) => one.path !== path)
    const other = parse(rest.reduce((made, one) => mergePatch(made, nested(one)), payload))
    return other.ok && isDeepStrictEqual(other.value, taken.value)
  })
  return without && `nothing reads ${without.path.join('.') || 'the value'}`
}

interface Change {
  readonly path: readonly string[]
  readonly value: Json
}

function changesOf(value: Json, path: readonly string[] = []): readonly Change[] {
  if (!isJsonObject(value)) return [{ path, value }]
  return Object.entries(value).flatMap(([name, inner]) => changesOf(inner, [...path, name]))
}

function nested({ path, value }: Change): Json {
  return path.reduceRight<Json>((inner, name) => ({ [name]: inner }), value)
}

function valueAt(value: Json, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (owner, name) =>
      isJsonObject(owner ?? null) && Object.hasOwn(owner as object, name)
        ? (owner as { readonly [key: string]: Json })[name]
        : undefined,
    value
  )
}

function hasMembers(payload: Json): boolean {
  return isJsonObject(payload) && Object.keys(payload).length > 0
}
