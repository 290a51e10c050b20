/**
 * Attempts that are open, by the paths of their leaves, and which of them are WAITING inside.
 *
 * Owns: both. In a run of many leaves that poll, each fact concerns one of them: what looks for
 * attempts that may do something looks among those that are awake.
 *
 * - B2 A path that waits has nothing under way: a message or a due time wakes it first.
 */
export class OpenAttempts<Attempt> extends Map<string, Attempt> {
  readonly #waiting = new Set<string>()
  readonly #awake = new Map<string, Attempt>()

  override set(path: string, attempt: Attempt): this {
    super.set(path, attempt)
    if (!this.#waiting.has(path)) this.#awake.set(path, attempt)
    return this
  }

  override delete(path: string): boolean {
    this.#awake.delete(path)
    return super.delete(path)
  }

  /** Says that a leaf is WAITING. */
  wait(path: string): void {
    this.#waiting.add(path)
    this.#awake.delete(path)
  }

  /** Says that a leaf is not WAITING any more; false: it was not. */
  wake(path: string): boolean {
    if (!this.#waiting.delete(path)) return false
    const attempt = this.get(path)
    if (attempt !== undefined) this.#awake.set(path, attempt)
    return true
  }

  isWaiting(path: string): boolean {
    return this.#waiting.has(path)
  }

  /** Paths of the leaves that are WAITING. */
  waiting(): readonly string[] {
    return [...this.#waiting]
  }

  /** Attempts that are not WAITING. */
  awake(): IterableIterator<Attempt> {
    return this.#awake.values()
  }
}
