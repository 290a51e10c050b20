/** Addresses of the page: each view has one, and what is chosen in it stands in its query. */

export const screenNames = ['runs', 'waits', 'work', 'ledger', 'state', 'health'] as const
export type ScreenName = (typeof screenNames)[number]

export interface Address {
  readonly screen: ScreenName
  /** What is looked at: a run, a token, an index or a hash, a key. */
  readonly id: string | undefined
  readonly query: Readonly<Record<string, string>>
}

/** The address that a path and a query name; the list of runs where they name none. */
export function addressIn(path: string, search: string): Address {
  const [name, ...rest] = path.split('/').filter((part) => part !== '')
  const screen = screenNames.find((known) => known === name) ?? 'runs'
  const text = decoded(rest.join('/'))
  const query = Object.fromEntries(new URLSearchParams(search))
  return { screen, id: text === '' ? undefined : text, query }
}

export function addressText({ screen, id, query }: Address): string {
  const path = id === undefined ? `/${screen}` : `/${screen}/${encodeURIComponent(id)}`
  const search = new URLSearchParams(query).toString()
  return search === '' ? path : `${path}?${search}`
}

/** Address of a view without a query. */
export function linkTo(screen: ScreenName, id?: string | number): string {
  return addressText({ screen, id: id === undefined ? undefined : String(id), query: {} })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
