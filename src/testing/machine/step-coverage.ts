import { type CompiledWithChildren, isForSignal, type JournalEntry } from '../../block/index.js'
import { signalNamed } from '../../code/index.js'
import { Coverage, type CoverageLeft, type MachineCoverage } from './coverage.js'
import type { Play } from './play.js'

/** What the plays of all cases have taken. */
export type AnyCoverage = Pick<Coverage, 'add' | 'left' | 'take' | 'report'>

export function coverageOf(compiled: CompiledWithChildren): AnyCoverage {
  return compiled.kind === 'function' ? new StepCoverage() : new Coverage(compiled)
}

/**
 * Steps of a workflow in code that the plays of all cases have called, and what became of them. No
 * chart names them before they are called, so there are no transitions to count.
 *
 * Owns: what was taken, and what else could have become of the steps that were called.
 */
class StepCoverage implements AnyCoverage {
  readonly #known = new Set<string>()
  readonly #taken = new Set<string>()

  add({ journals }: Pick<Play, 'journals'>): void {
    for (const entries of journals.values()) {
      const placeOf = calledPlaces()
      for (const entry of entries) {
        const place = placeOf(entry)
        if (place !== undefined) this.#know(entry, place)
        for (const state of statesIn(entry)) this.#taken.add(state)
      }
    }
  }

  #know(entry: JournalEntry, place: string): void {
    if (entry.k !== 'called') return
    const { call } = entry
    const ends = call.kind === 'scope' ? ['committed', 'aborted'] : ['done', 'failed']
    const { confirm, onError, recovery = [] } = (call.kind === 'step' && call.options) || {}
    if (confirm !== undefined) ends.push('confirmation')
    if (onError === 'ask') ends.push('decision')
    if (recovery.some(({ kind }) => kind !== 'bubble')) ends.push('recovery')
    for (const end of ends) this.#known.add(`${place}: ${end}`)
  }

  /** As other coverages have it: `entered` is what could have been taken. */
  left(): CoverageLeft {
    return { taken: [...this.#taken], entered: [...this.#known], done: [] }
  }

  take({ taken, entered }: CoverageLeft): void {
    for (const one of taken) this.#taken.add(one)
    for (const one of entered) this.#known.add(one)
  }

  report(): MachineCoverage {
    const all = new Set([...this.#known, ...this.#taken])
    const missed = [...this.#known].filter((state) => !this.#taken.has(state)).sort()
    const why = 'nothing in the cases led there'
    return {
      transitions: { taken: 0, of: 0 },
      states: { taken: this.#taken.size, of: all.size },
      missed: missed.map((what) => ({ what, why }))
    }
  }
}

/** Where the steps and atomic parts that code calls stand, entry by entry of one journal. */
export function calledPlaces(): (entry: JournalEntry) => string | undefined {
  const scopes = new Map<number, string>()
  return (entry) => {
    if (entry.k !== 'called' || entry.call.kind === 'return') return undefined
    const { call, path, seq } = entry
    const place = `${path}/${call.name}`
    if (call.kind === 'scope') scopes.set(seq, place)
    if (call.kind === 'scope' || call.scope === undefined) return place
    return `${scopes.get(call.scope) ?? path}/${call.name}`
  }
}

/** The path without the numbers of children that ran beside each other under one name. */
export function placeAt(path: string): string {
  return path.replaceAll(/\.\d+(?=\/|$)/g, '')
}

function statesIn(entry: JournalEntry): readonly string[] {
  if (!('path' in entry)) return []
  const place = placeAt(entry.path)
  const state = stateIn(entry)
  const isAgain = 'attempt' in entry && entry.attempt > 1
  const states = [...(state === undefined ? [] : [state]), ...(isAgain ? ['recovery'] : [])]
  return states.map((one) => `${place}: ${one}`)
}

function stateIn(entry: JournalEntry): string | undefined {
  switch (entry.k) {
    case 'settled':
      return entry.response.success ? 'done' : 'failed'
    case 'scope':
      return ['committed', 'aborted'].includes(entry.outcome) ? entry.outcome : undefined
    case 'wait': {
      const signal = isForSignal(entry) ? signalNamed(entry.request) : undefined
      return signal === undefined ? entry.reason : `signal ${signal}`
    }
    default:
      return undefined
  }
}
