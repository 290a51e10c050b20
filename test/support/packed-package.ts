import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
// @ts-expect-error: a script, without types.
import { removeAddresses } from '../../scripts/addresses.mjs'
import { root } from './source.js'

/** What `npm publish` would send, packed from a copy of the compiled files and unpacked again. */
export interface PackedPackage {
  readonly manifest: {
    readonly name: string
    readonly version: string
    readonly repository?: unknown
    readonly homepage?: unknown
    readonly bugs?: unknown
    readonly bin: Readonly<Record<string, string>>
    readonly scripts: Readonly<Record<string, string>>
    readonly dependencies: Readonly<Record<string, string>>
    readonly devDependencies: Readonly<Record<string, string>>
    readonly peerDependencies: Readonly<Record<string, string>>
    readonly exports: Readonly<
      Record<string, string | { readonly types?: string; readonly default?: string }>
    >
  }
  /** Paths of all files, from the root of the package, with `/`. */
  readonly paths: readonly string[]
  text(path: string): string
  /** Where a file of it lies. */
  path(path: string): string
  /** Prepares the copy once more, and gives the bill of materials of that. */
  billAgain(): string
  /** What `package.json` of the copy holds once what packing has added is put back. */
  manifestBefore(): string
  /** Directory of an application that has the package and those dependencies, and no others. */
  installWith(dependencies: readonly string[]): string
  readonly remove: () => void
}

/** Where the copy says that it comes from, as a clone does. */
export const packedOrigin = 'git@github.com:example/tallystick.git'

export function packPackage(): PackedPackage {
  const directory = mkdtempSync(join(tmpdir(), 'tally-packed-'))
  const copy = join(directory, 'copy')
  const application = join(directory, 'application')
  const unpacked = join(application, 'node_modules', 'tallystick')
  const source = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const bill = 'dist/sbom.cdx.json'
  // Made when it is packed, or left out then.
  const isCopied = (path: string) => ![bill, 'dist/bundle'].includes(path) && !path.startsWith('!')
  const wanted: readonly string[] = source.files.filter(isCopied)
  for (const path of [...wanted, 'package.json', 'package-lock.json']) {
    cpSync(join(root, path), join(copy, path), { recursive: true })
  }
  execFileSync('git', ['init', '--quiet', copy])
  execFileSync('git', ['-C', copy, 'remote', 'add', 'origin', packedOrigin])
  const prepare = () => runIn(copy, [join(root, 'scripts', 'pack.mjs'), copy])
  prepare()
  // Its own preparation would compile again.
  const options = ['--ignore-scripts', '--loglevel=silent', '--pack-destination', directory]
  const name = execFileSync('npm', ['pack', ...options], { cwd: copy, encoding: 'utf8' }).trim()
  mkdirSync(unpacked, { recursive: true })
  execFileSync('tar', ['-xzf', join(directory, name), '--strip-components=1', '-C', unpacked])
  const text = (path: string) => readFileSync(join(unpacked, path), 'utf8')
  const files = readdirSync(unpacked, { recursive: true, withFileTypes: true })
  return {
    manifest: JSON.parse(text('package.json')),
    paths: files
      .filter((entry) => entry.isFile())
      .map((entry) => relative(unpacked, join(entry.parentPath, entry.name)).replaceAll('\\', '/')),
    text,
    path: (path) => join(unpacked, path),
    billAgain: () => {
      prepare()
      return readFileSync(join(copy, bill), 'utf8')
    },
    manifestBefore: () => {
      ;(removeAddresses as (root: string) => void)(copy)
      return readFileSync(join(copy, 'package.json'), 'utf8')
    },
    installWith: (dependencies) => {
      for (const dependency of dependencies) {
        const link = join(application, 'node_modules', dependency)
        mkdirSync(dirname(link), { recursive: true })
        if (existsSync(link)) continue
        symlinkSync(join(root, 'node_modules', dependency), link)
      }
      return application
    },
    remove: () => rmSync(directory, { recursive: true, force: true })
  }
}

/** Runs Node there, without what this process was given in its environment for tests. */
export function runIn(directory: string, args: readonly string[]): string {
  const { NODE_OPTIONS: _options, NODE_PATH: _path, ...environment } = process.env
  return execFileSync(process.execPath, args, {
    cwd: directory,
    env: environment,
    encoding: 'utf8'
  })
}
