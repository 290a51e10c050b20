import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from './measure.js'
import type { Row } from './row.js'

/**
 * The rows of this build beside those of another one, a checkout that was built. Each pair runs the
 * other build and this one in turn, each in a process of its own, so that a slow minute of the
 * machine falls on both alike. Only rows that both have are compared.
 */

/** What is worse by more than this is marked; with a floor, after division by its gain. */
const LOSS_MAX = 0.05

export interface Compared {
  readonly name: string
  /** Medians over the pairs. */
  readonly before: number
  readonly after: number
  readonly unit: string
  /** How many times as good it is as before: the median of what the pairs give. */
  readonly gain: number
  /** The same of the floor, which does not change: how far the machine is to blame. */
  readonly floorGain: number | null
  /** The gain less what the machine is to blame for: the median of the pairs' quotients. */
  readonly quotient: number | null
  readonly isWorse: boolean
}

interface Bench {
  readonly main: string
  readonly words: readonly string[]
}

/** Compares the rows of one group, if the other build has any of them. */
export function comparedWith(
  directory: string,
  names: readonly string[],
  options: { readonly full: boolean; readonly pairs: number }
): readonly Compared[] {
  const other = join(directory, 'dist', 'bench', 'main.js')
  if (!existsSync(other)) throw new Error(`${other} is not there: run "npm run build" in it first`)
  const ours = fileURLToPath(new URL('./main.js', import.meta.url))
  const known = new Set(printed({ main: other, words: ['--list'] }).split('\n'))
  const shared = names.filter((name) => known.has(name))
  if (shared.length === 0) return []
  const words = [...shared, '--json', ...(options.full ? ['--full'] : [])]
  const pairs = Array.from({ length: options.pairs }, () => ({
    before: rowsOf({ main: other, words }),
    after: rowsOf({ main: ours, words })
  }))
  return [...shared, PROCESSOR_TIME].flatMap((name) => {
    const rows = pairs.flatMap(({ before, after }) => {
      const [one, two] = [before.get(name), after.get(name)]
      return one === undefined || two === undefined ? [] : [{ before: one, after: two }]
    })
    return rows.length === 0 ? [] : [compared(name, rows)]
  })
}

function compared(
  name: string,
  rows: readonly { readonly before: Row; readonly after: Row }[]
): Compared {
  const pairs = rows.map(({ before, after }) => ({
    gain: better(after.better, before.value, after.value),
    floorGain:
      before.floor === null || after.floor === null
        ? null
        : better(after.better, before.floor, after.floor)
  }))
  const gain = median(pairs.map((pair) => pair.gain))
  const floored = pairs.flatMap(({ gain, floorGain }) =>
    floorGain === null ? [] : [{ floorGain, quotient: gain / floorGain }]
  )
  const hasFloor = floored.length > 0
  const quotient = hasFloor ? median(floored.map((pair) => pair.quotient)) : null
  return {
    name,
    before: median(rows.map(({ before }) => before.value)),
    after: median(rows.map(({ after }) => after.value)),
    unit: rows[0]?.after.unit ?? '',
    gain,
    floorGain: hasFloor ? median(floored.map(({ floorGain }) => floorGain)) : null,
    quotient,
    isWorse: (quotient ?? gain) < 1 - LOSS_MAX
  }
}

/** How many times as good the second of two values is. */
function better(direction: Row['better'], one: number, two: number): number {
  return direction === 'higher' ? two / one : one / two
}

function rowsOf(bench: Bench): ReadonlyMap<string, Row> {
  const lines = printed(bench).split('\n')
  const rows = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Row)
  return new Map(rows.map((row) => [row.name, row]))
}

/** Of all that a process does for its rows, floors included. */
const PROCESSOR_TIME = '(processor time)'
const preload = new URL('./child/processor-time.js', import.meta.url).href

function printed({ main, words }: Bench): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', preload, main, ...words],
    { encoding: 'utf8' }
  )
  if (status !== 0) throw new Error(`${main} ${words.join(' ')}: ${stderr}`)
  // Of that process, and of those that it has started for its groups.
  const times = [...stderr.matchAll(/^processor time (\d+)$/gm)].map(([, ms]) => Number(ms))
  const row: Row = {
    name: PROCESSOR_TIME,
    value: times.reduce((sum, ms) => sum + ms, 0),
    unit: 'ms',
    floor: null,
    ratio: null,
    target: null,
    better: 'lower'
  }
  return words.includes('--json') ? `${stdout}${JSON.stringify(row)}\n` : stdout
}

const columns = [40, 12, 12, 14, 7, 8, 10]

function cells(texts: readonly string[]): string {
  const padded = texts.map((text, index) => {
    const width = columns[index] ?? 0
    return index === 0 || index === 3 ? ` ${text}`.padEnd(width) : text.padStart(width)
  })
  return padded.join('').trim()
}

export const comparedHeader = cells(['row', 'before', 'after', '', 'gain', 'floor', 'quotient'])

export function comparedLine(row: Compared): string {
  const { name, before, after, unit, gain, floorGain, quotient, isWorse } = row
  const number = (value: number) => value.toPrecision(4)
  const line = cells([
    name,
    number(before),
    number(after),
    unit,
    gain.toFixed(2),
    floorGain?.toFixed(2) ?? '',
    quotient?.toFixed(2) ?? ''
  ])
  return isWorse ? `${line}  WORSE` : line
}
