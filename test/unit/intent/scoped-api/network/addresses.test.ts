import { describe, expect, it } from 'vitest'
import { type AddressKind, kindOf } from '../../../../../src/intent/scoped-api/network/addresses.js'

const kinds: readonly (readonly [string, AddressKind])[] = [
  ['8.8.8.8', 'public'],
  ['93.184.216.34', 'public'],
  ['223.255.255.255', 'public'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['0.0.0.0', 'private'],
  ['10.0.0.1', 'private'],
  ['100.64.0.1', 'private'],
  ['169.254.169.254', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.0.0.170', 'private'],
  ['192.168.1.1', 'private'],
  ['198.18.0.1', 'private'],
  ['224.0.0.1', 'private'],
  ['255.255.255.255', 'private'],
  ['2606:4700::1111', 'public'],
  ['::1', 'loopback'],
  ['::', 'private'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:10.0.0.1', 'private'],
  ['::ffff:8.8.8.8', 'public'],
  ['::ffff:7f00:1', 'loopback'],
  ['::ffff:a00:1', 'private'],
  ['::127.0.0.1', 'private'],
  ['64:ff9b::7f00:1', 'private'],
  ['2002:7f00:1::', 'private'],
  ['2001::1', 'private'],
  ['2001:db8::1', 'private'],
  ['fc00::1', 'private'],
  ['fd12:3456::1', 'private'],
  ['fe80::1', 'private'],
  ['fec0::1', 'private'],
  ['ff02::1', 'private'],
  ['not an address', 'private']
]

describe('addresses', () => {
  it.each(kinds)('H6: %s is %s', (address, kind) => {
    const family = address.includes(':') ? 6 : 4
    expect(kindOf({ address, family })).toBe(kind)
  })
})
