import type { ExceededLimit, GuestCall, GuestReport, ReadAnswer, RunMessage } from './protocol.js'

/**
 * What one guest asked for and what it came to, kept outside the guest. Like the thread it is sent
 * as text: only types may be imported here.
 *
 * Owns: counters, calls, writes, denials and the ending of the execution under way. Does not own:
 * the engine, gas and microtasks (the thread's), and what an outcome is called (the sandbox's).
 *
 * Invariants:
 * - X4 What is denied, used, called and written is decided and kept here; a guest that catches the
 *   error of a denied call is still denied, and still recorded.
 */
export class HostCallLog {
  readonly #ask: (key: string) => ReadAnswer
  #request: RunMessage | undefined
  #hostCalls = 0
  #hostBytes = 0
  #exceeded: ExceededLimit | undefined
  #ending: GuestReport['ending'] = { kind: 'pending' }
  #calls: GuestCall[] = []
  #writes = new Map<string, string | null>()
  #used = new Set<string>()
  #denied = new Map<string, number>()

  /** `ask` reads the state, in the thread that owns it. */
  constructor(ask: (key: string) => ReadAnswer) {
    this.#ask = ask
  }

  get exceeded(): ExceededLimit | undefined {
    return this.#exceeded
  }

  begin(request: RunMessage): void {
    this.#request = request
    this.#hostCalls = 0
    this.#hostBytes = 0
    this.#exceeded = undefined
    this.#ending = { kind: 'pending' }
    this.#calls = []
    this.#writes = new Map()
    this.#used = new Set()
    this.#denied = new Map()
  }

  /** The first limit that is exceeded names the outcome. */
  exceed(limit: ExceededLimit): void {
    this.#exceeded ??= limit
  }

  /** The first ending counts: what a guest does after it returned changes nothing about that. */
  end(ending: GuestReport['ending']): void {
    if (this.#ending.kind === 'pending') this.#ending = ending
  }

  hasCall(seq: number): boolean {
    return this.#calls[seq] !== undefined
  }

  countBytes(...texts: readonly string[]): void {
    for (const text of texts) this.#hostBytes += Buffer.byteLength(text)
    if (this.#hostBytes > (this.#request?.limits.hostBytes ?? 0)) this.exceed('host_bytes_exceeded')
  }

  /** Answers one call of the prelude; see there for the form of answers. */
  answer(operation: string, name: string, text: string): string {
    this.countBytes(name, text)
    if (operation === 'done') this.end({ kind: 'done', text })
    else if (operation === 'thrown' || operation === 'unfit') {
      this.end({ kind: operation, name, message: text })
    } else {
      this.#hostCalls += 1
      if (this.#hostCalls > (this.#request?.limits.hostCalls ?? 0)) {
        this.exceed('host_calls_exceeded')
      }
      if (this.#exceeded === undefined) return this.#serve(operation, name, text)
    }
    return ''
  }

  report(gasTicks: number, divergedAt?: number, engineFault?: string): GuestReport {
    return {
      ending: this.#ending,
      ...(this.#exceeded === undefined ? {} : { exceeded: this.#exceeded }),
      ...(divergedAt === undefined ? {} : { divergedAt }),
      calls: this.#calls,
      writes: [...this.#writes],
      used: [...this.#used].sort(),
      denied: [...this.#denied].sort().map(([capability, times]) => ({ capability, times })),
      gasTicks,
      ...(engineFault === undefined ? {} : { engineFault })
    }
  }

  #serve(operation: string, name: string, text: string): string {
    const capability =
      operation === 'effect' ? name : operation === 'read' ? 'storage.read' : 'storage.write'
    if (this.#request?.granted.includes(capability) !== true) {
      this.#denied.set(capability, (this.#denied.get(capability) ?? 0) + 1)
      return `!${capability} is not granted`
    }
    this.#used.add(capability)
    if (operation === 'read') return this.#read(name)
    if (operation === 'effect') {
      const seq = this.#calls.length
      this.#calls.push({ seq, capability, text })
      return `=${seq}`
    }
    this.#writes.set(name, operation === 'write' ? text : null)
    return ''
  }

  #read(key: string): string {
    const written = this.#writes.get(key)
    if (written !== undefined) return written === null ? '' : `=${written}`
    const { text } = this.#ask(key)
    if (text === undefined) return ''
    this.countBytes(text)
    return `=${text}`
  }
}
