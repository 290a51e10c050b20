import type { Moment, OpenedOverlay, OverlayStep } from './open.js'
import type { Below } from './redo.js'

/**
 * State below a unit of work, with what has become of it lately: something that failed is not
 * checked at a commit, so what it has read may not be what is there when its failure is recorded.
 */
export interface Ground extends Below {
  /** Whether the value of a key is withheld. */
  isWithheld(key: string): boolean
  /** Whether a key was changed by an item after this one. */
  changedSince(item: number, key: string): boolean
  /** Whether any key below a prefix was. */
  changedBelowSince(item: number, prefix: string): boolean
}

/** What was read while something was done again. */
export class Seen {
  readonly keys = new Set<string>()
  readonly prefixes = new Set<string>()

  /** The same state, with a note of what is read. */
  through<State extends Below>(below: State): Below {
    return {
      read: (key) => {
        this.keys.add(key)
        return below.read(key)
      },
      list: (prefix) => {
        this.prefixes.add(prefix)
        return below.list(prefix)
      }
    }
  }

  /** Whether something that was read cannot be had. */
  isWithheld(ground: Ground): boolean {
    return some(this.keys, (key) => ground.isWithheld(key))
  }

  /** Whether something that was read has been changed after an item. */
  hasChanged(ground: Ground, { item }: Moment): boolean {
    return (
      some(this.keys, (key) => ground.changedSince(item, key)) ||
      some(this.prefixes, (prefix) => ground.changedBelowSince(item, prefix))
    )
  }

  /** Whether overlays around have changed something that was read, after an entry of the run. */
  hasChangedAround(overlay: OpenedOverlay | undefined, { entry }: Moment): boolean {
    for (let around = overlay; around !== undefined; around = around.outer) {
      const later = around.steps.filter((step) => numberOf(step) >= entry)
      if (later.some((step) => this.#meets(step))) return true
    }
    return false
  }

  #meets(step: OverlayStep): boolean {
    if (step.kind === 'scope') return step.overlay.steps.some((inner) => this.#meets(inner))
    const { writes = [] } = step.settled.overlay ?? {}
    return writes.some(
      ([key]) => this.keys.has(key) || some(this.prefixes, (prefix) => key.startsWith(prefix))
    )
  }
}

function numberOf(step: OverlayStep): number {
  return step.kind === 'leaf' ? step.settled.n : step.n
}

function some<Item>(items: Iterable<Item>, holds: (item: Item) => boolean): boolean {
  for (const item of items) if (holds(item)) return true
  return false
}
