import { canonicalize, type Json, limits } from '../../core/index.js'

/** What one operation read and wrote, all of it at one moment. Null: no such entry. */
export interface StateOperation {
  readonly reads?: Readonly<Record<string, Json>>
  readonly writes?: Readonly<Record<string, Json>>
}

/**
 * An operation as its caller saw it. The two moments are places in one order of all events, such as
 * milliseconds; operations that share a moment overlap.
 */
export interface TimedOperation extends StateOperation {
  readonly calledAt: number
  /** Absent: its caller never heard of it, and it may have happened at any later time, or never. */
  readonly returnedAt?: number
}

/**
 * `order`: places in the history, as the operations can have happened. `stuck`: operations of which
 * none can be the next, after the longest order that fits. `undecided`: the search had to end.
 */
export type Linearizability =
  | { readonly verdict: 'linearizable'; readonly order: readonly number[] }
  | { readonly verdict: 'not_linearizable'; readonly stuck: readonly number[] }
  | { readonly verdict: 'undecided'; readonly configurations: number }

/**
 * Whether a history of reads and writes can have happened one operation after the other, each
 * between its call and its return: the search of Wing and Gong, with Lowe's memory of the
 * configurations that led nowhere. Histories that share no key are searched one by one.
 */
export function checkLinearizable(
  history: readonly TimedOperation[],
  options: {
    /** State before the first operation, by key. */
    readonly initial?: Readonly<Record<string, Json>>
    /** Configurations that are looked at before the search ends undecided. */
    readonly configurationsMax?: number
  } = {}
): Linearizability {
  const { initial = {}, configurationsMax = limits.LINEAR_CONFIGURATIONS_MAX } = options
  const budget = { left: configurationsMax }
  const orders: (readonly number[])[] = []
  for (const part of independentParts(history)) {
    const search = new Search(part.map((place) => [place, history[place] ?? noOperation]))
    const found = search.run(initial, budget)
    if (found.verdict === 'undecided') return { ...found, configurations: configurationsMax }
    if (found.verdict !== 'linearizable') return found
    orders.push(found.order)
  }
  return { verdict: 'linearizable', order: merged(orders, history) }
}

const noOperation: TimedOperation = { calledAt: 0 }

/** Places of operations, those together that share keys with one another. */
function independentParts(history: readonly TimedOperation[]): readonly (readonly number[])[] {
  const owner = new Map<string, number[]>()
  const parts = new Set<number[]>()
  for (const [place, operation] of history.entries()) {
    let mine = [place]
    parts.add(mine)
    for (const key of keysOf(operation)) {
      const other = owner.get(key)
      if (other !== undefined && other !== mine) {
        parts.delete(mine)
        other.push(...mine)
        for (const [known, part] of owner) if (part === mine) owner.set(known, other)
        mine = other
      }
      owner.set(key, mine)
    }
  }
  return [...parts].map((part) => part.sort((one, other) => one - other))
}

function keysOf({ reads = {}, writes = {} }: StateOperation): readonly string[] {
  return [...Object.keys(reads), ...Object.keys(writes)]
}

interface Pending {
  readonly place: number
  readonly calledAt: number
  readonly returnedAt: number
  readonly reads: readonly (readonly [key: string, text: string])[]
  readonly writes: readonly (readonly [key: string, text: string])[]
}

const ABSENT = 'null'

/** One search for an order of operations that share keys. */
class Search {
  readonly #operations: readonly Pending[]
  readonly #visited = new Set<string>()
  #longest: readonly number[] = []
  #stuck: readonly number[] = []

  constructor(operations: readonly (readonly [place: number, operation: TimedOperation])[]) {
    this.#operations = operations
      .map(([place, { calledAt, returnedAt = Number.POSITIVE_INFINITY, reads, writes }]) => ({
        place,
        calledAt,
        returnedAt,
        reads: textsOf(reads),
        writes: textsOf(writes)
      }))
      .sort((one, other) => one.calledAt - other.calledAt)
  }

  run(
    initial: Readonly<Record<string, Json>>,
    budget: { left: number }
  ): Exclude<Linearizability, { readonly verdict: 'undecided' }> | { verdict: 'undecided' } {
    const start: Configuration = { done: new Set(), order: [], state: new Map(textsOf(initial)) }
    const stack = [start]
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      if (this.#isComplete(next)) return { verdict: 'linearizable', order: next.order }
      if (budget.left <= 0) return { verdict: 'undecided' }
      budget.left -= 1
      // The last one pushed is looked at first: the one that was called first.
      stack.push(...this.#after(next).reverse())
    }
    return { verdict: 'not_linearizable', stuck: this.#stuck }
  }

  /** Those that never returned may never have happened. */
  #isComplete({ done }: Configuration): boolean {
    return this.#operations.every(
      ({ place, returnedAt }) => done.has(place) || returnedAt === Number.POSITIVE_INFINITY
    )
  }

  /** The configurations that one more operation leads to, and that no other order has led to. */
  #after({ done, order, state }: Configuration): Configuration[] {
    const open = this.#operations.filter(({ place }) => !done.has(place))
    const firstReturn = Math.min(...open.map(({ returnedAt }) => returnedAt))
    const candidates = open.filter(({ calledAt }) => calledAt <= firstReturn)
    if (order.length >= this.#longest.length) {
      this.#longest = order
      this.#stuck = candidates.map(({ place }) => place)
    }
    return candidates.flatMap(({ place, reads, writes }) => {
      if (!reads.every(([key, text]) => (state.get(key) ?? ABSENT) === text)) return []
      const nextState = writes.length === 0 ? state : new Map([...state, ...writes])
      const next = { done: new Set([...done, place]), order: [...order, place], state: nextState }
      const name = nameOf(next)
      if (this.#visited.has(name)) return []
      this.#visited.add(name)
      return [next]
    })
  }
}

interface Configuration {
  readonly done: ReadonlySet<number>
  readonly order: readonly number[]
  /** Canonical texts by key. */
  readonly state: ReadonlyMap<string, string>
}

function nameOf({ done, state }: Configuration): string {
  const places = [...done].sort((one, other) => one - other)
  const entries = [...state].filter(([, text]) => text !== ABSENT)
  return JSON.stringify([places, entries.sort(([one], [other]) => (one < other ? -1 : 1))])
}

function textsOf(entries: Readonly<Record<string, Json>> = {}): [key: string, text: string][] {
  return Object.entries(entries).map(([key, value]) => [key, canonicalize(value)])
}

/** One order of all parts: by the earliest time at which each operation can have happened. */
function merged(
  orders: readonly (readonly number[])[],
  history: readonly TimedOperation[]
): readonly number[] {
  const timed = orders.flatMap((order, part) => {
    let earliest = Number.NEGATIVE_INFINITY
    return order.map((place, index) => {
      earliest = Math.max(earliest, history[place]?.calledAt ?? earliest)
      return { place, earliest, part, index }
    })
  })
  timed.sort((a, b) => a.earliest - b.earliest || a.part - b.part || a.index - b.index)
  return timed.map(({ place }) => place)
}
