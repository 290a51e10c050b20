import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './support/source.js'

interface Locked {
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly optional?: boolean
  readonly hasInstallScript?: boolean
  readonly integrity?: string
  readonly license?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
  readFileSync(join(root, 'package-lock.json'), 'utf8')
)
const installed = Object.entries(lock.packages).filter(
  ([path, { dev, devOptional }]) => path !== '' && dev !== true && devOptional !== true
)

/** What a user gets who installs the package (reliability: supply chain). */
describe('the installed package', () => {
  it('brings at most 40 packages, one with an install script, all with a known licence', () => {
    expect(installed.length).toBeGreaterThan(5)
    expect(installed.length).toBeLessThanOrEqual(40)
    const scripts = installed.filter(([, { hasInstallScript }]) => hasInstallScript === true)
    expect(scripts.map(([path]) => path)).toEqual(['node_modules/classic-level'])
    const known = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'PSF-2.0']
    const asked = installed
      .flatMap(([, { license = 'none' }]) => license.replace(/[()]/g, '').split(/ AND | OR /))
      .filter((license) => !known.includes(license))
    expect(asked).toEqual([])
  })

  it('has a checksum for every package of the lock file', () => {
    // Some registries lack development binaries for other platforms, so they have no checksum.
    const binaries = /^node_modules\/@(biomejs\/cli|foundry-rs\/anvil)-/
    const unchecked = Object.entries(lock.packages).filter(
      ([path, { integrity }]) => path !== '' && integrity === undefined && !binaries.test(path)
    )
    expect(unchecked.map(([path]) => path)).toEqual([])
  })

  it('locks the optional packages of every platform, without which "npm ci" refuses', () => {
    const missing = Object.values(lock.packages)
      .flatMap(({ optionalDependencies }) => Object.keys(optionalDependencies ?? {}))
      .filter((name) => !(`node_modules/${name}` in lock.packages))
    expect(missing).toEqual([])
  })

  it('packs compiled files, charts and documents, and nothing else', () => {
    const listed = execFileSync(
      'npm',
      ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=silent'],
      { cwd: root, encoding: 'utf8' }
    )
    const [{ files }] = JSON.parse(listed)
    const paths: readonly string[] = files.map((file: { readonly path: string }) => file.path)
    const expected = [
      /^dist\/(src|machines)\/.+\.(js|d\.ts)(\.map)?$/,
      /^dist\/src\/.+\.(html|css|json|wasm|md)$/,
      // The demonstration runs the first example.
      /^(dist\/)?examples\/01-invoices\/.+/,
      /^docs\/.+\.(md|json|svg)$/,
      /^(LICENSE|[A-Z]+\.md|package\.json)$/
    ]
    expect(paths.filter((path) => !expected.some((one) => one.test(path)))).toEqual([])
    expect(paths).toContain('LICENSE')
    expect(paths).toContain('dist/src/core/index.js')
  })
})
