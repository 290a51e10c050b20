import { access, realpath, stat } from 'node:fs/promises'
import { dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { cliError, isJsonObject, limits, readDocument, TallyError } from '../../core/index.js'
import type { TallyConfig } from '../../runtime/index.js'
import { writerProblem } from './config-owner.js'
import { readInput } from './files.js'
import type { Frame } from './frame.js'

/**
 * Configuration is code, so it comes from the package of the working directory or from `--config`,
 * never from or above a ledger's directory, which may come from a stranger. A document
 * only names blocks.
 */

const names = ['tally.config.ts', 'tally.config.js', 'tally.config.mjs', 'tally.config.json']

// A record, so that a key which TallyConfig gains and this list lacks does not compile.
const keys: Readonly<Record<keyof TallyConfig, true>> = {
  agents: true,
  blocks: true,
  closedPaths: true,
  composites: true,
  conditions: true,
  durability: true,
  network: true,
  obligations: true,
  packages: true,
  providers: true,
  queues: true,
  redactor: true,
  repairs: true,
  resolvers: true,
  workflow: true,
  workflows: true
}

/** Path of the configuration that a command would load, or why it loads none. */
export async function findConfig(
  frame: Frame,
  given: string | undefined
): Promise<{ readonly path: string } | { readonly path: undefined; readonly reason: string }> {
  if (given !== undefined) return { path: resolve(frame.cwd, given) }
  if (await isInside(frame.cwd, frame.directory)) {
    const reason = 'the working directory lies in the directory of the ledger'
    return { path: undefined, reason }
  }
  for (const directory of await packageDirectories(frame.cwd)) {
    for (const name of names) {
      const path = join(directory, name)
      if (await isFile(path)) return { path }
    }
  }
  return { path: undefined, reason: 'there is no tally.config in the package' }
}

/**
 * Directories from the working directory up to its package; only itself outside of packages. One
 * that everybody may write to, such as `/tmp`, is no package.
 */
async function packageDirectories(cwd: string): Promise<readonly string[]> {
  const passed: string[] = []
  for (let directory = cwd; passed.length < limits.CONFIG_LEVELS_MAX; ) {
    passed.push(directory)
    if (await exists(join(directory, 'package.json'))) return passed
    const parent = dirname(directory)
    if (parent === directory || (await isOpen(parent))) break
    directory = parent
  }
  return [cwd]
}

const WRITABLE_BY_ALL = 0o002

async function isOpen(directory: string): Promise<boolean> {
  return ((await stat(directory)).mode & WRITABLE_BY_ALL) !== 0
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true
}

async function isInside(path: string, directory: string): Promise<boolean> {
  const real = async (one: string) => realpath(one).catch(() => resolve(one))
  const way = relative(await real(directory), await real(path))
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false
  )
}

/**
 * Loads the configuration: TypeScript and JavaScript by jiti, which hands them this very copy of
 * tallystick. Throws `cli.invalid_config`, and `cli.unsafe_config` for one that another user could
 * have written.
 */
export async function loadConfig(frame: Frame, path: string): Promise<TallyConfig> {
  const invalid = (problem: string, cause?: unknown) =>
    cliError('cli.invalid_config', { path, problem }, { cause })
  const problem = await writerProblem(path).catch(() => undefined)
  if (problem !== undefined) throw cliError('cli.unsafe_config', { path, problem })
  const loaded = await load(frame, path).catch((cause: unknown) => {
    if (cause instanceof TallyError && cause.code === 'cli.unreadable_file') throw cause
    throw invalid('it does not load', cause)
  })
  if (typeof loaded !== 'object' || loaded === null) throw invalid('it exports no configuration')
  const unknown = Object.keys(loaded).find((key) => !Object.hasOwn(keys, key))
  if (unknown !== undefined) throw invalid(`${unknown} is not known`)
  const { redactor }: TallyConfig = loaded
  if (redactor !== undefined) frame.redactor.include(redactor)
  return loaded
}

async function load(frame: Frame, path: string): Promise<unknown> {
  if (extname(path) === '.json') {
    const value = readDocument(await readInput(frame, path))
    return isJsonObject(value) ? value : undefined
  }
  const { createJiti } = await import('jiti')
  const tallystick = await import('../../index.js')
  const agent = await import('../../agent/index.js')
  const jiti = createJiti(import.meta.url, {
    // A cache in a shared temporary directory could be written to by another user.
    fsCache: false,
    virtualModules: { tallystick, 'tallystick/agent': agent }
  })
  return jiti.import(path, { default: true })
}
