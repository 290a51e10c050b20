import type { Overlay } from '../run/overlay.js'
import { type Ground, Seen } from './ground.js'
import type { OpenedOverlay } from './open.js'
import { emptyOverlay, stepAgain } from './overlay-again.js'
import { type FailureAgain, lacksBody, type RedoOptions, skipped } from './redo.js'

/** An overlay that is done again as far as it got. */
export interface OverlayAgain {
  readonly overlay: Overlay
  /** Everything that its steps have read. */
  readonly seen: Seen
  /** Why it could not be done again any further; then what failed inside cannot be either. */
  stopped: Exclude<FailureAgain, { readonly kind: 'same' }> | undefined
}

interface Known extends OverlayAgain {
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
  ): Promise<OverlayAgain> {
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

function begun(opened: OpenedOverlay, outer: OverlayAgain | undefined, ground: Ground): Known {
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
