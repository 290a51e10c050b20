/** Indexes that are listed one by one. */
const LISTED_MAX = 20

/** Collects what was not checked, in words, once each and in a stable order. */
export class NotChecked {
  readonly #said = new Set<string>()
  readonly #receipts = new Map<string, number[]>()

  say(text: string): void {
    this.#said.add(text)
  }

  /** Receipts about which the same is to be said. */
  receipt(index: number, why: string): void {
    const known = this.#receipts.get(why)
    if (known === undefined) this.#receipts.set(why, [index])
    else known.push(index)
  }

  all(): readonly string[] {
    const listed = [...this.#receipts].map(([why, indexes]) => {
      const more = indexes.length - LISTED_MAX
      const some = indexes.slice(0, LISTED_MAX).join(', ')
      const rest = more > 0 ? ` and ${more} more` : ''
      return `receipt${indexes.length === 1 ? '' : 's'} ${some}${rest}: ${why}`
    })
    return [...this.#said, ...listed]
  }
}

/** Why something was not executed again: code that is not here, as `name@version`. */
export function notRegistered(names: readonly string[]): string {
  const verb = names.length === 1 ? 'is' : 'are'
  return `${names.join(', ')} ${verb} not registered`
}

/** The same for a version under which other code is registered than was executed. */
export function otherCode(name: string): string {
  return `other code is registered as ${name}`
}
