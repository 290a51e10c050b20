import type { ManualClock } from '../../core/index.js'
import { Chance } from '../chance.js'
import type { Carrier, Message, Served } from '../machine/carrier.js'
import type { Fate, Passage } from './fate.js'
import type { NetworkFault } from './options.js'
import type { Trace } from './trace.js'

/** How long a process waits for an answer. */
const TIMEOUT_MS = 10_000
const PARTITIONS_MAX = 2
const PARTITION_SOON_MS = 100
const PARTITION_LATE_MS = 20_000
const PARTITION_MS_MAX = 30_000

/** From one moment to another, none of these nodes reaches any of these services. */
interface Partition {
  readonly from: number
  readonly until: number
  readonly nodes: ReadonlySet<string>
  readonly services: ReadonlySet<string>
}

export interface NetworkParts {
  readonly seed: number
  readonly nodes: readonly string[]
  /** Effects that are answered. */
  readonly services: readonly string[]
  readonly faults: readonly NetworkFault[]
  readonly clock: ManualClock
  readonly trace: Trace
}

/**
 * What lies between nodes and the services of their effects.
 *
 * Owns: requests on their way, and who cannot reach what. Does not own: what services do, which is
 * the world's, nor what becomes of one request, which {@link Fate} draws.
 */
export class Network {
  readonly #parts: NetworkParts
  readonly #partitions: readonly Partition[]
  readonly #injected = new Map<string, number>()
  #copies = 0

  constructor(parts: NetworkParts) {
    this.#parts = parts
    this.#partitions = partitionsOf(parts)
  }

  /** What went wrong, by kind. */
  get faults(): ReadonlyMap<string, number> {
    return this.#injected
  }

  /** Whether no request is on its way, or being served. */
  get isQuiet(): boolean {
    return this.#copies === 0
  }

  /** Puts the beginnings and ends of partitions into the trace, each in its time. */
  begin(): void {
    const { clock, trace } = this.#parts
    for (const { from, until, nodes, services } of this.#partitions) {
      const what = `${[...nodes].join(', ')} and ${[...services].join(', ')}`
      clock.schedule(from, () => {
        this.#count('partition')
        trace.add('the network', `is cut between ${what}`)
      })
      clock.schedule(until, () => trace.add('the network', `is whole between ${what}`))
    }
  }

  /** What one node sees of it. */
  of(node: string, fate: Fate): Carrier {
    const underWay = new Map<string, number>()
    const add = (key: string, copies: number) => {
      this.#copies += copies
      underWay.set(key, (underWay.get(key) ?? 0) + copies)
    }
    const reaches = (effect: string) => this.#reaches(node, effect)
    return {
      reaches,
      isUnderWay: (key) => (underWay.get(key) ?? 0) > 0,
      carry: (message) =>
        new Carrying(message, {
          passage: this.#passageOf(message, fate),
          clock: this.#parts.clock,
          reaches: () => reaches(message.effect),
          tell: (what) => this.#parts.trace.add(node, `${message.effect}: ${what}`),
          add: (copies) => add(message.key, copies)
        }).heard
    }
  }

  #passageOf({ effect, asking, sideEffects }: Message, fate: Fate): Passage {
    const isRepeatable = sideEffects !== 'non_idempotent'
    const passage = fate.passageOf(effect, asking, { isRepeatable })
    if (passage.fault !== undefined) this.#count(passage.fault)
    return passage
  }

  #reaches(node: string, effect: string): boolean {
    const now = this.#parts.clock.now()
    return !this.#partitions.some(({ from, until, nodes, services }) => {
      return from <= now && now < until && nodes.has(node) && services.has(effect)
    })
  }

  #count(kind: string): void {
    this.#injected.set(kind, (this.#injected.get(kind) ?? 0) + 1)
  }
}

interface Way {
  readonly passage: Passage
  readonly clock: ManualClock
  reaches(): boolean
  tell(what: string): void
  /** So many more copies of the request are on their way. */
  add(copies: number): void
}

/** One request and its answer. */
class Carrying {
  /** What its process hears. */
  readonly heard: Promise<Served | undefined>
  readonly #message: Message
  readonly #way: Way
  #hear: (served: Served | undefined) => void = () => undefined
  #fail: (error: unknown) => void = () => undefined

  constructor(message: Message, way: Way) {
    this.#message = message
    this.#way = way
    this.heard = new Promise((resolve, reject) => {
      this.#hear = resolve
      this.#fail = reject
    })
    const { clock, passage } = way
    const stop = clock.schedule(clock.now() + TIMEOUT_MS, () => {
      if (message.isAwaited()) way.tell('no answer comes in time')
      this.#hear(undefined)
    })
    this.heard.then(stop, stop)
    this.#send(passage.requestMs)
    if (passage.againMs !== undefined) this.#send(passage.againMs, ' again')
  }

  /** One copy of the request. */
  #send(afterMs: number, again = ''): void {
    const { passage, reaches, tell, add } = this.#way
    if (passage.fault === 'request_lost' || !reaches()) {
      tell(`the request is lost${again}`)
      return
    }
    add(1)
    this.#after(afterMs, () => {
      if (!reaches()) {
        tell(`the request is lost on its way${again}`)
        add(-1)
        return
      }
      if (afterMs > 0) tell(`the request arrives${again}`)
      this.#message.serve().then(
        (served) => this.#answer(() => this.#hear(served)),
        (error: unknown) => this.#answer(() => this.#fail(error))
      )
    })
  }

  #answer(hear: () => void): void {
    const { passage, reaches, tell, add } = this.#way
    add(-1)
    if (!this.#message.isAwaited()) return
    this.#after(passage.answerMs, () => {
      if (passage.fault === 'answer_lost' || !reaches()) tell('the answer is lost')
      else hear()
    })
  }

  #after(ms: number, act: () => void): void {
    const { clock } = this.#way
    if (ms === 0) act()
    else clock.schedule(clock.now() + ms, act)
  }
}

function partitionsOf({ seed, nodes, services, faults, clock }: NetworkParts): Partition[] {
  if (!faults.includes('partition') || services.length === 0) return []
  const chance = new Chance(`simulation/${seed}/the network`)
  return Array.from({ length: chance.below(PARTITIONS_MAX + 1) }, () => {
    const soon = chance.below(2) === 0
    const from = clock.now() + chance.below(soon ? PARTITION_SOON_MS : PARTITION_LATE_MS)
    const until = from + 1 + chance.below(PARTITION_MS_MAX)
    return { from, until, nodes: someOf(nodes, chance), services: someOf(services, chance) }
  })
}

/** Some of them, and at least one. */
function someOf(names: readonly string[], chance: Chance): ReadonlySet<string> {
  const one = names[chance.below(names.length)]
  return new Set(names.filter((name) => chance.below(2) === 0 || name === one))
}
