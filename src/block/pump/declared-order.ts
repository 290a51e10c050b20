import type { PlanTurn } from '../../code/index.js'
import type { Attempt } from './attempt.js'
import type { Inbox, OutcomeEvent, PerformedFact, PumpEvent } from './inbox.js'

/**
 * Keeps the ends of attempts back until those before them in the order of their plan have ended, so
 * that receipts do not depend on which was quicker (D3).
 *
 * Owns: ends that came too early, and answers that came after an end that was not taken yet. Does
 * not own: attempts, and who may start when, which the plan's chart decides.
 *
 * - C2: an attempt that only waits delays no other.
 * - D5: what comes after the end of the code is no answer of its recorded results, whenever the end
 *   is taken.
 * - Finding the next one costs no more for more nodes: only the first of each plan is looked at.
 */
export class DeclaredOrder {
  #plans: Map<string, OpenTurns> | undefined
  #held: Map<Attempt, OutcomeEvent> | undefined
  #late: PerformedFact[] | undefined
  /** Something has ended since the held ends were last looked through. */
  #hasMoved = false

  opened(attempt: Attempt): void {
    for (const { plan, place } of turnsOf(attempt)) {
      this.#plans ??= new Map()
      const turns = this.#plans.get(plan) ?? new OpenTurns()
      this.#plans.set(plan, turns)
      turns.add(place, attempt)
    }
  }

  closed(attempt: Attempt): void {
    this.#held?.delete(attempt)
    for (const { plan, place } of turnsOf(attempt)) {
      this.#hasMoved = true
      const turns = this.#plans?.get(plan)
      turns?.remove(place, attempt)
      if (turns?.isEmpty === true) this.#plans?.delete(plan)
    }
  }

  /** The next fact that may be taken; ends that have come too early are kept. */
  take(inbox: Inbox): PumpEvent | undefined {
    for (;;) {
      const fact = this.#overdue() ?? this.#next({ isIdle: inbox.isEmpty }) ?? inbox.take()
      if (fact?.kind === 'performed' && fact.attempt.hasEnded) {
        this.#late ??= []
        this.#late.push(fact)
      } else if (fact?.kind !== 'outcome' || !this.#holds(fact)) return fact
    }
  }

  /** An answer whose attempt has been closed meanwhile, or runs again and asks for it. */
  #overdue(): PerformedFact | undefined {
    if (this.#late === undefined || this.#late.length === 0) return undefined
    const at = this.#late.findIndex(({ attempt }) => !attempt.hasEnded)
    return at < 0 ? undefined : this.#late.splice(at, 1)[0]
  }

  #holds(fact: OutcomeEvent): boolean {
    if (this.#isFirst(fact.attempt)) return false
    this.#held ??= new Map()
    this.#held.set(fact.attempt, fact)
    return true
  }

  /**
   * The next end whose turn has come. While other facts come in, it is looked for only after
   * something has ended; `isIdle` says that nothing else does.
   */
  #next({ isIdle }: { readonly isIdle: boolean }): OutcomeEvent | undefined {
    const held = this.#held
    if (held === undefined || held.size === 0 || !(this.#hasMoved || isIdle)) return undefined
    for (const turns of this.#plans?.values() ?? []) {
      for (const attempt of turns.first()) {
        const fact = held.get(attempt)
        if (fact === undefined || !this.#isFirst(attempt)) continue
        held.delete(attempt)
        return fact
      }
    }
    this.#hasMoved = false
    return undefined
  }

  #isFirst(attempt: Attempt): boolean {
    return turnsOf(attempt).every(({ plan, place }) => {
      const first = this.#plans?.get(plan)?.firstPlace()
      return first === undefined || first >= place
    })
  }
}

/** The attempts of one plan that have not ended, by place. */
class OpenTurns {
  /** Ascending. */
  readonly #places: number[] = []
  readonly #attempts = new Map<number, Set<Attempt>>()

  get isEmpty(): boolean {
    return this.#places.length === 0
  }

  add(place: number, attempt: Attempt): void {
    const known = this.#attempts.get(place)
    if (known !== undefined) {
      known.add(attempt)
      return
    }
    this.#attempts.set(place, new Set([attempt]))
    // Attempts are opened in order, as a rule: then this is one look.
    let at = this.#places.length
    while (at > 0 && (this.#places[at - 1] ?? 0) > place) at -= 1
    this.#places.splice(at, 0, place)
  }

  remove(place: number, attempt: Attempt): void {
    const known = this.#attempts.get(place)
    known?.delete(attempt)
    if (known?.size !== 0) return
    this.#attempts.delete(place)
    const at = this.#places.indexOf(place)
    if (at >= 0) this.#places.splice(at, 1)
  }

  /** The first place with something that continues by itself. */
  firstPlace(): number | undefined {
    return this.#places.find((place) =>
      [...this.#at(place)].some((one) => one.firstWait() === undefined)
    )
  }

  first(): Iterable<Attempt> {
    const place = this.firstPlace()
    return place === undefined ? [] : this.#at(place)
  }

  #at(place: number): Iterable<Attempt> {
    return this.#attempts.get(place) ?? []
  }
}

function turnsOf({ ask }: Attempt): readonly PlanTurn[] {
  return ask.options.turns ?? noTurns
}

const noTurns: readonly PlanTurn[] = []
