import { type Attribution, keysOver, type Response, StateView } from '../../code/index.js'
import { type Hash, hashJson, type Json, type JsonObject, sha256Hex } from '../../core/index.js'
import type { OverlayEntry } from './entries.js'
import type { SealedReference } from './journal.js'
import { Outside } from './outside.js'
import type { LeafWork, OpenOverlay, OverlayOpenCommand } from './run-state.js'

/** A listing of an earlier process, of which the journal has the hash alone. */
interface EarlierList {
  readonly prefix: string
  readonly hash: Hash
  /** Overlays that it went through, the outermost first, as they were when its step ended. */
  readonly through: readonly {
    readonly view: StateView
    readonly writes: ReturnType<StateView['writesBelow']>
  }[]
}

/**
 * The overlay of an atomic composite: its children read and write through it, and it is merged
 * below as a whole or dropped as a whole (C4, L8).
 */
export class Overlay implements OpenOverlay {
  readonly ask: OverlayOpenCommand
  readonly at: number
  readonly view: StateView
  readonly outer: Overlay | undefined
  readonly results: Record<string, Json> = {}
  /** Canonical texts of results, while they are known. */
  readonly texts = new Map<unknown, string>()
  readonly sealed: SealedReference[] = []
  readonly used = new Set<string>()
  readonly declared = new Set<string>()
  /** What happened outside, and what is put off until the commit. */
  readonly outside = new Outside()
  closing: OpenOverlay['closing']
  /** Of the outermost: listings that are yet to be repeated after a restart. */
  readonly #earlier: EarlierList[] = []
  /** Some result in it is private, and so is the receipt's (formats.md §3). */
  isPrivate = false

  constructor(
    ask: OverlayOpenCommand,
    options: {
      readonly at: number
      readonly outer: Overlay | undefined
      readonly below: (key: string) => string | undefined
    }
  ) {
    this.ask = ask
    this.at = options.at
    this.outer = options.outer
    this.view = new StateView(options.below)
  }

  /** Remembers how a result is written. */
  know(data: Json, text: string): void {
    if (typeof data === 'object' && data !== null) this.texts.set(data, text)
  }

  /** Takes what a child of the overlay sealed and returned. */
  collect(work: LeafWork, response: Response): void {
    for (const sealed of work.sealedReferences()) this.sealed.push(sealed)
    for (const used of work.capabilitiesUsed) this.used.add(used)
    const said = work.attribution
    const { capabilities, isInputPrivate, isOutputPrivate } = work.block
    if (work.ask.options.deferred !== true) {
      const declared = said?.capabilitiesDeclared ?? capabilities
      for (const capability of declared) this.declared.add(capability)
    }
    if (said?.isInputPrivate ?? isInputPrivate) this.isPrivate = true
    if (said?.isOutputPrivate ?? isOutputPrivate) this.isPrivate = true
    if (response.success) this.results[this.#nameOf(work.ask.path)] = response.data
  }

  /** Takes over all of an overlay inside this one, at its commit. */
  join(inner: Overlay): void {
    this.absorb(inner.view)
    this.sealed.push(...inner.sealed)
    for (const used of inner.used) this.used.add(used)
    for (const declared of inner.declared) this.declared.add(declared)
    if (inner.isPrivate) this.isPrivate = true
    for (const [data, text] of inner.texts) this.texts.set(data, text)
    const name = this.#nameOf(inner.ask.path)
    for (const [below, result] of Object.entries(inner.results)) {
      this.results[`${name}/${below}`] = result
    }
  }

  #nameOf(path: string): string {
    return path.slice(this.ask.path.length + 1)
  }

  /** Takes over what a child did. */
  absorb(view: StateView): void {
    for (const [key, text] of view.writes) this.view.noteWrite(key, text)
  }

  /** Rebuilds, after a crash, what a child did before it. */
  restore(overlay: OverlayEntry, read: (key: string) => string | undefined): void {
    for (const [key, hash] of overlay.reads) this.#restoreRead(key, hash, read)
    for (const [prefix, hash] of overlay.lists ?? []) {
      const through = this.#levels().map(({ view }) => ({
        view,
        writes: view.writesBelow(prefix)
      }))
      this.outermost.#earlier.push({ prefix, hash, through })
    }
    for (const [key, text] of overlay.writes) this.view.noteWrite(key, text)
    for (const used of overlay.used) this.used.add(used)
    for (const declared of overlay.declared ?? []) this.declared.add(declared)
    if (overlay.isPrivate === true) this.isPrivate = true
  }

  /** A read whose key has changed since is outdated in every overlay that it went through. */
  #restoreRead(
    key: string,
    hash: Hash | null,
    read: (key: string) => string | undefined
  ): string | undefined {
    const { view, outer } = this
    if (view.reads.has(key) || view.writes.has(key)) return view.read(key)
    const text = outer === undefined ? read(key) : outer.#restoreRead(key, hash, read)
    if (hash !== (text === undefined ? null : sha256Hex(text))) view.noteOutdated()
    view.noteRead(key, text)
    return text
  }

  /** What was listed before a restart and is yet to be repeated. */
  get earlierPrefixes(): readonly string[] {
    return this.#earlier.map(({ prefix }) => prefix)
  }

  /**
   * Repeats the listings of an earlier process, given the keys of the ledger below each prefix:
   * those that come out otherwise outdate every overlay that they went through.
   */
  repeatLists(below: ReadonlyMap<string, readonly string[]>): void {
    for (const { prefix, hash, through } of this.#earlier.splice(0)) {
      let keys = below.get(prefix) ?? []
      for (const { view, writes } of through) {
        view.noteList(prefix, keys)
        keys = keysOver(keys, writes)
      }
      if (hashJson(keys) !== hash) for (const { view } of through) view.noteOutdated()
    }
  }

  get outermost(): Overlay {
    return this.outer === undefined ? this : this.outer.outermost
  }

  /** This overlay and those around it, the outermost first. */
  #levels(): readonly Overlay[] {
    return this.outer === undefined ? [this] : [...this.outer.#levels(), this]
  }

  /** Keys below a prefix as children see them: `keys` of the ledger under every overlay around. */
  list(prefix: string, keys: readonly string[]): readonly string[] {
    const below = this.outer === undefined ? keys : this.outer.list(prefix, keys)
    return this.view.list(prefix, below)
  }

  /**
   * Whether what a step has read through this overlay is not so any more: nodes of a plan run at
   * once, and one that ends before another may change what that one has read (L10).
   */
  hasChanged({ reads, lists, isOutdated }: StateView): boolean {
    if (isOutdated) return true
    for (const [key, seen] of reads) if (this.view.read(key) !== seen) return true
    for (const [prefix, seen] of lists) {
      if (!this.#agrees(prefix, new Set(seen), new Set())) return true
    }
    return false
  }

  /**
   * Whether keys that were listed are those that the overlays have written since, and no others.
   */
  #agrees(prefix: string, seen: ReadonlySet<string>, inner: Set<string>): boolean {
    for (const [key, text] of this.view.writes) {
      if (!key.startsWith(prefix) || inner.has(key)) continue
      inner.add(key)
      if (seen.has(key) !== (text !== null)) return false
    }
    return this.outer === undefined || this.outer.#agrees(prefix, seen, inner)
  }

  /** The receipt's result: the composite's own, and the bare results of its children. */
  result(data: Json): JsonObject {
    return { result: data, results: this.results }
  }
}

/** What a child's journal entry keeps of its view, so that `restore` can rebuild the overlay. */
export function overlayOf({
  view,
  capabilitiesUsed,
  attribution
}: Pick<LeafWork, 'view' | 'capabilitiesUsed' | 'attribution'>): OverlayEntry {
  const lists = [...view.lists].sort(([one], [other]) => (one < other ? -1 : 1))
  return {
    writes: [...view.writes],
    used: capabilitiesUsed,
    reads: [...view.reads].map(([key, text]) => [key, text === undefined ? null : sha256Hex(text)]),
    ...(lists.length === 0
      ? {}
      : { lists: lists.map(([prefix, keys]) => [prefix, hashJson(keys)] as const) }),
    ...(attribution === undefined ? {} : saidOf(attribution))
  }
}

// What the leaf itself could not say after a crash.
function saidOf(attribution: Attribution): Pick<OverlayEntry, 'declared' | 'isPrivate'> {
  const { capabilitiesDeclared, isInputPrivate, isOutputPrivate } = attribution
  return { declared: capabilitiesDeclared, isPrivate: isInputPrivate || isOutputPrivate }
}
