import { type Hash, type IdentityId, isTallyError, type PublicKey } from '../../core/index.js'
import { publicKeyBytes, verify } from '../../identity/index.js'
import { type ChainHead, headRootOf } from '../chain/chain-head.js'
import {
  ED25519_KEY,
  type LogFrontier,
  type LogNote,
  noteOrigin,
  parseLogNote,
  parseSignedNote,
  verifyLogNote
} from '../log/index.js'
import type { AnchorReport, GivenNote } from './report.js'

/** A note that the log does not bear out. */
export interface NoteProblem {
  readonly signed: string
  readonly computed: Hash
  readonly source: string
}

interface OpenNote {
  readonly given: GivenNote
  readonly note: LogNote
}

/**
 * Compares notes from outside with the log as it grows (P5). A note by a key of this identity that
 * names another root, or more records than there are, proves that history was changed or cut.
 */
export class NoteCheck {
  readonly #open = new Map<number, OpenNote[]>()
  readonly #reports: AnchorReport[] = []
  /** Notes that no key in force signed are left aside; the rest binds. */
  readonly #publicKeys = new Set<PublicKey>()
  #upTo = 0

  readonly #origin: string

  constructor(identity: IdentityId, notes: readonly GivenNote[]) {
    this.#origin = noteOrigin(identity)
    for (const given of notes) {
      try {
        const note = parseLogNote(parseSignedNote(given.text).text)
        this.#open.set(note.size, [...(this.#open.get(note.size) ?? []), { given, note }])
      } catch (error) {
        if (!isTallyError(error)) throw error
        this.#report(given, 0, error.message)
      }
    }
  }

  get upTo(): number {
    return this.#upTo
  }

  get reports(): readonly AnchorReport[] {
    return this.#reports
  }

  /** A problem when a note of this size says otherwise. */
  at(frontier: LogFrontier, chainHead: ChainHead): NoteProblem | undefined {
    this.#publicKeys.add(chainHead.publicKey)
    return this.#compare(frontier, () => headRootOf(chainHead))
  }

  /** {@link at} where the state is not known: history is archived there. */
  atLog(frontier: LogFrontier): NoteProblem | undefined {
    return this.#compare(frontier)
  }

  /** The keys that were in force before archived history ends. */
  knowKeys(publicKeys: readonly PublicKey[]): void {
    for (const publicKey of publicKeys) this.#publicKeys.add(publicKey)
  }

  #compare(frontier: LogFrontier, stateRootOf?: () => Hash): NoteProblem | undefined {
    const notes = this.#open.get(frontier.size)
    if (notes === undefined) return undefined
    this.#open.delete(frontier.size)
    for (const { given, note } of notes) {
      if (!this.#isSigned(given, note)) continue
      const { source } = given
      const root = frontier.root()
      if (note.root !== root) {
        this.#report(given, note.size, 'the log has another root at this size')
        return { signed: root, computed: note.root, source }
      }
      const stateRoot = stateRootOf?.() ?? note.stateRoot
      if (note.stateRoot !== stateRoot) {
        this.#report(given, note.size, 'the state root is another one')
        return { signed: stateRoot, computed: note.stateRoot, source }
      }
      this.#upTo = Math.max(this.#upTo, note.size)
      this.#reports.push({ source, size: note.size, ok: true })
    }
    return undefined
  }

  /** The first signed note beyond the end of the log: the log was cut. */
  beyond(): { readonly size: number; readonly source: string } | undefined {
    let found: { readonly size: number; readonly source: string } | undefined
    for (const [size, notes] of this.#open) {
      for (const { given, note } of notes) {
        if (!this.#isSigned(given, note)) continue
        this.#report(given, size, 'the log is shorter than the note says')
        found ??= { size, source: given.source }
      }
    }
    return found
  }

  #isSigned(given: GivenNote, note: LogNote): boolean {
    for (const publicKey of this.#publicKeys) {
      const key = {
        name: this.#origin,
        algorithm: ED25519_KEY,
        publicKey: publicKeyBytes(publicKey)
      }
      if (verifyLogNote({ encoded: given.text, key, verify }).ok) return true
    }
    this.#report(given, note.size, 'it is not signed by a key of this identity')
    return false
  }

  #report(given: GivenNote, size: number, problem: string): void {
    this.#reports.push({ source: given.source, size, ok: false, problem })
  }
}
