import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionNote, SessionNotes } from '../agent/index.js'
import {
  canonicalize,
  type IdentityId,
  isJsonObject,
  jsonIn,
  type RunId,
  sha256Hex
} from '../core/index.js'
import { mainIdentity, readIfPresent, replaceFile } from '../ledger/index.js'
import type { Registry } from './code/registry.js'
import type { OpenedLedger } from './open.js'
import { isEnded } from './run/ended.js'

const DIRECTORY = 'agent-sessions'

/**
 * Notes of the sessions that backends keep for agents, one small file each beside the ledger, so
 * that a session outlives neither its run nor a crash (semantics.md A4).
 *
 * Owns: the files. Does not own: whether a session is still needed. A writer of a file can
 * have a session closed, and no more: what is done with a note is decided by the settings of today.
 */
export class SessionFiles implements SessionNotes {
  readonly #directory: string
  readonly #notes: Map<string, SessionNote>

  private constructor(directory: string, notes: Map<string, SessionNote>) {
    this.#directory = directory
    this.#notes = notes
  }

  /**
   * Reads what is noted beside a ledger for the runs of its main identity, or of another one; a
   * file that is no note is left alone.
   */
  static async open(realPath: string, other?: IdentityId): Promise<SessionFiles> {
    const directory = join(realPath, other === undefined ? DIRECTORY : `${DIRECTORY}-${other}`)
    const names = await readdir(directory).catch(() => [])
    const notes = new Map<string, SessionNote>()
    for (const name of names) {
      const note = noteIn(await readIfPresent(join(directory, name)))
      if (note !== undefined) notes.set(note.id, note)
    }
    return new SessionFiles(directory, notes)
  }

  all(): readonly SessionNote[] {
    return [...this.#notes.values()]
  }

  async keep(note: SessionNote): Promise<void> {
    this.#notes.set(note.id, note)
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    await replaceFile(this.#pathOf(note.id), canonicalize(note))
  }

  async drop(id: string): Promise<void> {
    if (this.#notes.delete(id)) await rm(this.#pathOf(id), { force: true })
  }

  // A backend may call a session as it likes, so its name is no name of a file.
  #pathOf(id: string): string {
    return join(this.#directory, `${sha256Hex(id)}.json`)
  }
}

/** Has the sessions that backends keep for agents noted beside a ledger. */
export async function noteSessions(parts: {
  readonly opened: Pick<OpenedLedger, 'realPath' | 'location' | 'ledger'>
  readonly registry: Pick<Registry, 'rooms'>
}): Promise<void> {
  const { opened, registry } = parts
  const { realPath, location, ledger } = opened
  const { mode, identity } = ledger.state()
  // In safe mode it is unknown which runs are over.
  if (realPath === undefined || mode !== 'ready') return
  const isMain = location === undefined || mainIdentity(location.marker) === identity
  const notes = await SessionFiles.open(realPath, isMain ? undefined : identity)
  registry.rooms.useNotes(notes, (runId) => {
    const record = ledger.run(runId as RunId)
    return record === undefined || isEnded(record)
  })
}

function noteIn(text: string | undefined): SessionNote | undefined {
  const value = text === undefined ? undefined : jsonIn(text)
  if (!isJsonObject(value) || !isJsonObject(value['adapterConfig'])) return undefined
  const texts = ['id', 'key', 'runId', 'agentId', 'flowName', 'adapterKind']
  const isNote = texts.every((name) => typeof value[name] === 'string')
  return isNote && typeof value['isOpen'] === 'boolean'
    ? (value as unknown as SessionNote)
    : undefined
}
