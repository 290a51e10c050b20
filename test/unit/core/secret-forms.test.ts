import { describe, expect, it } from 'vitest'
import { formsOf } from '../../../src/core/secret/forms.js'
import { credentialsOf, partsOfUrl } from '../../../src/core/secret/url-parts.js'

/** S1: the texts that stand for a secret, one by one. */

describe('the forms of a secret', () => {
  it('are itself, in hex of both cases, and in base64 wherever it may begin', () => {
    const secret = 'sk-?>ab~~'
    const bytes = Buffer.from(secret)
    const base64 = bytes.toString('base64')
    expect([...formsOf(secret)].sort()).toEqual(
      [
        secret,
        'sk-%3F%3Eab~~',
        'sk-%3f%3eab~~',
        bytes.toString('hex'),
        bytes.toString('hex').toUpperCase(),
        base64,
        Buffer.from(secret).toString('base64url'),
        // Behind one byte and behind two, without the digits that these share with it.
        Buffer.from(`\0${secret}`).toString('base64').slice(2, 13),
        Buffer.from(`\0${secret}`).toString('base64url').slice(2, 13),
        Buffer.from(`\0\0${secret}`).toString('base64').slice(3, 14),
        Buffer.from(`\0\0${secret}`).toString('base64url').slice(3, 14)
      ].sort()
    )
  })

  it('are its escapes as JSON, of forms, and byte by byte', () => {
    const forms = formsOf('pass "é" word')
    for (const form of [
      'pass \\"é\\" word',
      'pass+"é"+word',
      'pass%20%22%C3%A9%22%20word',
      'pass%20%22%c3%a9%22%20word',
      'pass "\u00c3\u00a9" word'
    ]) {
      expect(forms).toContain(form)
    }
    expect([...formsOf('password1')].some((form) => form.includes('+'))).toBe(false)
  })

  it('are also without the escapes that it holds, where enough is left', () => {
    expect(formsOf('p%40ssword')).toContain('p@ssword')
    expect(formsOf('p%40ssw\\nrd1')).toContain('p@ssw\nrd1')
    expect(formsOf('%61%62%63')).not.toContain('abc')
    expect(formsOf('%61%62%63%64%65%66%67%68')).toContain('abcdefgh')
    expect(formsOf('%61%62%63%64%65%66%67%20')).not.toContain('abcdefg ')
  })

  it.each([
    ['0x', 32, true],
    ['', 32, true],
    ['0X', 32, true],
    ['', 34, true],
    ['', 30, false],
    ['', 33, false],
    ['x', 32, false]
  ])('are its bytes where it is hex: "%s" and %d digits', (prefix, count, isKey) => {
    const digits = '8F2a559490d9ee1e4f7f0e1b2c3d4e5f60'.slice(0, count)
    const bytes = Buffer.from(digits, 'hex').toString('base64').replace(/=+$/, '')
    const forms = [...formsOf(`${prefix}${digits}`)]
    const whole = bytes.slice(0, Math.floor((Math.floor(count / 2) * 8) / 6))
    expect(forms.includes(whole)).toBe(isKey)
    expect(forms.includes(digits.toLowerCase())).toBe(isKey)
  })
})

describe('what is secret in an address', () => {
  it.each([
    ['https://node.example/', []],
    ['no address', []],
    ['mailto:u@x?token=abcdefgh1', []],
    ['https://user@node.example/', []],
    ['https://abcdefgh1@node.example/', ['abcdefgh1']],
    ['https://u:passphrase@node.example/', ['passphrase']],
    ['https://u:short@node.example/', []],
    ['https://n.example/?x=abcdefgh&token=abcdefgh', ['abcdefgh']],
    ['https://n.example/?x=abcdefg1', ['abcdefg1']],
    ['https://n.example/?x=12345678', []],
    ['https://n.example/?x=abcdef1', []],
    ['https://n.example/?x=ABCDEFG1', ['ABCDEFG1']],
    ['https://n.example/?x=abcdefghijklmnop', []],
    ['https://n.example/?x=abcdefghijklmnopq', ['abcdefghijklmnopq']],
    ['https://n.example/?token=%20%20%20abcde%20', []],
    ['https://n.example/#abcdefg1', ['abcdefg1']],
    ['https://n.example/#abcdefgh', []],
    ['https://n.example/path/abcdefg1', []]
  ])('is by itself: %s', (address, parts) => {
    expect(credentialsOf(address)).toEqual(parts)
  })

  it('are the keys in its path, too, where the whole address is secret', () => {
    expect(partsOfUrl('wss://u:passphrase@n.example/v3/ethereum/abcd1234/?x=abcd1234')).toEqual([
      'passphrase',
      'abcd1234'
    ])
    expect(partsOfUrl('https://n.example/v3/ethereum')).toEqual([])
    expect(partsOfUrl('/v3/abcd1234')).toEqual([])
  })
})
