import type { Attribution, Block, Response } from '../../code/index.js'
import {
  assert,
  canonicalize,
  canonicalString,
  type Hash,
  hashJson,
  type IdentityId,
  type Json,
  type JsonObject,
  type RunId,
  type RunTrace,
  sha256Hex,
  type UnitId
} from '../../core/index.js'
import type { RunStarted } from './entries.js'
import type { UnitDraft } from './journal.js'
import type { Overlay } from './overlay.js'
import type { RootBlock } from './root-block.js'
import type { LeafWork, RunState } from './run-state.js'

/** sha256(JCS([runId, path, step])): the id of a leaf's unit of work in a run (L6). */
export function unitIdOf(runId: RunId, path: string, step: number): UnitId {
  // Written out by hand: every step has one.
  const text = `[${canonicalString(runId)},${canonicalString(path)},${step}]`
  return sha256Hex(text) as unknown as UnitId
}

/** Step number of the run itself; its blocks count from 1. */
const RUN_STEP = 0

/** Id of the unit of work that is the run itself: its receipt is `run.completed`. */
export function runUnitId(runId: RunId): UnitId {
  return unitIdOf(runId, 'root', RUN_STEP)
}

/** Id of the unit of work of a run that is nothing else: a single-step run's receipt has it. */
export function singleStepUnitId(runId: RunId): UnitId {
  return unitIdOf(runId, 'root', 1)
}

/** sha256("tallystick/prng" || base || unit id), formats.md §3. */
export function seedOf(base: Hash | 'GENESIS', unitId: UnitId): Hash {
  return sha256Hex(`tallystick/prng${base}${unitId}`)
}

/** What the receipts of one run have in common. */
export interface UnitContext {
  readonly runId: RunId
  readonly identity: IdentityId
  readonly base: Hash | 'GENESIS'
  readonly principal: Json
  /** Versions that results of trusted code may depend on (formats.md §3 `profile`). */
  readonly profile: Json
  readonly root: RootBlock
  /** Of the caller of the run; undefined: it gave none. */
  readonly trace: RunTrace | undefined
}

export function unitContextOf(
  { runId, identity, root, started }: RunState,
  profile: Json
): UnitContext {
  const { base, principal, trace } = begun(started)
  return { runId, root, identity, base, principal, profile, trace }
}

/** How a run began. */
export function begun(started: RunStarted | undefined): RunStarted {
  assert(started !== undefined, 'a run begins with run.started')
  return started
}

const nothing: ReadonlyMap<never, never> = new Map<never, never>()

/** The unit of work of a leaf's successful attempt. */
export function leafUnit(
  attempt: LeafWork,
  context: UnitContext,
  payloadText: string,
  resultText: string
): UnitDraft {
  const { ask, at } = attempt
  const { path, step, attempt: number } = ask
  const { parentReceipt } = ask.request.metadata
  const asked = { ...committed(ask.request), ...traced(context) }
  const run = { runId: context.runId, path, step, attempt: number, at, ...asked }
  const unit = unitOf(
    attempt,
    parentReceipt === undefined ? run : { parent: parentReceipt, ...run },
    context,
    { payloadText, resultText, sealed: attempt.sealedReferences() }
  )
  // An attempt before it, of other code, may have been given the same.
  return number > 1 && context.root.isPrivate() ? { ...unit, payloadPrivate: true } : unit
}

const nothingCommitted = {}

/** What a receipt says of a request beside its payload. */
export function committed({ context }: { readonly context?: JsonObject | undefined }): {
  readonly contextHash?: Hash
} {
  if (context === undefined || Object.keys(context).length === 0) return nothingCommitted
  return { contextHash: hashJson(context) }
}

/** What a receipt says of who asked for the run. */
export function traced({ trace }: { readonly trace?: RunTrace | undefined }): {
  readonly trace?: RunTrace
} {
  return trace === undefined ? nothingCommitted : { trace }
}

/** The unit of work of code that has come to its end, wherever it ran. */
export function unitOf(
  work: Pick<
    LeafWork,
    'unitId' | 'block' | 'at' | 'seed' | 'view' | 'capabilitiesUsed' | 'attribution'
  >,
  run: NonNullable<UnitDraft['run']>,
  { principal, profile: own }: Pick<UnitContext, 'principal' | 'profile'>,
  texts: {
    readonly payloadText: string
    readonly resultText: string
    readonly sealed: UnitDraft['sealed']
  }
): UnitDraft {
  const { view, at } = work
  const said = work.attribution ?? attributionOf(work.block, texts.payloadText)
  const { kind, id, codeHash } = said.provider
  return {
    id: work.unitId,
    action: said.action,
    dappId: said.dappId,
    payloadText: said.payloadText,
    payloadPrivate: said.isInputPrivate,
    at,
    seed: work.seed,
    principal,
    run,
    provider: { kind, id, codeHash, profile: said.profile ?? own },
    capabilitiesDeclared: said.capabilitiesDeclared,
    capabilitiesUsed: work.capabilitiesUsed,
    sealed: texts.sealed,
    resultText: texts.resultText,
    resultPrivate: said.isOutputPrivate,
    reads: view.reads,
    lists: view.lists,
    writes: view.writes,
    ...(said.raw === undefined ? {} : { raw: said.raw })
  }
}

/** What a receipt says of a trusted block that does its own work. */
export function attributionOf(block: Block, payloadText: string): Attribution {
  const { name, version, codeHash, capabilities, isInputPrivate, isOutputPrivate } = block
  return {
    action: name,
    dappId: `block:${name}@${version}`,
    provider: { kind: 'declared', id: `${name}@${version}`, codeHash },
    payloadText,
    capabilitiesDeclared: capabilities,
    isInputPrivate,
    isOutputPrivate
  }
}

/** The one unit of work of an outermost atomic composite (C4). */
export function overlayUnit(
  overlay: Overlay,
  context: UnitContext,
  options: {
    readonly id: UnitDraft['id']
    readonly seed: UnitDraft['seed']
    readonly payloadText: string
    readonly resultText: string
  }
): UnitDraft {
  const { path, step, attempt, block } = overlay.ask
  const { version, definitionHash } = context.root.compositeAt(path)
  const isPrivate = overlay.isPrivate || context.root.isPrivate()
  return {
    action: block,
    dappId: `composite:${block}@${version}`,
    payloadPrivate: isPrivate,
    at: overlay.at,
    principal: context.principal,
    run: {
      runId: context.runId,
      path,
      step,
      attempt,
      at: overlay.at,
      ...committed(overlay.ask.request),
      ...traced(context)
    },
    provider: {
      kind: 'composite',
      id: `${block}@${version}`,
      codeHash: definitionHash,
      profile: context.profile
    },
    capabilitiesDeclared: [...overlay.declared].sort(),
    capabilitiesUsed: [...overlay.used].sort(),
    sealed: overlay.sealed,
    resultPrivate: isPrivate,
    reads: overlay.view.reads,
    lists: overlay.view.lists,
    writes: overlay.view.writes,
    ...options
  }
}

/** A response without the ids that can be derived again: what journals and receipts keep. */
export function bare(response: Response): Response {
  return { ...response, metadata: {} }
}

/**
 * `run.completed`, before `run.finished` is counted: commits to the definition, the inputs, the
 * journal and the node receipts.
 */
export function completedUnit(
  state: RunState,
  dataText: string,
  { principal, profile, root, ...context }: UnitContext
): UnitDraft {
  const { runId, at } = state
  const started = begun(state.started)
  const id = runUnitId(runId)
  const { name, version, definitionHash } = root
  const isPrivate = root.isPrivate()
  const { inputHash, base } = started
  const { journalHash } = state
  const receipts = { count: state.receipts.size, root: state.receipts.root() }
  const asked = { ...committed(started), ...traced(context) }
  return {
    id,
    action: 'run.completed',
    dappId: `composite:${name}@${version}`,
    payloadText: canonicalize({ name, version, definitionHash, inputHash, journalHash, receipts }),
    payloadPrivate: isPrivate,
    at,
    seed: { base, value: seedOf(base, id) },
    principal,
    run: { runId, path: 'root', step: 0, attempt: 1, at, ...asked },
    provider: { kind: 'composite', id: `${name}@${version}`, codeHash: definitionHash, profile },
    capabilitiesDeclared: [],
    capabilitiesUsed: [],
    sealed: [],
    resultText: dataText,
    resultPrivate: isPrivate,
    reads: nothing,
    lists: nothing,
    writes: nothing
  }
}
