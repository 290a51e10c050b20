/**
 * Draws rows of a run of the benchmark as an SVG: `npm run bench -- --json ROWS | node
 * scripts/bench-chart.mjs FILE.svg`. A bar is the ratio of a row to its floor, a mark its target.
 * Rows without a ratio are left out. `npm run bench:chart` makes that of docs/performance.md.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { pathToFileURL } from 'node:url'
import { givenWords } from './words.mjs'

const WIDTH = 960
const NAMES_WIDTH = 280
const BARS_WIDTH = 400
const LINE_HEIGHT = 30
const BAR_HEIGHT = 16
const HEAD_HEIGHT = 64
const FOOT_HEIGHT = 28
const SECTION_HEIGHT = 30
const SECTION_GAP = 14
/** How far the scale goes at least: what is as fast as its floor ends before it does. */
const SCALE_MIN = 1.1

const style = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-size: 16px; font-weight: 600 }
  .section { font-weight: 600 }
  .about, .figure { fill: #59636e }
  .page { fill: #ffffff }
  .reached { fill: #2da44e } .missed { fill: #bf8700 } .open { fill: #8c959f }
  .target, .floor { stroke: #1f2328; stroke-width: 2 }
  .floor { stroke-width: 1; stroke-dasharray: 3 3 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } text { fill: #e6edf3 } .about, .figure { fill: #9198a1 }
    .target, .floor { stroke: #e6edf3 }
  }`

/** Rows whose ratios are read the same way share a scale. */
const sections = [
  { better: 'higher', title: 'Rates, as parts of the floor: longer is better' },
  { better: 'lower', title: 'Costs, as multiples of the floor: shorter is better' }
]

/**
 * The chart of rows, each `{ name, value, unit, floor, ratio, target, better }` as `--json` prints
 * them. `about` says where and when they were measured.
 */
export function chartOf(rows, about) {
  let top = HEAD_HEIGHT
  const parts = []
  for (const { better, title } of sections) {
    const drawn = rows.filter((row) => row.ratio !== null && row.better === better)
    if (drawn.length === 0) continue
    parts.push(`<text class="section" x="16" y="${top + 18}">${title}</text>`)
    top += SECTION_HEIGHT
    parts.push(...sectionOf(drawn, top))
    top += drawn.length * LINE_HEIGHT + SECTION_GAP
  }
  const height = top + FOOT_HEIGHT
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>tallystick beside its floors</title><style>${style}</style>`,
    '<rect class="page" width="100%" height="100%" rx="8"/>',
    '<text class="title" x="16" y="26">tallystick beside its floors</text>',
    `<text class="about" x="16" y="46">${escaped(about)}</text>`,
    ...parts,
    `<text class="about" x="16" y="${top + 14}">Dashed is the floor, a stroke the target: ` +
      'green reaches it, amber does not, grey has none.</text>',
    '</svg>',
    ''
  ].join('\n')
}

function sectionOf(rows, top) {
  const scale = Math.max(SCALE_MIN, ...rows.flatMap(({ ratio, target }) => [ratio, target ?? 0]))
  const place = (ratio) => NAMES_WIDTH + (ratio / scale) * BARS_WIDTH
  const bottom = top + rows.length * LINE_HEIGHT
  return [
    ...rows.map((row, at) => lineOf(row, top + at * LINE_HEIGHT, place)),
    mark('floor', place(1), top, bottom)
  ]
}

function lineOf({ name, value, unit, floor, ratio, target, better }, top, place) {
  const middle = top + LINE_HEIGHT / 2
  const barTop = middle - BAR_HEIGHT / 2
  const width = place(ratio) - NAMES_WIDTH
  const isReached = better === 'higher' ? ratio >= target : ratio <= target
  const kind = target === null ? 'open' : isReached ? 'reached' : 'missed'
  const beside = floor === null ? '' : ` of ${short(floor)}`
  const figure = `${ratio.toFixed(2)}: ${short(value)}${beside} ${unit}`
  const bar = `x="${NAMES_WIDTH}" y="${barTop}" width="${width.toFixed(1)}" height="${BAR_HEIGHT}"`
  return [
    `<g><text x="16" y="${middle + 4}">${escaped(name)}</text>`,
    `<rect class="${kind}" ${bar}/>`,
    target === null ? '' : mark('target', place(target), barTop - 4, barTop + BAR_HEIGHT + 4),
    `<text class="figure" x="${NAMES_WIDTH + BARS_WIDTH + 12}" y="${middle + 4}">`,
    `${escaped(figure)}</text></g>`
  ].join('')
}

function mark(kind, x, from, to) {
  return `<line class="${kind}" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${from}" y2="${to}"/>`
}

function short(value) {
  return value >= 100 ? Math.round(value).toLocaleString('en-GB') : value.toPrecision(3)
}

function escaped(text) {
  return text.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [path] = givenWords('scripts/bench-chart.mjs FILE.svg < ROWS', ([file, ...more]) => {
    return file?.endsWith('.svg') === true && more.length === 0
  })
  const lines = readFileSync(0, 'utf8').split('\n')
  const rows = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
  const day = new Date().toISOString().slice(0, 10)
  const { platform, versions } = process
  const machine = `${availableParallelism()} cores, Node ${versions.node}, ${platform}`
  writeFileSync(path, chartOf(rows, `${day}, ${machine}; one run of npm run bench`))
}
