import type { Block, RecordedProvider, Response } from '../../code/index.js'
import type { Json } from '../../core/index.js'
import type { OverlayEntry, Settled } from '../run/entries.js'
import { Overlay, overlayOf } from '../run/overlay.js'
import { differing, type Finding } from './finding.js'
import { type LeafAgain, leafAgain } from './leaf-work.js'
import {
  type AskedAttempt,
  type Below,
  type FailureAgain,
  type Ground,
  lacksBody,
  type OpenedOverlay,
  type OverlayStep,
  type RedoOptions,
  Seen,
  type Skipped,
  skipped
} from './redo.js'

export type OverlayAgain =
  | { readonly kind: 'done'; readonly overlay: Overlay }
  | { readonly kind: 'finding'; readonly finding: Finding }
  | Skipped

/**
 * Does the leaves of an atomic composite again, in order, on a new overlay over `below`, and
 * compares what each returned and wrote with its journal entry.
 */
export async function overlayAgain(
  opened: OpenedOverlay,
  options: OverlayOptions
): Promise<OverlayAgain> {
  const overlay = emptyOverlay(opened, options)
  for (const step of opened.steps) {
    const again = await stepAgain(overlay, step, options)
    if (again.kind !== 'done') return again
  }
  return { kind: 'done', overlay }
}

export interface OverlayOptions extends RedoOptions {
  readonly below: Below
  readonly outer?: Overlay
  /** Gets what steps read, wherever it lies. */
  readonly seen?: Seen
}

/** The overlay as it was when it was opened. */
function emptyOverlay(
  { ask, at }: OpenedOverlay,
  { outer, below }: Pick<OverlayOptions, 'below' | 'outer'>
): Overlay {
  const ground = outer === undefined ? below : outer.view
  return new Overlay(ask, { at, outer, below: (key) => ground.read(key) })
}

/** Does one step again, on top of those before it. */
async function stepAgain(
  overlay: Overlay,
  step: OverlayStep,
  options: OverlayOptions
): Promise<OverlayAgain> {
  if (step.kind === 'scope') {
    const inner = await overlayAgain(step.overlay, { ...options, outer: overlay })
    if (inner.kind === 'done') overlay.join(inner.overlay)
    return inner
  }
  const again = await leafOnOverlay(overlay, step.attempt, step.settled, options)
  if (again.kind !== 'done') return again
  overlay.absorb(again.work.view)
  overlay.collect(again.work, step.settled.response)
  return { kind: 'done', overlay }
}

/** State as the steps of an overlay see it. */
export function onOverlay(overlay: Overlay, { below, seen }: OverlayOptions): Below {
  const view: Below = {
    read: (key) => overlay.view.read(key),
    list: (prefix) => overlay.list(prefix, below.list(prefix))
  }
  return seen === undefined ? view : seen.through(view)
}

async function leafOnOverlay(
  overlay: Overlay,
  attempt: AskedAttempt,
  settled: Settled,
  options: OverlayOptions
): Promise<LeafAgain> {
  const below = onOverlay(overlay, options)
  const { at, past } = attempt
  const { provider } = settled
  const again = await leafAgain(attempt, {
    ...options,
    below,
    at,
    recordedResults: past.recorded.whole(),
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

function sorted(changes: OverlayEntry['writes'] | OverlayEntry['reads'] = []): readonly Json[] {
  return [...changes].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
}

/** Blocks whose code runs inside an overlay, one for each step. */
export function blocksIn(overlay: OpenedOverlay | undefined): readonly Block[] {
  return (overlay?.steps ?? []).flatMap((step) =>
    step.kind === 'leaf' ? [step.attempt.block] : blocksIn(step.overlay)
  )
}

/** A step of which the kernel chose who does it. */
export interface ChosenStep {
  readonly block: Block
  readonly provider: RecordedProvider
}

/** Those steps of an overlay of which the kernel chose who does them. */
export function chosenIn(overlay: OpenedOverlay | undefined): readonly ChosenStep[] {
  return (overlay?.steps ?? []).flatMap((step) => {
    if (step.kind === 'scope') return chosenIn(step.overlay)
    const { provider } = step.settled
    return provider === undefined ? [] : [{ block: step.attempt.block, provider }]
  })
}

/** Whether the journal has another response than that of a leaf that succeeded with this result. */
export function responseFinding(resultText: string, response: Response): Finding | undefined {
  // As journals have it, read and written in their order; equal texts need no closer look.
  const text = `{"data":${resultText},"metadata":{},"success":true}`
  if (JSON.stringify(response) === text) return undefined
  return differing('journal.response', JSON.parse(text), response)
}

/** An overlay that is done again as far as it got. */
export interface OverlaySoFar {
  readonly overlay: Overlay
  /** Everything that its steps have read. */
  readonly seen: Seen
  /** Why it could not be done again any further; then what failed inside cannot be either. */
  stopped: Exclude<FailureAgain, { readonly kind: 'same' }> | undefined
}

interface Known extends OverlaySoFar {
  done: number
}

/**
 * Overlays of one run that a step failed inside of. Their steps are executed again, so that what
 * failed finds the state that it had found (C4).
 *
 * Owns: overlays done again so far: each step is executed once, however often something fails after
 * it. They live as long as the overlays of the run.
 */
export class OverlaysAgain {
  readonly #known = new WeakMap<OpenedOverlay, Known>()

  /** Does what the overlay's steps did until now, on those around it. */
  async upTo(
    opened: OpenedOverlay,
    options: RedoOptions & { readonly below: Ground }
  ): Promise<OverlaySoFar> {
    const outer = opened.outer === undefined ? undefined : await this.upTo(opened.outer, options)
    const known = this.#known.get(opened) ?? begun(opened, outer, options.below)
    this.#known.set(opened, known)
    if (outer?.stopped !== undefined) known.stopped ??= outer.stopped
    while (known.stopped === undefined && known.done < opened.steps.length) {
      const step = opened.steps[known.done]
      if (step === undefined) break
      known.done += 1
      const { overlay, seen } = known
      const below = seen.through(options.below)
      const again = await stepAgain(overlay, step, { ...options, below, seen })
      if (seen.isWithheld(options.below)) known.stopped = lacksBody('state that they read')
      else if (again.kind === 'skipped') known.stopped = lacksBody(again.what)
      else if (again.kind === 'finding') known.stopped = doubted(opened, known, again, options)
    }
    return known
  }
}

function begun(opened: OpenedOverlay, outer: OverlaySoFar | undefined, ground: Ground): Known {
  const seen = new Seen()
  const around = outer === undefined ? {} : { outer: outer.overlay }
  const overlay = emptyOverlay(opened, { below: seen.through(ground), ...around })
  return { overlay, seen, stopped: undefined, done: 0 }
}

/** A difference says nothing when what was read has been changed by others meanwhile. */
function doubted(
  opened: OpenedOverlay,
  { seen }: Known,
  finding: Extract<FailureAgain, { readonly kind: 'finding' }>,
  { below }: { readonly below: Ground }
): Exclude<FailureAgain, { readonly kind: 'same' }> {
  const isDoubtful =
    seen.hasChanged(below, outermost(opened).asked) ||
    seen.hasChangedAround(opened.outer, opened.asked)
  return isDoubtful ? skipped('state that they read has changed meanwhile') : finding
}

export function outermost(overlay: OpenedOverlay): OpenedOverlay {
  let found = overlay
  while (found.outer !== undefined) found = found.outer
  return found
}
