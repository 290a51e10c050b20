import { describe, expect, it } from 'vitest'
import {
  holdsCredentials,
  isCredentialName,
  isSecretName,
  withoutAddresses
} from '../../../src/core/index.js'

const secret = [
  ...['privateKey', 'PRIVATE_KEY', 'my-private-key', 'mnemonic', 'passphrase', 'dbPassword'],
  ...['clientSecret', 'apiKey', 'API_KEY', 'x-api-key', 'Authorization', 'bearerToken'],
  ...['credentials', 'seed', 'seedPhrase', 'seed_phrase', 'signature', 'signatures', 'raw'],
  ...['rawTx', 'raw_tx', 'rawTransaction', 'raw_transaction', 'signedTransaction'],
  'signed_transaction'
]
const credential = [
  ...['token', 'access_token', 'x-auth', 'key', 'cookie', 'set-cookie', 'sig', 'user-pass'],
  ...['pwd', 'AUTH', 'key_id']
]
const ordinary = [
  ...['amount', 'to', 'seeds', 'seeding', 'drawRaw', 'rawData', 'signatureCount', 'monkey'],
  ...['author', 'design', 'compass', 'private', 'api', 'signed', 'model', 'unsigned_transaction']
]

describe('the name of a member', () => {
  it.each(secret)('says that it is never shown: %s', (name) => {
    expect(isSecretName(name)).toBe(true)
    expect(isCredentialName(name)).toBe(true)
  })

  it.each(credential)('says so of a header or a part of a query alone: %s', (name) => {
    expect(isSecretName(name)).toBe(false)
    expect(isCredentialName(name)).toBe(true)
  })

  it.each(ordinary)('says nothing: %s', (name) => {
    expect(isSecretName(name)).toBe(false)
  })

  it.each(['amount', 'monkey', 'design', 'compass', 'model'])('hides no header: %s', (name) => {
    expect(isCredentialName(name)).toBe(false)
  })
})

describe('an address', () => {
  it.each([
    'https://user@node.example/',
    'https://:passphrase@node.example/',
    'https://:pin@node.example/',
    'https://node.example/?token=abcdefgh',
    'https://node.example/?x=abcdefgh1',
    'https://node.example/?x=abcdefghijklmnopq',
    'https://node.example/#abcdefgh1',
    'WSS://node.example/?api_key=abcdefgh'
  ])('holds what must not be shown: %s', (address) => {
    expect(holdsCredentials(address)).toBe(true)
  })

  it.each([
    'https://node.example/v3/abcdefgh1',
    'https://node.example/?token=abc',
    'https://node.example/?x=abcdefgh',
    'https://node.example/?x=12345678',
    'https://node.example/?x=abcdef1',
    'https://node.example/?x=abcdefghijklmnop',
    'mailto:user@node.example?token=abcdefgh',
    'see https://user@node.example/',
    'https://user name@/',
    'no address'
  ])('holds nothing of the kind: %s', (address) => {
    expect(holdsCredentials(address)).toBe(false)
  })

  it('is taken out of a text as a whole, up to what cannot be part of it', () => {
    expect(withoutAddresses('get https://a.example/k?x=1 and "WSS+x://b", (c1.d-e://f) done')).toBe(
      'get [address] and "[address]", ([address]) done'
    )
    expect(withoutAddresses("'a://b' <c://d> [e://f] {g://h}\ti://j\nk")).toBe(
      "'[address]' <[address]> [[address]] {[address]}\t[address]\nk"
    )
    expect(withoutAddresses('a:/b mailto:x http:// 1http://x')).toBe(
      'a:/b mailto:x http:// 1http://x'
    )
  })
})
