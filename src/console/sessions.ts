import { type Clock, isSameSecret, limits, type Random } from '../core/index.js'

const TOKEN_BYTES = 32

/**
 * Who may use the console: links that are good once and for a minute, and the sessions that they
 * opened.
 *
 * Owns the tokens of both, in memory alone: they end with the server.
 */
export class Sessions {
  readonly #clock: Clock
  readonly #random: Random
  #links: readonly { readonly token: string; readonly until: number }[] = []
  #sessions: readonly string[] = []

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = clock
    this.#random = random
  }

  /** The token of a new link. */
  invite(): string {
    const token = this.#token()
    const until = this.#clock.now() + limits.CONSOLE_LINK_MS
    this.#links = [...this.#good(), { token, until }].slice(-limits.CONSOLE_LINKS_MAX)
    return token
  }

  /** Opens a session; undefined for a token that is not good, or not good any more. */
  open(token: string): string | undefined {
    const links = this.#good()
    const used = links.filter((link) => isSameSecret(link.token, token))
    this.#links = links.filter((link) => !used.includes(link))
    if (used.length === 0) return undefined
    const session = this.#token()
    this.#sessions = [...this.#sessions, session].slice(-limits.CONSOLE_SESSIONS_MAX)
    return session
  }

  has(session: string): boolean {
    // Each is compared, so that the time says nothing of which one it is.
    return this.#sessions.filter((one) => isSameSecret(one, session)).length > 0
  }

  #good() {
    const now = this.#clock.now()
    return this.#links.filter(({ until }) => now < until)
  }

  #token(): string {
    return Buffer.from(this.#random.bytes(TOKEN_BYTES)).toString('base64url')
  }
}
