import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Row } from '../bench/row.js'
// @ts-expect-error: a script, without types.
import { chartOf as drawn } from '../scripts/bench-chart.mjs'
import { repository } from './support/snippets.js'

const chartOf = drawn as (rows: readonly Row[], about: string) => string

const row = (fields: Partial<Row>): Row => ({
  ...{ name: 'a.row', value: 50, unit: 'steps/s', floor: 100, ratio: 0.5 },
  ...{ target: null, better: 'higher', ...fields }
})

/** Class and width of each bar, by the name before it. */
function barsOf(
  svg: string
): ReadonlyMap<string, { readonly kind: string; readonly width: number }> {
  const bars = svg.matchAll(
    /<g><text [^>]*>([^<]*)<.text><rect class="(\w+)" [^>]*width="([\d.]+)"/g
  )
  return new Map(
    [...bars].map(([, name = '', kind = '', width]) => [name, { kind, width: Number(width) }])
  )
}

describe('the chart of a run of the benchmark', () => {
  it('draws each row as long as its ratio, and says whether it reaches its target', () => {
    const rows = [
      row({ name: 'half', target: 0.5 }),
      row({ name: 'quarter', ratio: 0.25, target: 0.5 }),
      row({ name: 'none' }),
      row({ name: 'dear', ratio: 2, target: 1.5, better: 'lower' }),
      row({ name: 'cheap', ratio: 1, target: 1.5, better: 'lower' })
    ]
    const bars = barsOf(chartOf(rows, 'a test'))
    expect([...bars].map(([name, { kind }]) => [name, kind])).toEqual([
      ['half', 'reached'],
      ['quarter', 'missed'],
      ['none', 'open'],
      ['dear', 'missed'],
      ['cheap', 'reached']
    ])
    const widthOf = (name: string) => bars.get(name)?.width ?? 0
    expect(widthOf('half')).toBeCloseTo(2 * widthOf('quarter'), 0)
    expect(widthOf('dear')).toBeCloseTo(2 * widthOf('cheap'), 0)
  })

  it('leaves out rows without a ratio, and writes names and units as text', () => {
    const rows = [row({ name: 'alone', ratio: null }), row({ name: '<b>', unit: 'a & b' })]
    const svg = chartOf(rows, '2 < 3')
    expect(svg).not.toContain('alone')
    expect(svg).toContain('&#60;b&#62;')
    expect(svg).toContain('a &#38; b')
    expect(svg).toContain('2 &#60; 3')
  })

  it('is on the page, of rows that there are', () => {
    const svg = readFileSync(join(repository, 'docs/charts/speed.svg'), 'utf8')
    const list = execFileSync(process.execPath, [join(repository, 'dist/bench/main.js'), '--list'])
    const names = String(list).trimEnd().split('\n')
    const shown = [...barsOf(svg).keys()]
    expect(shown.length).toBeGreaterThan(10)
    for (const name of shown) expect(names, name).toContain(name)
    const page = readFileSync(join(repository, 'docs/performance.md'), 'utf8')
    expect(page).toContain('(charts/speed.svg)')
  })
})
