import { builtInEffects, signalNamed } from '../../code/index.js'
import {
  canonicalize,
  type Hash,
  hashJson,
  isJsonObject,
  type Json,
  limits
} from '../../core/index.js'
import {
  type AttemptKey,
  placeKey,
  type Sealed,
  type SignalGiven,
  type WaitBegun
} from './entries.js'
import type { OpenWaits } from './waits.js'

/** A signal that somebody sends. */
export type SentSignal = Pick<SignalGiven, 'name' | 'id' | 'value' | 'by'>

/** What became of a signal: on disk, or why not. Expected refusals are data. */
export type SignalOutcome =
  | {
      readonly accepted: true
      /** It was sent before, and nothing was done again. */
      readonly repeated?: true
    }
  | {
      readonly accepted: false
      /**
       * `signal_id_reused`: the run was sent another signal under this id; `signal_refused`: the
       * code that waits for it does not take its value; `too_many_signals`: the run has as many as
       * it may have; `run_moved`: the run parked or resumed meanwhile, and it may be sent again.
       */
      readonly reason:
        | 'run_ended'
        | 'run_moved'
        | 'signal_id_reused'
        | 'signal_refused'
        | 'too_many_signals'
      /** Of `signal_refused`: what does not fit, for people. */
      readonly problem?: string
    }

/** A signal that no unit of work has taken for good. */
export interface WaitingSignal {
  readonly given: SignalGiven
  /** Path of the attempt that was given it and may yet give it back; null: none was. */
  readonly takenAt: string | null
}

/** What a checkpoint keeps of the signals of a run. */
export interface SavedSignals {
  /** Those that no unit of work has taken for good, in the order in which they came. */
  readonly open: readonly SignalGiven[]
  /** Hash of each, by its id. */
  readonly known: readonly (readonly [id: string, hash: Hash])[]
}

/**
 * The signals that a run was sent, as its journal says.
 *
 * Owns: those that no unit of work has taken for good, who has taken the others of them, and the
 * ids of all. Does not own: what waits for one, which are the run's waits.
 *
 * - B3 A signal is taken once by what succeeds: what an attempt or atomic composite took that did
 *   not succeed comes back to its place in the order.
 * - W10 An id names one signal of its run.
 */
export class RunSignals {
  /** By name, in the order in which they came. */
  #open: Map<string, SignalGiven[]> | undefined
  /** Taken by attempts that have not succeeded for good, by place and number of the call. */
  #taken:
    | Map<string, { readonly path: string; readonly calls: Map<number, SignalGiven> }>
    | undefined
  #known: Map<string, Hash> | undefined
  #waiting = 0
  #bytes = 0
  /** Whether something may have found its receiver since that was last looked for. */
  #hasMoved = false

  /** Takes one that was accepted. */
  take(entry: SignalGiven): void {
    this.#known ??= new Map()
    this.#known.set(entry.id, hashOfSignal(entry))
    this.#waiting += 1
    this.#bytes += bytesOf(entry)
    this.#put(entry)
  }

  #put(entry: SignalGiven): void {
    this.#open ??= new Map()
    const named = this.#open.get(entry.name) ?? []
    this.#open.set(entry.name, named)
    let at = named.length
    while (at > 0 && (named[at - 1]?.n ?? 0) > entry.n) at -= 1
    named.splice(at, 0, entry)
    this.#hasMoved = true
  }

  /** A call asks for one. */
  asked(): void {
    this.#hasMoved = true
  }

  /** The next one of a name. */
  next(name: string): SignalGiven | undefined {
    return this.#open?.get(name)?.[0]
  }

  /** Hash of the signal with an id. */
  known(id: string): Hash | undefined {
    return this.#known?.get(id)
  }

  /** Why the run takes no further signal with this value. */
  refusal(value: Json): (SignalOutcome & { readonly accepted: false }) | undefined {
    const isFull =
      (this.#known?.size ?? 0) >= limits.RUN_SIGNALS_MAX ||
      this.#waiting >= limits.RUN_SIGNALS_WAITING_MAX ||
      this.#bytes + bytesOf({ value }) > limits.RUN_SIGNALS_BYTES_MAX
    return isFull ? { accepted: false, reason: 'too_many_signals' } : undefined
  }

  /** A call was given the one that its result names. */
  sealed(entry: Sealed): void {
    const id = signalIn(entry)
    if (id === undefined) return
    for (const [name, named] of this.#open ?? []) {
      const at = named.findIndex((one) => one.id === id)
      const [given] = at < 0 ? [] : named.splice(at, 1)
      if (given === undefined) continue
      if (named.length === 0) this.#open?.delete(name)
      this.#taken ??= new Map()
      const key = placeKey(entry)
      const place = this.#taken.get(key) ?? { path: entry.path, calls: new Map() }
      this.#taken.set(key, place)
      place.calls.set(entry.seq, given)
      return
    }
  }

  /** An attempt did not succeed, or these of its calls were dropped: what they took comes back. */
  giveBack(place: AttemptKey, calls?: readonly number[]): void {
    const key = placeKey(place)
    const taken = this.#taken?.get(key)
    if (taken === undefined) return
    for (const [seq, given] of taken.calls) {
      if (calls !== undefined && !calls.includes(seq)) continue
      taken.calls.delete(seq)
      this.#put(given)
    }
    if (taken.calls.size === 0) this.#taken?.delete(key)
  }

  /** An attempt has succeeded for good. */
  keep(place: AttemptKey): void {
    this.#keep(placeKey(place))
  }

  /** What an atomic composite has done stays, or was rolled back. */
  overlayEnded(path: string, { isKept }: { readonly isKept: boolean }): void {
    for (const [key, { path: at, calls }] of this.#taken ?? []) {
      if (!at.startsWith(`${path}/`)) continue
      if (isKept) this.#keep(key)
      else {
        this.#taken?.delete(key)
        for (const given of calls.values()) this.#put(given)
      }
    }
  }

  #keep(key: string): void {
    const taken = this.#taken?.get(key)
    if (taken === undefined) return
    this.#taken?.delete(key)
    for (const given of taken.calls.values()) {
      this.#waiting -= 1
      this.#bytes -= bytesOf(given)
    }
  }

  /** The first signal that an open wait asks for, and the wait; `isReady`: its code still asks. */
  delivery(
    waits: Pick<OpenWaits, 'all'>,
    isReady: (wait: WaitBegun) => boolean
  ): { readonly wait: WaitBegun; readonly given: SignalGiven } | undefined {
    if (!this.#hasMoved) return undefined
    for (const wait of waitsForSignals(waits)) {
      const name = signalNamed(wait.request)
      const given = name === undefined ? undefined : this.next(name)
      if (given !== undefined && isReady(wait)) return { wait, given }
    }
    this.#hasMoved = false
    return undefined
  }

  /** Those that no unit of work has taken for good, in the order in which they came. */
  waiting(): readonly WaitingSignal[] {
    const open = [...(this.#open?.values() ?? [])].flat()
    const taken = [...(this.#taken?.values() ?? [])].flatMap(({ path, calls }) =>
      [...calls.values()].map((given) => ({ given, takenAt: path }))
    )
    const all = [...open.map((given) => ({ given, takenAt: null })), ...taken]
    return all.sort((one, other) => one.given.n - other.given.n)
  }

  /** For a checkpoint; undefined: there were too many for one. */
  save(): SavedSignals | undefined {
    const known = [...(this.#known ?? [])]
    if (known.length > limits.RECORDED_ANSWERS_MAX) return undefined
    return { known, open: this.waiting().map(({ given }) => given) }
  }

  restore({ known, open }: SavedSignals): void {
    for (const entry of open) this.take(entry)
    this.#known = new Map(known)
  }
}

/** Identifies what was sent under an id. */
export function hashOfSignal({ name, value }: Pick<SentSignal, 'name' | 'value'>): Hash {
  return hashJson([name, value])
}

/** What the code is given of a signal, as it is sealed. */
export function signalBody({ at, by, id, value }: SignalGiven): Json {
  return { action: 'signal', at, by, id, value }
}

/** The id of the signal that a call was given. */
export function signalIn({ effect, ok, body }: Pick<Sealed, 'effect' | 'ok' | 'body'>) {
  if (effect !== builtInEffects.signal || !ok || !isJsonObject(body)) return undefined
  const { action, id } = body
  return action === 'signal' && typeof id === 'string' ? id : undefined
}

/** Whether a call was given that no signal came in its time. */
export function isTimeout(body: Json): boolean {
  return isJsonObject(body) && body['action'] === 'timeout'
}

/** Waits that a signal ends, the first that asked before the others. */
export function waitsForSignals(waits: Pick<OpenWaits, 'all'>): readonly WaitBegun[] {
  const asking = waits.all().filter(isForSignal)
  return asking.length < 2 ? asking : asking.sort((one, other) => one.n - other.n)
}

/** Whether a signal ends a wait. */
export function isForSignal({ actions, reason }: Pick<WaitBegun, 'actions' | 'reason'>): boolean {
  return reason === 'external' && actions[0] === 'signal'
}

function bytesOf({ value }: Pick<SignalGiven, 'value'>): number {
  return canonicalize(value).length
}
