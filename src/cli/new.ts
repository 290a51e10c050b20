import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cliError } from '../core/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { text } from './frame/text.js'

// From dist/src/cli to the package.
const packageRoot = new URL('../../../', import.meta.url)
const template = fileURLToPath(new URL('templates/service/', packageRoot))

/** Files that npm or the compiler would take for their own under their names. */
const renamed = [
  ['_package.json', 'package.json'],
  ['_gitignore', '.gitignore'],
  ['_dockerignore', '.dockerignore']
] as const

/** What npm takes as the name of a package. */
const packageName = /^[a-z\d][a-z\d._-]{0,213}$/

/** The name of a service, which is that of a package. Throws `cli.usage`. */
export function parseServiceName(name: string): string {
  if (packageName.test(name)) return name
  const problem = `${name} is no name of a package: use a-z, digits, "-", "_" and "."`
  throw cliError('cli.usage', { problem })
}

/** `tally new`: a directory with a service, its workflow, its test and what runs them. */
export async function newService(frame: Frame, name: string): Promise<ExitCode> {
  const { output } = frame
  const directory = resolve(frame.cwd, name)
  const named = parseServiceName(basename(directory))
  await mkdir(directory, { recursive: true })
  if ((await readdir(directory)).length > 0) {
    throw cliError('cli.directory_not_empty', { path: directory })
  }
  await cp(template, directory, { recursive: true, errorOnExist: true, force: false })
  for (const [from, to] of renamed) await rename(join(directory, from), join(directory, to))
  await nameIt(join(directory, 'package.json'), named)
  const files = (await readdir(directory, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
  output.document('new', { directory, files })
  output.line(text`${output.paint('green', 'created')} ${directory}`)
  for (const file of files) output.line(text`  ${file}`)
  output.line(text`next: cd ${name} && npm install && npm test && npm run dev`)
  return exitCodes.done
}

/** Names the service, and the version of this package that it was made with. */
async function nameIt(path: string, name: string): Promise<void> {
  const { version }: Manifest = JSON.parse(
    await readFile(new URL('package.json', packageRoot), 'utf8')
  )
  const manifest: Manifest = JSON.parse(await readFile(path, 'utf8'))
  const dependencies = { ...manifest.dependencies, tallystick: `^${version}` }
  await writeFile(path, `${JSON.stringify({ ...manifest, name, dependencies }, null, 2)}\n`)
}

interface Manifest {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
}
