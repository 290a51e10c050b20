import type { Hash, IdentityId, RunId } from '../core/index.js'
import type { KeyRange } from './stores/port.js'

/**
 * Where the values of one identity stand in the store: `<identity>/<kind>/<name>` (formats.md §6).
 * Numbers are 12 hex digits, so that keys sort as numbers.
 *
 * Source: `head`, `commit/<seq>`, `state/<key>`, `blob/<hash>`; `archived` and `archiving`, once
 * something was archived.
 * Derived: `derived`, `index/<run>/<page>`, `chain/<block>`, `run/<id>`, `visits/<id>/<block>`,
 * `archived-run/<id>`, `archived-runs/<run>/<page>`, `page/<page>`, `tile/<name>`,
 * `checkpoint/<id>`, `picture/<id>/<stretch>`; `writes`, `writes/key/<key>` and
 * `writes/at/<key>NUL<receipt>`, which are made when they are asked for.
 */
export class StoreKeys {
  readonly head: string
  readonly derived: string
  /** How far the index of writes by key goes. */
  readonly writes: string
  /** What was archived, and what is about to be. */
  readonly archived: string
  readonly archiving: string
  readonly #prefix: string
  readonly #state: string
  readonly #commit: string

  constructor(identity: IdentityId) {
    this.#prefix = `${identity}/`
    this.head = `${identity}/head`
    this.derived = `${identity}/derived`
    this.writes = `${identity}/writes`
    this.archived = `${identity}/archived`
    this.archiving = `${identity}/archiving`
    this.#state = `${identity}/state/`
    this.#commit = `${identity}/commit/`
  }

  commit(seq: number): string {
    return this.#commit + fixedWidth(seq)
  }

  /** Commit records `from` <= seq < `to`. */
  commits(from: number, to: number): KeyRange {
    return { gte: this.commit(from), lt: this.commit(to) }
  }

  allCommits(): KeyRange {
    return prefixRange(this.#commit)
  }

  /** Commit records from `from` on. */
  commitsFrom(from: number): KeyRange {
    return { ...this.allCommits(), gte: this.commit(from) }
  }

  commitSeq(key: string): number {
    return Number.parseInt(key.slice(this.#commit.length), 16)
  }

  state(key: string): string {
    return this.#state + key
  }

  /** State entries whose key begins with `prefix`. */
  states(prefix: string): KeyRange {
    return prefixRange(this.#state + prefix)
  }

  stateKey(key: string): string {
    return key.slice(this.#state.length)
  }

  blob(hash: Hash): string {
    return `${this.#prefix}blob/${hash}`
  }

  blobs(): KeyRange {
    return prefixRange(`${this.#prefix}blob/`)
  }

  indexPage(run: number, page: number): string {
    return `${this.#prefix}index/${fixedWidth(run)}/${fixedWidth(page)}`
  }

  chainBlock(block: number): string {
    return `${this.#prefix}chain/${fixedWidth(block)}`
  }

  run(runId: RunId): string {
    return `${this.#prefix}run/${runId}`
  }

  /** Of runs whose ids begin with `prefix`. */
  runs(prefix = ''): KeyRange {
    return prefixRange(`${this.#prefix}run/${prefix}`)
  }

  runId(key: string): RunId {
    return key.slice(this.#prefix.length + 'run/'.length) as RunId
  }

  /** The record of a run whose history is archived. */
  archivedRun(runId: RunId): string {
    return `${this.#prefix}archived-run/${runId}`
  }

  /** Of such runs whose ids begin with `prefix`. */
  archivedRuns(prefix = ''): KeyRange {
    return prefixRange(`${this.#prefix}archived-run/${prefix}`)
  }

  archivedRunId(key: string): RunId {
    return key.slice(this.#prefix.length + 'archived-run/'.length) as RunId
  }

  /** Of the index of their ids. */
  archivedRunsPage(run: number, page: number): string {
    return `${this.#prefix}archived-runs/${fixedWidth(run)}/${fixedWidth(page)}`
  }

  archivedRunsPages(): KeyRange {
    return prefixRange(`${this.#prefix}archived-runs/`)
  }

  visits(runId: RunId, block: number): string {
    return `${this.#prefix}visits/${runId}/${fixedWidth(block)}`
  }

  statePage(page: number): string {
    return `${this.#prefix}page/${fixedWidth(page)}`
  }

  statePages(): KeyRange {
    return prefixRange(`${this.#prefix}page/`)
  }

  statePageNumber(key: string): number {
    return Number.parseInt(key.slice(this.#prefix.length + 'page/'.length), 16)
  }

  /** The last write of a key of the state. */
  writtenKey(key: string): string {
    return `${this.writes}/key/${key}`
  }

  /** Keys that were ever written and begin with `prefix`: those after the key `after`. */
  written(prefix: string, after?: string): KeyRange {
    const range = prefixRange(this.writtenKey(prefix))
    // State keys hold no NUL: this is what follows a key first.
    return after === undefined ? range : { ...range, gte: `${this.writtenKey(after)}\0` }
  }

  keyWritten(storeKey: string): string {
    return storeKey.slice(this.writtenKey('').length)
  }

  /** The write of a key by the receipt at this place in the chain. */
  write(key: string, index: number): string {
    return `${this.writes}/at/${key}\0${fixedWidth(index)}`
  }

  /** Writes of a key by the receipts after this one. */
  writesAfter(key: string, index: number): KeyRange {
    return { gte: this.write(key, index + 1), lt: `${this.writes}/at/${key}\u0001` }
  }

  writeIndex(storeKey: string): number {
    return Number.parseInt(storeKey.slice(storeKey.lastIndexOf('\0') + 1), 16)
  }

  allWrites(): KeyRange {
    return prefixRange(this.writes)
  }

  tile(name: string): string {
    return `${this.#prefix}tile/${name}`
  }

  checkpoint(runId: RunId): string {
    return `${this.#prefix}checkpoint/${runId}`
  }

  checkpoints(): KeyRange {
    return prefixRange(`${this.#prefix}checkpoint/`)
  }

  picture(runId: RunId, stretch: number): string {
    return `${this.#prefix}picture/${runId}/${fixedWidth(stretch)}`
  }

  picturesOf(runId: RunId): KeyRange {
    return prefixRange(`${this.#prefix}picture/${runId}/`)
  }

  pictures(): KeyRange {
    return prefixRange(`${this.#prefix}picture/`)
  }

  /** Records that runs write, and that only save time. */
  writtenByRuns(): readonly KeyRange[] {
    return [this.checkpoints(), this.pictures()]
  }

  /** Records that opening derives again; what runs write is not among them. */
  derivedRanges(): readonly KeyRange[] {
    return [
      ...this.digestedRanges(),
      this.archivedRuns(),
      this.archivedRunsPages(),
      this.statePages(),
      this.allWrites()
    ]
  }

  /**
   * Those of them that the digest of the watermark covers; state pages have a root of their own,
   * writes by key name each other, and an index names the runs that are archived.
   */
  digestedRanges(): readonly KeyRange[] {
    const kinds = ['index', 'chain', 'run', 'visits', 'tile']
    return kinds.map((kind) => prefixRange(`${this.#prefix}${kind}/`))
  }

  /** Whether a key can be removed: it is derived again, or saves time only. */
  isDerived(key: string): boolean {
    if (key === this.derived) return true
    return [...this.derivedRanges(), ...this.writtenByRuns()].some(
      ({ gte, lt }) => gte <= key && key < lt
    )
  }

  /** Everything of the identity. */
  all(): KeyRange {
    return prefixRange(this.#prefix)
  }
}

function fixedWidth(number: number): string {
  return number.toString(16).padStart(12, '0')
}

/**
 * Keys that begin with `prefix`. The upper bound is the prefix with its last character raised,
 * which sorts above in UTF-8 too, except over a surrogate; then the highest code point closes the
 * range.
 */
function prefixRange(prefix: string): KeyRange {
  const last = prefix.charCodeAt(prefix.length - 1)
  if (last < 0xd7ff) {
    return { gte: prefix, lt: prefix.slice(0, -1) + String.fromCharCode(last + 1) }
  }
  return { gte: prefix, lt: `${prefix}\u{10ffff}` }
}
