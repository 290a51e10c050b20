import type { CapabilityEntry } from '../../../capability/index.js'
import { isJsonObject, limits } from '../../../core/index.js'

/** What packages of a runtime may ask the network for, beside what their manifests allow. */
export interface NetworkPolicy {
  /** Narrows the hosts that manifests name; absent: as the manifests say. */
  readonly hosts?: readonly string[]
  /** Lets allowed hosts be on this machine, then also without TLS. For development and tests. */
  readonly allowLoopback?: boolean
  /** Allowed hosts that may have addresses of a private network; always with TLS. */
  readonly privateHosts?: readonly string[]
  /** Secrets that may be sent, and where to. Absent: none. */
  readonly secrets?: readonly SecretGrant[]
  /** Bounds a request, redirects included; at most and by default `NETWORK_TIMEOUT_MS`. */
  readonly timeoutMs?: number
}

/** Lets a header of requests to some hosts be filled with a secret that no package ever sees. */
export interface SecretGrant {
  /** `env:NAME`, or `file:PATH`. What a package writes in place of the value. */
  readonly reference: string
  readonly hosts: readonly string[]
  /** Packages that may use it; absent: any that may ask these hosts. */
  readonly packages?: readonly string[]
}

/**
 * Whether a package may ask a host at all: its manifest names it under `inputs.hosts` of
 * `network.request`, and the policy does not leave it out. `*.example.com` stands for names one or
 * more labels longer, and for nothing else.
 */
export function mayAsk(host: string, entry: CapabilityEntry, policy: NetworkPolicy): boolean {
  if (!hostsOf(entry).some((pattern) => isMatch(host, pattern))) return false
  return policy.hosts === undefined || policy.hosts.some((pattern) => isMatch(host, pattern))
}

/** Whether a secret may go to a host on behalf of a package. */
export function maySend(
  reference: string,
  options: {
    readonly host: string
    readonly packageId: string
    readonly policy: NetworkPolicy
  }
): boolean {
  const { host, packageId, policy } = options
  return (policy.secrets ?? []).some(
    (grant) =>
      grant.reference === reference &&
      (grant.packages === undefined || grant.packages.includes(packageId)) &&
      grant.hosts.some((pattern) => isMatch(host, pattern))
  )
}

function hostsOf({ inputs }: CapabilityEntry): readonly string[] {
  const hosts = isJsonObject(inputs ?? null) ? (inputs as { hosts?: unknown }).hosts : undefined
  if (!Array.isArray(hosts)) return []
  return hosts
    .slice(0, limits.NETWORK_HOSTS_MAX)
    .filter((host): host is string => typeof host === 'string')
}

export function isMatch(host: string, pattern: string): boolean {
  if (!pattern.startsWith('*.')) return host === pattern
  const suffix = pattern.slice(1)
  return host.endsWith(suffix) && host.length > suffix.length
}
