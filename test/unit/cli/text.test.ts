import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  escapedJson,
  escapeText,
  joined,
  painter,
  Text,
  text
} from '../../../src/cli/frame/text.js'

const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

describe('text for terminals', () => {
  it('T23: holds nothing that moves a cursor or reorders text, whatever is inserted', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (raw) => {
        expect(escapeText(raw)).not.toMatch(invisible)
        expect(text`before ${raw} after`.value).not.toMatch(invisible)
        expect(joined([raw, raw]).value).not.toMatch(invisible)
      })
    )
  })

  it('T23: JSON stays JSON of the same value', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), (source) => {
        const value: unknown = JSON.parse(source)
        const written = escapedJson(value)
        expect(written).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
        expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(value)))
      })
    )
  })

  it('shows what it escapes, and leaves ordinary text as it is', () => {
    expect(escapeText('a\u001b[31mb')).toBe('a\\u{1b}[31mb')
    expect(escapeText('\u202edrowssap')).toBe('\\u{202e}drowssap')
    expect(escapeText('Grüße, 你好 — ok')).toBe('Grüße, 你好 — ok')
  })

  it('inserts text that was made already without escaping it again', () => {
    const bold = painter(true)('bold', 'a\u0007b')
    expect(bold.value).toBe('\u001b[1ma\\u{7}b\u001b[0m')
    expect(text`<${bold}>`.value).toBe(`<${bold.value}>`)
    expect(painter(false)('bold', 'a').value).toBe('a')
    expect(joined([new Text('x'), 'y'], '-').value).toBe('x-y')
  })
})
