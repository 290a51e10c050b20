import { lookup } from 'node:dns/promises'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { limits } from '../../../core/index.js'

/** Where an address leads. `private` is everything that is neither this machine nor public. */
export type AddressKind = 'public' | 'loopback' | 'private'

export interface HostAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** Addresses of a host name or a literal address. A seam, so that tests can change the answer. */
export type ResolveHost = (host: string) => Promise<readonly HostAddress[]>

/** Asks the system, as every other program does. */
export const resolveHost: ResolveHost = async (host) => {
  const found = await lookup(host, { all: true, verbatim: true })
  return found
    .slice(0, limits.NETWORK_ADDRESSES_MAX)
    .map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

/** Special-purpose ranges of the IANA registries for IPv4. */
const special4 = new BlockList()
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3]
] as const) {
  special4.addSubnet(net, prefix)
}

/** Global unicast, and what lies inside it but leads elsewhere: tunnels, documentation, tests. */
const global6 = new BlockList()
global6.addSubnet('2000::', 3, 'ipv6')
const special6 = new BlockList()
for (const [net, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20]
] as const) {
  special6.addSubnet(net, prefix, 'ipv6')
}

/**
 * What kind of address this is (reliability: T15). An IPv4 address in IPv6 clothes counts as what
 * is written in it; the other forms of such clothes (NAT64, 6to4, Teredo) are private.
 */
export function kindOf({ address, family }: HostAddress): AddressKind {
  if (isIP(address) !== family) return 'private'
  if (family === 4) {
    if (loopback.check(address, 'ipv4')) return 'loopback'
    return special4.check(address, 'ipv4') ? 'private' : 'public'
  }
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return kindOf({ address: mapped, family: 4 })
  if (loopback.check(address, 'ipv6')) return 'loopback'
  const isGlobal = global6.check(address, 'ipv6') && !special6.check(address, 'ipv6')
  return isGlobal ? 'public' : 'private'
}

/** Answers every question for an address with those that were checked. */
export function pinned(addresses: readonly HostAddress[]): LookupFunction {
  return (_host, options, done) => {
    const [first] = addresses
    if (first === undefined) done(new Error('no address'), '')
    else if (options.all === true) done(null, [...addresses])
    else done(null, first.address, first.family)
  }
}
