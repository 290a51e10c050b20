import type { JournalItem, Ledger } from '../../src/ledger/index.js'

/** A ledger that works as before, and what is appended to it, in order. */
export function recording<Recorded extends Ledger>(
  ledger: Recorded
): { readonly ledger: Recorded; readonly items: readonly JournalItem[] } {
  const items: JournalItem[] = []
  const spied = new Proxy(ledger, {
    get(target, name) {
      if (name === 'append') {
        return (item: JournalItem) => {
          const appended = target.append(item)
          if (appended.ok) items.push(structuredClone(item))
          return appended
        }
      }
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    }
  })
  return { ledger: spied, items }
}
