import { hashJson, type Random, type Redactor, systemRandom } from '../../core/index.js'
import type { AgentSession, SessionOptions } from './adapter.js'
import type { SessionNote, SessionNotes } from './session-notes.js'

/** How to let go of a session that another process has opened. */
export type DisposeNoted = (note: SessionNote) => Promise<void>

/** What a note says beside the id: where the session is, and whose. */
export type NotedPlace = Omit<SessionNote, 'id' | 'key' | 'isOpen'>

export interface OpenNoted {
  readonly place: NotedPlace
  /** Canonical JSON of everything that the session was opened with. */
  readonly key: string
  /** As the agent's last turn told it. */
  readonly earlier: string | undefined
  readonly open: (given: Pick<SessionOptions, 'earlier' | 'proposed'>) => Promise<AgentSession>
}

/**
 * Sessions that the other side keeps beyond this process, each written down before it is asked for
 * and struck out once it was let go of (semantics.md A4).
 *
 * Owns: the notes. Does not own: the sessions that are in use, which are the pool's.
 *
 * - A4 A session that a crash left open is used by the process that resumes the run, and closed
 *   when the run ends, or at the next opening when it has ended; without notes, only what was
 * sealed of
 *   it is known.
 */
export class NotedSessions {
  #notes: SessionNotes | undefined
  readonly #random: Random
  readonly #dispose: DisposeNoted
  readonly #redactor: Redactor

  constructor(dispose: DisposeNoted, redactor: Redactor, random: Random = systemRandom) {
    this.#dispose = dispose
    this.#redactor = redactor
    this.#random = random
  }

  use(notes: SessionNotes): void {
    this.#notes = notes
  }

  async open({ place, key, earlier, open }: OpenNoted): Promise<AgentSession> {
    const notes = this.#notes
    if (notes === undefined) return open(earlier === undefined ? {} : { earlier })
    const hash = hashJson(key)
    const known = notes.all().find((note) => note.key === hash)
    const left = earlier ?? (known?.isOpen === true ? known.id : undefined)
    const id = left ?? known?.id ?? this.#random.uuid()
    const note: SessionNote = { ...place, id, key: hash, isOpen: left !== undefined }
    await notes.keep(note)
    if (known !== undefined && known.id !== id) await notes.drop(known.id)
    const session = await open(left === undefined ? { proposed: id } : { earlier: left })
    return struckOut(notes, session, await this.#opened(notes, note, session))
  }

  /** Lets go of what is noted of runs that are over. */
  async disposeLeft(isOver: (runId: string) => boolean): Promise<void> {
    const left = this.#notes?.all().filter(({ runId }) => isOver(runId)) ?? []
    await Promise.all(left.map((note) => this.#strike(note)))
  }

  // What cannot be reached now stays noted, for the next time.
  async #strike(note: SessionNote): Promise<void> {
    try {
      await this.#dispose(note)
      await this.#notes?.drop(note.id)
    } catch {
      return
    }
  }

  /** Notes what the other side calls the session: it may have a name of its own for it. */
  async #opened(notes: SessionNotes, note: SessionNote, session: AgentSession): Promise<string> {
    // A backend may name a session after the key: that one cannot be found again.
    const id = this.#redactor.text(session.id ?? note.id)
    if (note.isOpen && id === note.id) return id
    await notes.keep({ ...note, id, isOpen: true })
    if (id !== note.id) await notes.drop(note.id)
    return id
  }
}

/** The session, whose note goes with it. */
function struckOut(notes: SessionNotes, session: AgentSession, id: string): AgentSession {
  return {
    turn: (request, options) => session.turn(request, options),
    locate: async (request) => session.locate?.(request),
    dispose: async () => {
      await session.dispose()
      await notes.drop(id)
    }
  }
}
