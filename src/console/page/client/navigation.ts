import { signal } from '@preact/signals'
import { type Address, addressIn, addressText } from '../pure/addresses.js'

export const address = signal<Address>(addressIn(location.pathname, location.search))

/** Shows another view; `isReplaced` leaves the way back as it is. */
export function go(path: string, isReplaced = false): void {
  if (isReplaced) history.replaceState(null, '', path)
  else history.pushState(null, '', path)
  read()
}

/** Changes members of the query of this view; null removes one. */
export function choose(members: Readonly<Record<string, string | number | null>>): void {
  const { query, ...rest } = address.value
  const next = { ...query }
  for (const [name, value] of Object.entries(members)) {
    if (value === null) delete next[name]
    else next[name] = String(value)
  }
  go(addressText({ ...rest, query: next }), true)
}

function read(): void {
  const path = `${location.pathname}${location.search}`
  if (path !== addressText(address.value)) {
    address.value = addressIn(location.pathname, location.search)
  }
}

/** Follows the way back and forth, and links of the page without loading it anew. */
export function followLinks(): void {
  addEventListener('popstate', read)
  addEventListener('click', (event) => {
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null
    if (!isPlain || !(link instanceof HTMLAnchorElement)) return
    if (link.origin !== location.origin || link.hasAttribute('download')) return
    if (link.getAttribute('href')?.startsWith('#')) return
    event.preventDefault()
    go(`${link.pathname}${link.search}`, link.dataset.replace !== undefined)
  })
}
