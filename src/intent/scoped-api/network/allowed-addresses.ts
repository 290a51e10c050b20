import { type HostAddress, kindOf, type ResolveHost, resolveHost } from './addresses.js'
import { isMatch, type NetworkPolicy } from './policy.js'

export type AllowedAddresses =
  | { readonly ok: true; readonly addresses: readonly HostAddress[] }
  | {
      readonly ok: false
      readonly reason: 'host_not_allowed' | 'not_resolved' | 'address_not_allowed' | 'tls_required'
    }

/**
 * The addresses of a URL's host, all of which the policy allows (reliability: T15). Other machines
 * are asked over TLS only, so a name that answers otherwise later leads to no server that could
 * pass for it.
 */
export async function allowedAddresses(
  url: URL,
  options: { readonly policy?: NetworkPolicy; readonly resolve?: ResolveHost }
): Promise<AllowedAddresses> {
  const { policy = {}, resolve = resolveHost } = options
  const { allowLoopback = false, hosts, privateHosts = [] } = policy
  const host = hostOf(url)
  if (hosts?.some((pattern) => isMatch(host, pattern)) === false) {
    return { ok: false, reason: 'host_not_allowed' }
  }
  const addresses = await resolve(host).catch((): readonly HostAddress[] => [])
  if (addresses.length === 0) return { ok: false, reason: 'not_resolved' }
  const kinds = new Set(addresses.map(kindOf))
  const isRefused =
    (kinds.has('loopback') && !allowLoopback) ||
    (kinds.has('private') && !privateHosts.includes(host))
  if (isRefused) return { ok: false, reason: 'address_not_allowed' }
  const isLocal = kinds.size === 1 && kinds.has('loopback')
  if (url.protocol !== 'https:' && !isLocal) return { ok: false, reason: 'tls_required' }
  return { ok: true, addresses }
}

/** Host name or literal address, without port and brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}
