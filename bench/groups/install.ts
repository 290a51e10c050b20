import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { elapsedMs } from '../../src/core/index.js'
import { Engine } from '../engine.js'
import { median, Scratch } from '../measure.js'
import type { Group, Row } from '../row.js'

const TIMES = 7
const MEGABYTE = 1024 * 1024
const cli = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const built = fileURLToPath(new URL('../..', import.meta.url))

/** What a user feels first: how long the command takes to start, and how much is installed. */
export const install: Group = {
  rows: ['cli.version', 'cli.log', 'node.start', 'install.size', 'install.packages'],
  async measure() {
    const scratch = new Scratch()
    const path = scratch.directory()
    const engine = await Engine.open({ path, durability: 'output', stateKeys: 0 })
    await engine.workflows(100, 10)
    await engine.close()
    const rows = [
      lower('cli.version', started(cli, '--version'), 'ms', 150),
      lower('cli.log', started(cli, 'log', '--dir', path), 'ms', 300),
      lower('node.start', started('-e', ''), 'ms', null),
      ...installed()
    ]
    scratch.remove()
    return rows
  }
}

function started(...args: readonly string[]): number {
  const times = Array.from({ length: TIMES }, () => {
    const begin = elapsedMs()
    execFileSync(process.execPath, args, { stdio: 'ignore' })
    return elapsedMs() - begin
  })
  return median(times)
}

/** The package and everything that it needs at run time, as the lock file names it. */
function installed(): Row[] {
  const root = process.cwd()
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly peer?: boolean }>>
  }
  const paths = Object.entries(lock.packages)
    .filter(([path, { dev, peer }]) => path !== '' && dev !== true && peer !== true)
    .map(([path]) => join(root, path))
    .filter((path) => sizeOf(path) > 0)
  const own = sizeOf(join(built, 'src')) + sizeOf(join(built, 'machines'))
  const bytes = paths.reduce((sum, path) => sum + sizeOf(path), own)
  return [
    lower('install.size', bytes / MEGABYTE, 'MB', 40),
    lower('install.packages', paths.length, 'packages', 40)
  ]
}

function sizeOf(path: string): number {
  try {
    const names = readdirSync(path, { recursive: true, withFileTypes: true })
    return names
      .filter(
        (entry) => entry.isFile() && !entry.parentPath.slice(path.length).includes('node_modules')
      )
      .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
  } catch {
    return 0
  }
}

function lower(name: string, value: number, unit: string, target: number | null): Row {
  return { name, value, unit, floor: null, ratio: null, target, better: 'lower' }
}
