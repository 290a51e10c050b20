import type { JournalEntry } from '../block/index.js'
import type { Instruments } from './instruments.js'

type EntryOf<Kind extends JournalEntry['k']> = Extract<JournalEntry, { readonly k: Kind }>

/** A wait that was begun. */
export interface OpenedWait {
  readonly path: string
  readonly attempt: number
  /** Null: it is about a failed attempt. */
  readonly seq: number | null
  readonly reason: string
  readonly digest: string
  /** Milliseconds. */
  readonly from: number
  isCounted: boolean
}

export interface EndedWait {
  readonly token: string
  readonly wait: OpenedWait
  /** Milliseconds. */
  readonly at: number
  readonly action: string
}

const ASKED_ANEW = 'asked_anew'

/** The waits of one run that have not ended, and which of them this process counts. */
export class OpenedWaits {
  readonly #instruments: Instruments
  readonly #open = new Map<string, OpenedWait>()

  constructor(instruments: Instruments) {
    this.#instruments = instruments
  }

  /** Gives the one that the same call had begun before. */
  begin(entry: EntryOf<'wait'>, isLive: boolean): readonly EndedWait[] {
    const { path, attempt, seq, token, reason, digest, at } = entry
    const ended = seq === null ? [] : this.endOf(path, seq, at, ASKED_ANEW)
    this.#open.set(token, { path, attempt, seq, reason, digest, from: at, isCounted: false })
    if (isLive) this.count()
    return ended
  }

  /** Counts those that are not counted yet. */
  count(): void {
    for (const wait of this.#open.values()) {
      if (!wait.isCounted) this.#instruments.waits(1, wait.reason)
      wait.isCounted = true
    }
  }

  forget(): void {
    for (const wait of this.#open.values()) this.#leave(wait)
  }

  end(token: string, at: number, action: string): readonly EndedWait[] {
    const wait = this.#open.get(token)
    if (wait === undefined) return []
    this.#open.delete(token)
    this.#leave(wait)
    return [{ token, wait, at, action }]
  }

  /** Of a call. */
  endOf(path: string, seq: number, at: number, action: string): readonly EndedWait[] {
    return this.#endWhere((wait) => wait.path === path && wait.seq === seq, at, action)
  }

  endAt(path: string, at: number, action: string): readonly EndedWait[] {
    return this.#endWhere((wait) => wait.path === path, at, action)
  }

  endAll(at: number, action: string): readonly EndedWait[] {
    return this.#endWhere(() => true, at, action)
  }

  /** Of calls that code which ran again did not ask any more. */
  dropped({ path, dropped, at }: EntryOf<'rewound'>): readonly EndedWait[] {
    return dropped.flatMap((seq) => this.endOf(path, seq, at, ASKED_ANEW))
  }

  #endWhere(isEnded: (wait: OpenedWait) => boolean, at: number, action: string) {
    if (this.#open.size === 0) return none
    const tokens = [...this.#open].filter(([, wait]) => isEnded(wait)).map(([token]) => token)
    return tokens.flatMap((token) => this.end(token, at, action))
  }

  #leave(wait: OpenedWait): void {
    if (wait.isCounted) this.#instruments.waits(-1, wait.reason)
    wait.isCounted = false
  }
}

const none: readonly EndedWait[] = []
