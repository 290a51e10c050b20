import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalize, type Json, limits, Redactor } from '../../../src/core/index.js'
import { cases } from '../../support/effort.js'
import { anySecret, encodings, formsIn, headerSecret } from '../../support/secrets.js'

function redactorOf(...secrets: readonly string[]): Redactor {
  const redactor = new Redactor()
  for (const [at, secret] of secrets.entries()) redactor.know(`env:SECRET_${at}`, secret)
  return redactor
}

const runs = { numRuns: cases({ usual: 60, long: 330 }) }
const around = fc.string({ maxLength: 24, unit: 'binary-ascii' })

describe('S1: a redactor finds a secret', () => {
  it.each(Object.entries(encodings))('in a text that is encoded as %s', (_name, encode) => {
    fc.assert(
      fc.property(anySecret, around, around, (given, before, after) => {
        const secret = given.trim()
        const text = redactorOf(secret).text(`${before} ${encode(`${before}${secret}`)} ${after}`)
        expect(text).toContain('[env:SECRET_0]')
        expect(formsIn(text, secret)).toEqual([])
      }),
      runs
    )
  })

  it('as the password of basic authentication, for users of any length', () => {
    fc.assert(
      fc.property(anySecret, fc.string({ maxLength: 9 }), (given, user) => {
        const secret = given.trim()
        const sent = `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`
        const text = redactorOf(secret).text(sent)
        expect(text).toContain('[env:SECRET_0]')
        expect(formsIn(text, secret)).toEqual([])
      }),
      runs
    )
  })

  it('in the bytes of a private key, with and without its prefix and in both cases', () => {
    const digits = '8f2a559490d9ee1e4f7f0e1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f'
    const redactor = redactorOf(`0x${digits}`)
    for (const text of [
      digits,
      digits.toUpperCase(),
      Buffer.from(digits, 'hex').toString('base64'),
      Buffer.from(`ab${digits}`, 'hex').toString('base64url')
    ]) {
      expect(redactor.text(`key ${text} end`)).toContain('[env:SECRET_0]')
    }
  })

  it('in the parts of an address, and leaves its words', () => {
    const redactor = redactorOf(
      'https://user:p%40ssword@node.example/v3/ethereum/abcd1234?key=passphrase'
    )
    expect(redactor.text('p@ssword p%40ssword abcd1234 passphrase')).toBe(
      '[env:SECRET_0] [env:SECRET_0] [env:SECRET_0] [env:SECRET_0]'
    )
    expect(redactor.text('ethereum at node.example')).toBe('ethereum at node.example')
  })

  it('in what is secret of an address that is none as a whole', () => {
    const redactor = new Redactor()
    const path = 'deployments/gpt-4-of-2024-08-06'
    redactor.knowAddress('env:BASE_URL', `https://u:passphrase@models.example/${path}?key=abcdefgh`)
    expect(redactor.text(`passphrase abcdefgh ${path} models.example`)).toBe(
      `[env:BASE_URL] [env:BASE_URL] ${path} models.example`
    )
    redactor.knowAddress('env:OTHER', 'no address at all')
    expect(redactor.text('no address at all')).toBe('no address at all')
  })

  it('inside another one, and names the longer', () => {
    const redactor = redactorOf('abcdefgh', 'xxabcdefghyy')
    expect(redactor.text('1xxabcdefghyy2')).toBe('1[env:SECRET_1]2')
    expect(redactor.text('1abcdefgh2')).toBe('1[env:SECRET_0]2')
    expect(redactorOf('abcdefgh', 'efghijkl').text('1abcdefghijkl2')).toBe('1[env:SECRET_0]2')
  })

  it('in every text, name and number of JSON', () => {
    const redactor = redactorOf('password1', '1234567890')
    const value = { password1: ['a password1', { b: 1234567890 }], n: 12, t: null }
    const clean = {
      '[env:SECRET_0]': ['a [env:SECRET_0]', { b: '[env:SECRET_1]' }],
      n: 12,
      t: null
    }
    expect(redactor.json(value)).toEqual(clean)
    expect(redactor.canonical(canonicalize(value))).toBe(canonicalize(clean))
  })

  it('in canonical text where it is found in the value', () => {
    fc.assert(
      fc.property(anySecret, fc.constantFrom(...Object.values(encodings)), (given, encode) => {
        const secret = given.trim()
        const value: Json = { body: encode(secret), list: [`"${encode(`"${secret}`)}`] }
        const text = redactorOf(secret).canonical(canonicalize(value))
        const found = JSON.parse(text) as typeof value
        expect(formsIn(`${found['body']} ${found['list']}`, secret)).toEqual([])
        expect(formsIn(text, secret)).toEqual([])
      }),
      runs
    )
  })
})

describe('S2: what a redactor leaves', () => {
  it('is the same whatever chunks a text comes in', () => {
    const cuts = fc.array(fc.nat(400), { maxLength: 12 })
    const encode = fc.constantFrom(...Object.values(encodings))
    fc.assert(
      fc.property(anySecret, encode, around, cuts, (given, encode, beside, cuts) => {
        const secret = given.trim()
        const redactor = redactorOf(secret)
        const text = `${beside}${encode(secret)}${beside}${secret}${encode(`u:${secret}`)}`
        const stream = redactor.stream()
        const places = [0, ...cuts.map((cut) => cut % text.length), text.length]
        places.sort((left, right) => left - right)
        const chunks = places.slice(1).map((end, at) => text.slice(places[at], end))
        const given_ = [...chunks.map((chunk) => stream.push(chunk)), stream.end()]
        expect(formsIn(given_.join(''), secret)).toEqual([])
        expect(given_.join('')).toBe(redactor.text(text))
      }),
      { numRuns: cases({ usual: 300, long: 1650 }) }
    )
  })

  it('is given away as soon as no secret can begin in it', () => {
    const stream = redactorOf('sk-0123456789').stream()
    expect(stream.push('hello sk')).toBe('hello ')
    expect(stream.push('ill ')).toBe('skill ')
    expect(stream.push('sk-01234')).toBe('')
    expect(stream.push('56789!')).toBe('[env:SECRET_0]!')
    expect(stream.push('sk-0')).toBe('')
    expect(stream.end()).toBe('sk-0')
    // After its end it begins anew.
    expect(stream.push('anew ')).toBe('anew ')
    expect(stream.end()).toBe('')
  })

  it('is the text itself where it holds none', () => {
    fc.assert(
      fc.property(headerSecret, fc.string(), (secret, text) => {
        const redactor = redactorOf(`${secret}~~~`)
        fc.pre(!text.includes('~'))
        expect(redactor.text(text)).toBe(text)
        expect(redactor.text(secret.slice(0, -1))).toBe(secret.slice(0, -1))
      }),
      runs
    )
  })

  it('is no larger than a value may be, whatever stands for its secrets', () => {
    const redactor = new Redactor()
    redactor.know(`file:/${'long/'.repeat(200)}`, 'password')
    const text = 'password'.repeat(limits.VALUE_BYTES_MAX / 512)
    for (const value of [text, { [text]: text }, text.match(/.{800}/g) ?? []]) {
      const left = redactor.canonical(canonicalize(value))
      expect(left.length).toBeLessThanOrEqual(limits.VALUE_BYTES_MAX)
      expect(left).not.toContain('password')
    }
    expect(redactor.text(text)).toHaveLength(text.length)
  })
})

describe('a redactor', () => {
  it('S3: leaves a text alone until it knows a secret', () => {
    const redactor = new Redactor()
    expect(redactor.isEmpty).toBe(true)
    const value = { a: ['password1'] }
    expect(redactor.json(value)).toBe(value)
    redactor.know('env:A', 'password1')
    expect(redactor.isEmpty).toBe(false)
    expect(redactor.json(value)).toEqual({ a: ['[env:A]'] })
  })

  it('names the secrets that are too short to be looked for', () => {
    const redactor = new Redactor()
    redactor.know('env:PIN', ' 1234567\n')
    redactor.know('env:EMPTY', ' \n')
    expect(redactor.exempt).toEqual(['env:PIN'])
    expect(redactor.isEmpty).toBe(true)
    expect(redactor.text('1234567')).toBe('1234567')
  })

  it('knows what another one learns that it includes', () => {
    const [outer, inner] = [new Redactor(), new Redactor()]
    outer.include(inner)
    outer.include(outer)
    expect(outer.text('password1')).toBe('password1')
    inner.know('env:A', 'password1')
    inner.know('env:PIN', '1')
    expect(outer.text('password1')).toBe('[env:A]')
    expect(outer.exempt).toEqual(['env:PIN'])
    expect(inner.text('password2')).toBe('password2')
  })

  it('learns what it reads', async () => {
    const redactor = new Redactor()
    const sources = { environment: { A: 'password1\n' }, readFile: async () => undefined }
    await expect(redactor.read('env:A', sources)).resolves.toBe('password1\n')
    await expect(redactor.read('env:B', sources)).resolves.toBeUndefined()
    expect(redactor.text('password1')).toBe('[env:A]')
  })

  it('knows a bounded number of secrets, those that were read last', () => {
    const redactor = new Redactor()
    redactor.know('env:FIRST', 'password-first')
    for (let at = 0; at < limits.SECRETS_KNOWN_MAX; at += 1) {
      redactor.know('env:NEXT', `password-${at}`)
    }
    redactor.know('env:NEXT', 'password-0')
    redactor.know('env:LAST', 'password-last')
    expect(redactor.text('password-first password-0 password-1 password-last')).toBe(
      'password-first [env:NEXT] password-1 [env:LAST]'
    )
  })
})
