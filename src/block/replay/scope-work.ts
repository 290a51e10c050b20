import type { Json } from '../../core/index.js'
import type { Block } from '../define.js'
import { differing, type Finding } from '../finding.js'
import type { Response } from '../protocol.js'
import type { Overlay, Settled } from '../run/entries.js'
import { overlayOf, Scope } from '../run/scope.js'
import type { Seen } from './ground.js'
import { type LeafAgain, leafAgain } from './leaf-work.js'
import type { AskedAttempt, OpenedScope, ScopeStep } from './open.js'
import type { Below, RedoOptions, Skipped } from './redo.js'

export type ScopeAgain =
  | { readonly kind: 'done'; readonly scope: Scope }
  | { readonly kind: 'finding'; readonly finding: Finding }
  | Skipped

/**
 * Does the leaves of an atomic composite again, in order, on a new overlay over `below`, and
 * compares what each returned and wrote with its journal entry.
 */
export async function scopeAgain(opened: OpenedScope, options: ScopeOptions): Promise<ScopeAgain> {
  const scope = emptyScope(opened, options)
  for (const step of opened.steps) {
    const again = await stepAgain(scope, step, options)
    if (again.kind !== 'done') return again
  }
  return { kind: 'done', scope }
}

export interface ScopeOptions extends RedoOptions {
  readonly below: Below
  readonly outer?: Scope
  /** Is told what steps read, wherever it lies. */
  readonly seen?: Seen
}

/** The overlay as it was when it was opened. */
export function emptyScope(
  { ask, at }: OpenedScope,
  { outer, below }: Pick<ScopeOptions, 'below' | 'outer'>
): Scope {
  const ground = outer === undefined ? below : outer.view
  return new Scope(ask, { at, outer, below: (key) => ground.read(key) })
}

/** Does one step again, on top of those before it. */
export async function stepAgain(
  scope: Scope,
  step: ScopeStep,
  options: ScopeOptions
): Promise<ScopeAgain> {
  if (step.kind === 'scope') {
    const inner = await scopeAgain(step.scope, { ...options, outer: scope })
    if (inner.kind === 'done') scope.join(inner.scope)
    return inner
  }
  const again = await leafOnOverlay(scope, step.attempt, step.settled, options)
  if (again.kind !== 'done') return again
  scope.absorb(again.work.view)
  scope.collect(again.work, step.settled.response)
  return { kind: 'done', scope }
}

/** State as the steps of an overlay see it. */
export function onOverlay(scope: Scope, { below, seen }: ScopeOptions): Below {
  const view: Below = {
    read: (key) => scope.view.read(key),
    list: (prefix) => scope.list(prefix, below.list(prefix))
  }
  return seen === undefined ? view : seen.through(view)
}

async function leafOnOverlay(
  scope: Scope,
  attempt: AskedAttempt,
  settled: Settled,
  options: ScopeOptions
): Promise<LeafAgain> {
  const below = onOverlay(scope, options)
  const { at, past } = attempt
  const { provider } = settled
  const again = await leafAgain(attempt, {
    ...options,
    below,
    at,
    tape: past.tape.whole(),
    provider
  })
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
    responseFinding(resultText, response) ??
    differing('journal.overlay.writes', sorted(again.writes), sorted(overlay?.writes)) ??
    differing('journal.overlay.reads', sorted(again.reads), sorted(overlay?.reads)) ??
    // Journals of 0.1.0 have none.
    (overlay?.lists === undefined
      ? undefined
      : differing('journal.overlay.lists', again.lists, overlay.lists)) ??
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

/** Whether the journal has another response than that of a leaf that succeeded with this result. */
export function responseFinding(resultText: string, response: Response): Finding | undefined {
  // As journals have it, read and written in their order; equal texts need no closer look.
  const text = `{"data":${resultText},"metadata":{},"success":true}`
  if (JSON.stringify(response) === text) return undefined
  return differing('journal.response', JSON.parse(text), response)
}
