import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { root } from '../../../support/source.js'

/** Bytes that a browser loads at most, of which scripts and styles are compressed. */
const SCRIPT_BYTES_MAX = 60_000
const STYLE_BYTES_MAX = 8_000
const FONT_BYTES_MAX = 89_000

const page = join(root, 'dist/src/console/page')
const textOf = (name: string) => readFileSync(join(page, name), 'utf8')
const compressed = (name: string) => gzipSync(readFileSync(join(page, name)), { level: 9 }).length

describe('the built page of the console', () => {
  it('keeps within its budgets', () => {
    expect.soft(compressed('app.js')).toBeLessThanOrEqual(SCRIPT_BYTES_MAX)
    expect.soft(compressed('app.css')).toBeLessThanOrEqual(STYLE_BYTES_MAX)
    const fonts = readdirSync(join(page, 'fonts')).map((name) => join(page, 'fonts', name))
    const bytes = fonts.reduce((sum, file) => sum + statSync(file).size, 0)
    expect.soft(bytes).toBeLessThanOrEqual(FONT_BYTES_MAX)
  })

  it('loads nothing from elsewhere, and makes no markup out of text', () => {
    for (const name of ['index.html', 'app.js', 'app.css']) {
      const addresses = textOf(name).match(/https?:\/\/[\w.]+/g) ?? []
      expect(addresses.filter((address) => !address.endsWith('//www.w3.org'))).toEqual([])
    }
    const script = textOf('app.js')
    expect(script).not.toMatch(
      /insertAdjacentHTML|outerHTML|document\.write|createContextualFragment/
    )
    expect(script).not.toContain('sourceMappingURL')
    expect(textOf('index.html')).not.toMatch(/<style|style=|<script(?![^>]*src=)/)
  })

  it('names what it brings, with the licence of each', () => {
    const licences = textOf('licences.txt')
    for (const name of ['preact', '@preact/signals', 'inter', 'jetbrains-mono']) {
      expect.soft(licences).toContain(name)
    }
    expect.soft(licences).toContain('SIL OPEN FONT LICENSE')
    expect.soft(licences).toContain('MIT License')
  })
})
