import {
  GRANTS_PREFIX,
  PRINCIPAL_GRANTS_PREFIX,
  principalGrantIn,
  stateOf
} from '../../capability/index.js'
import { isHash, isJsonObject, type Json, shownText } from '../../core/index.js'
import { INSTALLED_PREFIX } from '../../intent/index.js'
import type { Ledger } from '../../ledger/index.js'
import { principalText } from './ledger-log.js'
import type { GrantLine, Page } from './query-types.js'

type ReadLedger = Pick<Ledger, 'identity' | 'read' | 'list'>

/**
 * What is granted now, first to code, then to principals, in the order of its keys. A key is the
 * cursor of what follows it: grants that come and go meanwhile move no other.
 */
export async function grantPage(
  ledger: ReadLedger,
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number }
): Promise<Page<GrantLine>> {
  const toCode = `${GRANTS_PREFIX}${ledger.identity}/`
  const toPrincipals = `${PRINCIPAL_GRANTS_PREFIX}${ledger.identity}/`
  const keys = [...(await ledger.list(toCode)), ...(await ledger.list(toPrincipals))]
  const rest = cursor === undefined ? keys : keys.filter((key) => key > cursor)
  const packages = await packagesByCode(ledger)
  const items: GrantLine[] = []
  let last: string | undefined
  for (const key of rest) {
    if (items.length === limit) return { items, next: last ?? null }
    const line = key.startsWith(toCode)
      ? codeGrant(ledger, key, { rest: key.slice(toCode.length), packages })
      : principalGrant(ledger, key, key.slice(toPrincipals.length))
    if (line !== undefined) items.push(line)
    last = key
  }
  return { items, next: null }
}

function codeGrant(
  ledger: ReadLedger,
  key: string,
  { rest, packages }: { readonly rest: string; readonly packages: ReadonlyMap<string, string> }
): GrantLine | undefined {
  const [codeHash = '', capability = ''] = rest.split('/')
  const entry = stateOf(ledger).get(key)
  if (entry === undefined || !isHash(codeHash)) return undefined
  const id = packages.get(codeHash)
  const to = id === undefined ? { kind: 'code', id: codeHash } : { kind: 'package', id }
  return { to, capability, codeHash, by: grantedBy(entry) }
}

function principalGrant(ledger: ReadLedger, key: string, rest: string): GrantLine | undefined {
  const said = principalGrantIn(rest)
  const entry = stateOf(ledger).get(key)
  if (said === undefined || entry === undefined) return undefined
  const { kind, id } = said.principal
  const codeHash = isHash(said.codeHash) ? said.codeHash : null
  const to = { kind: shownText(kind), id: shownText(id) }
  return { to, capability: said.capability, codeHash, by: grantedBy(entry) }
}

function grantedBy(entry: Json): string {
  return isJsonObject(entry) ? principalText(entry['by']) : ''
}

/** Ids of installed packages by the hash of their code. */
async function packagesByCode(ledger: ReadLedger): Promise<ReadonlyMap<string, string>> {
  const state = stateOf(ledger)
  const found = new Map<string, string>()
  for (const key of await ledger.list(INSTALLED_PREFIX)) {
    const entry = state.get(key)
    const codeHash = isJsonObject(entry ?? null) ? (entry as { codeHash?: Json }).codeHash : null
    if (typeof codeHash === 'string') found.set(codeHash, key.slice(INSTALLED_PREFIX.length))
  }
  return found
}
