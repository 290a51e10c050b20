import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { elapsedMs } from '../../src/core/index.js'
import { Engine } from '../engine.js'
import { median, Scratch } from '../measure.js'
import type { Group, Row } from '../row.js'

const TIMES = 7
const IMPORTS = 21
const MEGABYTE = 1024 * 1024
const cli = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const built = fileURLToPath(new URL('../..', import.meta.url))

/** What a user feels first: how long the command takes to start, and how much is installed. */
export const install: Group = {
  rows: [
    ...['cli.version', 'cli.log', 'node.start', 'import.library'],
    ...['install.size', 'install.packages']
  ],
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
      imported(packed(scratch.directory())),
      ...installed()
    ]
    scratch.remove()
    return rows
  }
}

function started(...args: readonly string[]): number {
  return median(Array.from({ length: TIMES }, () => startedOnce(args)))
}

function startedOnce(args: readonly string[]): number {
  const begin = elapsedMs()
  execFileSync(process.execPath, args, { stdio: 'ignore' })
  return elapsedMs() - begin
}

/** The import of the library, as it is packed, in turn with a Node that imports nothing. */
function imported(library: string): Row {
  const importing = `import ${JSON.stringify(pathToFileURL(library).href)}`
  const times = Array.from({ length: IMPORTS }, () => ({
    bare: startedOnce(['--input-type=module', '-e', '']),
    own: startedOnce(['--input-type=module', '-e', importing])
  }))
  const floor = median(times.map(({ bare }) => bare))
  const value = median(times.map(({ own }) => own))
  const terms = { unit: 'ms', target: 2.5, better: 'lower' } as const
  return { name: 'import.library', value, floor, ratio: value / floor, ...terms }
}

/** Prepares a copy of what is built for `npm pack`, in a directory, and gives its entry. */
function packed(directory: string): string {
  const root = process.cwd()
  mkdirSync(directory, { recursive: true })
  for (const part of ['src', 'machines', 'examples/01-invoices']) {
    cpSync(join(built, part), join(directory, 'dist', part), { recursive: true })
  }
  for (const file of ['package.json', 'package-lock.json']) {
    cpSync(join(root, file), join(directory, file))
  }
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  execFileSync(process.execPath, [join(root, 'scripts', 'pack.mjs'), directory], {
    stdio: 'ignore'
  })
  return join(directory, 'dist/src/index.js')
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
