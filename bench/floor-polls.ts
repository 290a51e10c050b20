import { hash, randomBytes } from 'node:crypto'
import { setTimeout as after } from 'node:timers/promises'
import { Level } from 'level'
import type { Json } from '../src/core/index.js'
import { canonical } from './canonical.js'
import { line } from './floor-effect.js'

const RUN = 'bench-floor'
/** Entries that are appended together, as those of polls are. */
const APPENDED_LENGTH = 64 * 1024

/**
 * The least that nodes can do which poll at an interval: of each poll a timer, a read and the end
 * of a sleep with their hashes, salts and entries, the entries that open the sleep and say that the
 * node waits, the digest and the token of the wait, and a chain of hashes over all entries. No
 * actors, no engine, no condition.
 *
 * Owns: its database, until it is closed. Polls from when it is opened.
 */
export class PollingFloor {
  readonly #database: Level<string, string>
  readonly #saltKey = randomBytes(32).toString('hex')
  readonly #intervalMs: number
  readonly #timers = new Map<number, NodeJS.Timeout>()
  #journalHash = hash('sha256', RUN)
  #entries: string[] = []
  #length = 0
  #appended = 0
  #polls = 0

  private constructor(database: Level<string, string>, intervalMs: number) {
    this.#database = database
    this.#intervalMs = intervalMs
  }

  static async open(
    path: string,
    { nodes, intervalMs }: { readonly nodes: number; readonly intervalMs: number }
  ): Promise<PollingFloor> {
    const database = new Level<string, string>(path)
    await database.open()
    const floor = new PollingFloor(database, intervalMs)
    for (let node = 0; node < nodes; node += 1) floor.#sleep(node)
    return floor
  }

  /** Processor time of a poll over so many seconds, in microseconds. */
  async costOver(seconds: number): Promise<number> {
    const [polls, cpu] = [this.#polls, process.cpuUsage()]
    await after(seconds * 1_000)
    const { user, system } = process.cpuUsage(cpu)
    return (user + system) / (this.#polls - polls)
  }

  async close(): Promise<void> {
    for (const timer of this.#timers.values()) clearTimeout(timer)
    await this.#database.close()
  }

  #sleep(node: number): void {
    this.#timers.set(
      node,
      setTimeout(() => this.#poll(node), this.#intervalMs)
    )
  }

  #poll(node: number): void {
    const path = `root/n${node}`
    const at = Date.now()
    const place = { at, attempt: 1, path, run: RUN, step: 1 }
    const unit = hash('sha256', canonical([RUN, path, 1]))
    this.#append(
      this.#sealed(place, { unit, effect: 'run.sleep', request: { ms: 1_000 }, body: null })
    )
    const answered = { unit, effect: 'ais.read', request: { node }, body: { value: '0' } }
    this.#append(this.#sealed(place, answered))
    const digest = hash('sha256', canonical({ arguments: { ms: 1_000 }, identity: unit, ...place }))
    const token = hash('sha256', canonical(['wait', RUN, path, 1, 1, node]))
    this.#append(line({ ...place, actions: [], digest, due: at, k: 'wait', reason: 'poll', token }))
    this.#append(line({ ...place, k: 'waiting', reason: 'poll', token }))
    this.#polls += 1
    this.#sleep(node)
  }

  /** An entry of an answer: the hash of its request, a salt by a key, and the hash of its body. */
  #sealed(
    place: { readonly [name: string]: Json },
    call: {
      readonly unit: string
      readonly effect: string
      readonly request: Json
      readonly body: Json
    }
  ): string {
    const { unit, effect, request, body } = call
    const requestHash = hash('sha256', canonical({ effect, request }))
    // An HMAC is two hashes.
    const salt = hash('sha256', this.#saltKey + hash('sha256', this.#saltKey + unit))
    const responseHash = hash('sha256', `{"body":${canonical(body)},"salt":"${salt}"}`)
    const told = { body, effect, k: 'sealed', ok: true, requestHash, responseHash, salt, seq: 1 }
    return line({ ...place, ...told })
  }

  #append(entry: string): void {
    this.#journalHash = hash('sha256', this.#journalHash + entry)
    this.#entries.push(entry)
    this.#length += entry.length
    if (this.#length < APPENDED_LENGTH) return
    const text = this.#entries.join('')
    this.#entries = []
    this.#length = 0
    this.#appended += 1
    void this.#database.put(String(this.#appended).padStart(12, '0'), text)
  }
}
