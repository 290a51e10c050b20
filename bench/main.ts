/**
 * The benchmark suite: `npm run bench`, `npm run bench -- steps.64` for the rows whose names
 * contain that, `--json` for one object per row, `--full` for the sizes of docs/performance.md,
 * `--against DIRECTORY` for `--pairs` with another build, a checkout that was built.
 *
 * Each group is measured in a process of its own, which loads nothing of the others: what they load
 * and leave behind is collected, and passed over by each collection, in the time of who runs then.
 * Such a process is started with `--group`.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { comparedHeader, comparedLine, comparedWith } from './against.js'
import { type Group, type Row, reaches } from './row.js'
import { countIn, givenWords } from './words.js'

const usage =
  'npm run bench -- [PART-OF-A-ROW...] [--list] [--json] [--full] [--rounds N]' +
  ' [--against DIRECTORY [--pairs N]]'
const words = givenWords(usage, () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '5' },
      against: { type: 'string' },
      group: { type: 'string' },
      pairs: { type: 'string', default: '5' }
    }
  })
  const [rounds, pairs] = [countIn(values.rounds, 'rounds'), countIn(values.pairs, 'pairs')]
  return { ...values, rounds, pairs, parts: positionals }
})

const isWanted = (name: string) =>
  words.parts.length === 0 || words.parts.some((part) => name.includes(part))

if (words.group === undefined) await choose()
else await measure(words.group)

/** Measures or lists the groups that have a row that is asked for. */
async function choose(): Promise<void> {
  const { groups } = await import('./groups/index.js')
  const wanted = Object.entries(groups).filter(([, { rows }]) => rows.some(isWanted))
  const names = wanted.flatMap(([, { rows }]) => rows.filter(isWanted))
  if (names.length === 0) {
    process.stderr.write(`no row's name contains ${words.parts.join(' or ')}; see --list\n`)
    process.exitCode = 2
  } else if (words.list) process.stdout.write(`${names.join('\n')}\n`)
  else if (words.against === undefined) measureEach(wanted.map(([name]) => name))
  else compare(words.against, wanted)
}

function measureEach(names: readonly string[]): void {
  if (!words.json) process.stdout.write(`${header()}\n`)
  const main = fileURLToPath(import.meta.url)
  for (const name of names) {
    const asked = [...process.execArgv, main, ...process.argv.slice(2), '--group', name]
    const { status } = spawnSync(process.execPath, asked, { stdio: 'inherit' })
    if (status !== 0) throw new Error(`the group ${name} ended with exit code ${status}`)
  }
}

async function measure(name: string): Promise<void> {
  const module = (await import(`./groups/${name}.js`)) as Readonly<Record<string, Group>>
  for (const group of Object.values(module)) {
    const rows = await group.measure({ full: words.full, rounds: words.rounds })
    for (const row of rows.filter(({ name }) => isWanted(name))) {
      process.stdout.write(`${words.json ? JSON.stringify(rounded(row)) : line(row)}\n`)
    }
  }
}

/** Ends with exit code 1 when a row is worse than that of the other build. */
function compare(directory: string, wanted: readonly (readonly [string, Group])[]): void {
  if (!words.json) process.stdout.write(`${comparedHeader}\n`)
  for (const [, { rows }] of wanted) {
    const names = rows.filter(isWanted)
    const options = { full: words.full, pairs: words.pairs }
    for (const row of comparedWith(directory, names, options)) {
      process.stdout.write(`${words.json ? JSON.stringify(row) : comparedLine(row)}\n`)
      if (row.isWorse) process.exitCode = 1
    }
  }
}

function header(): string {
  return columns(['row', 'value', 'unit', 'floor', 'ratio', 'target', ''])
}

function line(row: Row): string {
  const { name, value, unit, floor, ratio, target, better } = row
  const reached = reaches(row)
  const sign = better === 'higher' ? '>=' : '<='
  return columns([
    name,
    number(value),
    unit,
    floor === null ? '' : number(floor),
    ratio === null ? '' : ratio.toFixed(2),
    target === null ? '' : `${sign} ${target}`,
    reached === undefined ? '' : reached ? 'yes' : 'NO'
  ])
}

function columns([name = '', value = '', unit = '', ...rest]: readonly string[]): string {
  const [floor = '', ratio = '', target = '', reached = ''] = rest
  const cells = [
    name.padEnd(40),
    value.padStart(10),
    ` ${unit}`.padEnd(14),
    floor.padStart(10),
    ratio.padStart(7),
    target.padStart(11),
    ` ${reached}`
  ]
  return cells.join('').trimEnd()
}

function number(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-GB') : value.toFixed(2)
}

function rounded(row: Row): Row {
  const round = (value: number) => Number(value.toPrecision(6))
  return {
    ...row,
    value: round(row.value),
    floor: row.floor === null ? null : round(row.floor),
    ratio: row.ratio === null ? null : round(row.ratio)
  }
}
