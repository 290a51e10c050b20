import type { Json } from '../../core/index.js'
import type { Block } from '../define.js'
import { differing, type Finding } from '../finding.js'
import type { ScopeAsk } from '../protocol.js'
import type { Overlay, ScopeEnded, Settled } from '../pump/entries.js'
import type { Errands } from '../pump/errands.js'
import type { Outside } from '../pump/outside.js'
import { overlayOf, Scope } from '../pump/scope.js'
import {
  type Below,
  type LeafAgain,
  leafAgain,
  type RedoOptions,
  type Skipped
} from './leaf-work.js'
import type { AskedAttempt } from './run-state.js'

type ScopeOpenAsk = Extract<ScopeAsk, { readonly kind: 'scope.open' }>

/** One step inside an overlay that was not rolled back. */
export type ScopeStep =
  | { readonly kind: 'leaf'; readonly attempt: AskedAttempt; readonly settled: Settled }
  | { readonly kind: 'scope'; readonly scope: OpenedScope }

/** An overlay of the run, with what has happened in it so far (C4). */
export interface OpenedScope {
  readonly ask: ScopeOpenAsk
  readonly at: number
  readonly outer: OpenedScope | undefined
  readonly steps: ScopeStep[]
  readonly outside: Outside
  /** What was decided, and the errands that come before its composite goes on. */
  closing: { readonly decided: ScopeEnded; readonly errands: Errands } | undefined
}

export type ScopeAgain =
  | { readonly kind: 'done'; readonly scope: Scope }
  | { readonly kind: 'finding'; readonly finding: Finding }
  | Skipped

/**
 * Does the leaves of an atomic composite again, in order, on a new overlay over `below`, and
 * compares what each returned and wrote with its journal entry.
 */
export async function scopeAgain(
  opened: OpenedScope,
  options: RedoOptions & { readonly below: Below; readonly outer?: Scope }
): Promise<ScopeAgain> {
  const { outer, below } = options
  const scope = new Scope(opened.ask, {
    at: opened.at,
    outer,
    below: (key) => (outer === undefined ? below : outer.view).read(key)
  })
  for (const step of opened.steps) {
    if (step.kind === 'scope') {
      const inner = await scopeAgain(step.scope, { ...options, outer: scope })
      if (inner.kind !== 'done') return inner
      scope.join(inner.scope)
      continue
    }
    const again = await stepAgain(scope, step.attempt, step.settled, options)
    if (again.kind !== 'done') return again
    scope.absorb(again.work.view)
    scope.collect(again.work, step.settled.response)
  }
  return { kind: 'done', scope }
}

async function stepAgain(
  scope: Scope,
  attempt: AskedAttempt,
  settled: Settled,
  options: RedoOptions & { readonly below: Below }
): Promise<LeafAgain> {
  const below: Below = {
    read: (key) => scope.view.read(key),
    list: (prefix) => scope.list(prefix, options.below.list(prefix))
  }
  const { at, past } = attempt
  const { provider } = settled
  const again = await leafAgain(attempt, { ...options, below, at, tape: past.tape, provider })
  if (again.kind === 'skipped') return again
  const finding = again.kind === 'finding' ? again.finding : stepFinding(again, settled)
  if (finding === undefined) return again
  return { kind: 'finding', finding: { ...finding, key: finding.key ?? attempt.ask.path } }
}

function stepFinding(
  { work, resultText }: LeafAgain & { readonly kind: 'done' },
  { response, overlay }: Settled
): Finding | undefined {
  const again = overlayOf(work)
  return (
    differing('journal.response', succeeded(resultText), response) ??
    differing('journal.overlay.writes', sorted(again.writes), sorted(overlay?.writes)) ??
    differing('journal.overlay.reads', sorted(again.reads), sorted(overlay?.reads)) ??
    differing('journal.overlay.used', again.used, overlay?.used)
  )
}

function sorted(changes: Overlay['writes'] | Overlay['reads'] = []): readonly Json[] {
  return [...changes].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
}

/** Blocks whose code runs inside an overlay, one for each step. */
export function blocksIn(scope: OpenedScope | undefined): readonly Block[] {
  return (scope?.steps ?? []).flatMap((step) =>
    step.kind === 'leaf' ? [step.attempt.block] : blocksIn(step.scope)
  )
}

/** The response of a leaf that succeeded. */
export function succeeded(resultText: string): Json {
  return { success: true, data: JSON.parse(resultText) as Json, metadata: {} }
}
