import { once } from 'node:events'
import { type FileHandle, open, truncate } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isJsonObject, type Json, sha256Hex } from '../../src/core/index.js'
import type { Anchor, AnchorDriver, Anchored } from '../../src/testing/index.js'

/** Where a note begins in its place, and the hash by which a changed one is known. */
interface NoteEvidence {
  readonly at: number
  readonly bytes: number
  readonly sha256: string
}

const nothing: Anchored = { kept: false, problem: 'no note is kept there' }

let count = 0

/** Text like that of a note, of which there is no other. */
export function noteOf(number: number): string {
  count += 1
  const root = Buffer.from(sha256Hex(`${number}/${count}`), 'hex').toString('base64')
  return `tallystick/test\n${number}\n${root}\n`
}

/** Notes one after another in a file to which is only appended, of one writer at a time. */
export function fileAnchor(path: string): AnchorDriver {
  let isLost = false
  return {
    open: async () => {
      const file = await open(path, 'a+')
      return new FileAnchor(file, () => {
        const wasLost = isLost
        isLost = false
        return wasLost
      })
    },
    note: noteOf,
    change: async (evidence, how) => {
      const { at, bytes } = evidence as unknown as NoteEvidence
      if (how === 'removed') return truncate(path, at)
      const file = await open(path, 'r+')
      await file.write('x', at + Math.floor(bytes / 2))
      await file.close()
    },
    loseAnswer: async () => {
      isLost = true
    }
  }
}

class FileAnchor implements Anchor {
  readonly #file: FileHandle
  readonly #isLost: () => boolean
  #last: Promise<unknown> = Promise.resolve()

  constructor(file: FileHandle, isLost: () => boolean) {
    this.#file = file
    this.#isLost = isLost
  }

  publish(note: string): Promise<Json> {
    const publishing = this.#last.then(() => this.#append(Buffer.from(note)))
    this.#last = publishing.catch(() => undefined)
    return publishing
  }

  async #append(note: Buffer): Promise<Json> {
    const { size: at } = await this.#file.stat()
    await this.#file.write(note)
    await this.#file.sync()
    if (this.#isLost()) throw new Error('the process does not live to hear of it')
    return { at, bytes: note.byteLength, sha256: sha256Hex(note) }
  }

  async check(evidence: Json): Promise<Anchored> {
    const found = evidenceIn(evidence)
    const { size } = await this.#file.stat()
    if (found === undefined || found.at + found.bytes > size) return nothing
    const { buffer } = await this.#file.read(Buffer.alloc(found.bytes), 0, found.bytes, found.at)
    return keptAs(found, buffer)
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}

/** A service of somebody else, on loopback: it numbers what it is given and gives it back. */
export interface NoteService extends AnchorDriver {
  close(): Promise<void>
}

export async function startNoteService(): Promise<NoteService> {
  const notes: (string | undefined)[] = []
  let trouble: 'cut' | 'lost' | undefined
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const text = (await request.setEncoding('utf8').toArray()).join('')
    if (trouble === 'cut') return response.destroy()
    if (request.method === 'GET') {
      const note = notes[Number(request.url?.slice(1))]
      return response.writeHead(note === undefined ? 404 : 200).end(note)
    }
    notes.push(text)
    if (trouble === undefined) return response.end(String(notes.length - 1))
    trouble = undefined
    return response.destroy()
  }
  const server = createServer((request, response) => void serve(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    open: async () => new HttpAnchor(url),
    note: noteOf,
    change: async (evidence, how) => {
      const { at } = evidence as unknown as NoteEvidence
      notes[at] = how === 'removed' ? undefined : `${notes[at]}x`
    },
    cutOff: async () => {
      trouble = 'cut'
      return async () => {
        trouble = undefined
      }
    },
    loseAnswer: async () => {
      trouble = 'lost'
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

class HttpAnchor implements Anchor {
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  async publish(note: string): Promise<Json> {
    const response = await fetch(this.#url, { method: 'POST', body: note })
    if (!response.ok) throw new Error(`the service answers ${response.status}`)
    const at = Number(await response.text())
    return { at, bytes: Buffer.byteLength(note), sha256: sha256Hex(note) }
  }

  async check(evidence: Json): Promise<Anchored> {
    const found = evidenceIn(evidence)
    if (found === undefined) return nothing
    const response = await fetch(`${this.#url}/${found.at}`)
    if (response.status === 404) return nothing
    if (!response.ok) throw new Error(`the service answers ${response.status}`)
    return keptAs(found, Buffer.from(await response.arrayBuffer()))
  }
}

function evidenceIn(evidence: Json): NoteEvidence | undefined {
  const { at, bytes, sha256 } = isJsonObject(evidence) ? evidence : {}
  const isPlace = Number.isSafeInteger(at) && Number.isSafeInteger(bytes)
  if (!isPlace || typeof sha256 !== 'string') return undefined
  return { at: Number(at), bytes: Number(bytes), sha256 }
}

/** The place may have been written by others: the hash says whether it is what was published. */
function keptAs({ sha256 }: NoteEvidence, note: Buffer): Anchored {
  if (sha256Hex(note) === sha256) return { kept: true, note: note.toString() }
  return { kept: false, problem: 'what is kept there is not what was published' }
}
