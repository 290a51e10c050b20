import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
// @ts-expect-error: a script, without types.
import { addressesOf } from '../scripts/addresses.mjs'
import { isLong } from './support/effort.js'
import { loadedBy } from './support/loaded.js'
import { type PackedPackage, packPackage, runIn } from './support/packed-package.js'
import { root } from './support/source.js'

/** Licences that ask for no more than to be named beside the code; OFL is that of fonts. */
const knownLicences = [
  ...['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'PSF-2.0'],
  'OFL-1.1'
]
const unknownIn = (expression: string) =>
  expression
    .replace(/[()]/g, '')
    .split(/ AND | OR /)
    .filter((licence) => !knownLicences.includes(licence))

interface Locked {
  /** Where its folder has another. */
  readonly name?: string
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly optional?: boolean
  readonly hasInstallScript?: boolean
  readonly integrity?: string
  readonly license?: string
  readonly version?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
  readFileSync(join(root, 'package-lock.json'), 'utf8')
)
/** Versions of optional packages that `scripts/peers.mjs` runs tests with, beside the installed. */
const peerEnds: Readonly<Record<string, { readonly packages: Readonly<Record<string, string>> }>> =
  JSON.parse(readFileSync(join(root, 'test', 'peers', 'ends.json'), 'utf8'))
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
    const asked = installed.flatMap(([, { license = 'none' }]) => unknownIn(license))
    expect(asked).toEqual([])
  })

  it('has a checksum for every package of the lock file', () => {
    // Some registries lack development binaries for other platforms, so they have no checksum.
    const binaries = /^node_modules\/@(biomejs\/cli|foundry-rs\/anvil)-|^node_modules\/litesvm-/
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
})

describe('the addresses of the package', () => {
  const of = addressesOf as (remote: string) => { readonly homepage: string } | undefined

  it.each([
    'https://git.example.org/team/tallystick.git',
    'https://git.example.org/team/tallystick/',
    'https://name:secret@git.example.org/team/tallystick.git',
    'ssh://git@git.example.org:2222/team/tallystick.git',
    'git@git.example.org:team/tallystick.git',
    'git+ssh://git@git.example.org/team/tallystick'
  ])('are those of the repository, without what logs in: %s', (remote) => {
    const address = 'https://git.example.org/team/tallystick'
    expect(of(remote)).toEqual({
      repository: { type: 'git', url: `git+${address}.git` },
      homepage: address,
      bugs: { url: `${address}/issues` }
    })
  })

  it.each([
    ...['', '/tallystick', '../tallystick', 'file:///tallystick', 'C:\\tallystick'],
    ...['https://localhost/team/tallystick', 'http://127.0.0.1:3000/team/tallystick'],
    ...['git@build-host:team/tallystick.git', 'https://example.org', 'https://example.org/a b/c']
  ])('are not known from what is no public address: %s', (remote) => {
    expect(of(remote)).toBeUndefined()
  })
})

describe('the packed files', () => {
  let packed: PackedPackage
  const named = (ending: string) => packed.paths.filter((path) => path.endsWith(ending))
  const importsOf = (path: string) =>
    [
      ...packed
        .text(path)
        .matchAll(
          /^(?:import|export)\b[^'"]*?\bfrom ['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm
        )
    ].map((match) => match[1] ?? match[2] ?? '')

  beforeAll(() => {
    packed = packPackage()
    return packed.remove
  })

  it('are compiled files, charts, documents, a template and the bill of materials', () => {
    const expected = [
      /^dist\/(src|machines)\/.+(\.js|\.d\.ts)$/,
      /^dist\/bundle\/[\w-]+\.js$/,
      // The console's page, bundled.
      /^dist\/src\/console\/page\/(index\.html|app\.css|licences\.txt|fonts\/[\w-]+\.woff2)$/,
      // The demonstration runs the first example.
      /^dist\/examples\/01-invoices\/\w[\w.-]*\.js$/,
      /^examples\/01-invoices\/\w[\w.-]*\.(ts|csv|yaml|md)$/,
      /^templates\/service\/(\w[\w.]*|(src|test)\/\w[\w.]*\.ts)$/,
      /^docs\/(.+\.(md|json|svg)|llms\.txt)$/,
      /^(LICENSE|[A-Z]+\.md|package\.json|dist\/sbom\.cdx\.json)$/
    ]
    expect(packed.paths.filter((path) => !expected.some((one) => one.test(path)))).toEqual([])
    expect(packed.paths).toContain('LICENSE')
    expect(packed.paths).toContain('docs/tour.md')
    expect(packed.paths).toContain('dist/src/core/index.js')
  })

  it('are all reached from an entry point', () => {
    const code = [...named('.js'), ...named('.d.ts')].filter((path) => path.startsWith('dist/src/'))
    expect(code.length).toBeGreaterThan(500)
    const entries = [
      ...Object.values<{ types?: string; default?: string } | string>(packed.manifest.exports),
      ...Object.values<string>(packed.manifest.bin)
    ].flatMap((target) => (typeof target === 'string' ? [target] : Object.values(target)))
    // The script of the page is loaded by the browser.
    const served = './dist/src/console/page/app.js'
    const reached = new Set([...entries, served].map((target) => target.replace('./', '')))
    const bundled = named('.js').filter((path) => path.startsWith('dist/bundle/'))
    for (const from of [...code, ...bundled]) {
      const loads = [...packed.text(from).matchAll(/\bnew URL\(\s*['"](\.[^'"]+)['"]/g)]
      for (const specifier of [...importsOf(from), ...loads.map(([, path]) => path ?? '')]) {
        const target = join(dirname(from), specifier).replaceAll('\\', '/')
        reached.add(from.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target)
      }
    }
    expect(code.filter((path) => !reached.has(path))).toEqual([])
  })

  it('are bundled: the library is read from few files, and its entries name the same things', async () => {
    expect(packed.text('dist/src/index.js')).toBe('export * from "../bundle/src-index.js"\n')
    const application = packed.installWith(Object.keys(packed.manifest.dependencies))
    const said = runIn(application, [
      '--input-type=module',
      '-e',
      "console.log(Object.keys(await import('tallystick')).sort().join(' '))"
    ])
    expect(said.trim().split(' ')).toEqual(Object.keys(await import('../src/index.js')).sort())
    const { modules } = loadedBy([
      '-e',
      `import(${JSON.stringify(pathToFileURL(packed.path('dist/src/index.js')).href)})`
    ])
    expect(modules).toBeLessThanOrEqual(FILES_OF_IMPORT_MAX)
  })

  it('bring little to the bundle of who defines a block: no texts or limits of other rooms', async () => {
    const application = packed.installWith(Object.keys(packed.manifest.dependencies))
    const own = [
      "import { defineBlock } from 'tallystick'",
      "export default defineBlock({ name: 'own', version: '1.0.0', run: () => null })"
    ]
    const optional = Object.keys(packed.manifest.peerDependencies)
    const { outputFiles } = await build({
      stdin: { contents: own.join('\n'), resolveDir: application },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      external: optional.flatMap((name) => [name, `${name}/*`]),
      write: false
    })
    const [bundle] = outputFiles
    expect(bundle?.text).toContain('block.invalid_definition')
    expect(bundle?.text).not.toMatch(/ledger\.locked|runtime\.closed|CONSOLE_CONNECTIONS_MAX/)
    expect(bundle?.contents.length).toBeLessThanOrEqual(BYTES_OF_BLOCK_MAX)
  })

  it('have no maps and name none, since their sources are not packed', () => {
    expect(named('.map')).toEqual([])
    expect(named('.js').filter((path) => packed.text(path).includes('sourceMappingURL'))).toEqual(
      []
    )
  })

  it('import only packed files, parts of Node and declared dependencies', () => {
    const declared = Object.keys({
      [packed.manifest.name]: packed.manifest.version,
      ...packed.manifest.dependencies,
      ...packed.manifest.peerDependencies
    })
    const missing = [...named('.js'), ...named('.d.ts')].flatMap((path) =>
      importsOf(path)
        .filter((specifier) => {
          if (specifier.startsWith('node:')) return !builtinModules.includes(specifier.slice(5))
          if (!specifier.startsWith('.')) {
            return !declared.some((name) => specifier === name || specifier.startsWith(`${name}/`))
          }
          const target = join(dirname(path), specifier).replaceAll('\\', '/')
          const wanted = path.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target
          return !packed.paths.includes(wanted)
        })
        .map((specifier) => `${path}: ${specifier}`)
    )
    expect(missing).toEqual([])
  })

  it('have types that need no optional package, but those of viem for its entry point', () => {
    const optional = Object.keys(packed.manifest.peerDependencies)
    const needing = named('.d.ts').flatMap((path) =>
      importsOf(path)
        .filter((specifier) =>
          optional.some((name) => specifier === name || specifier.startsWith(`${name}/`))
        )
        .map((specifier) => `${path}: ${specifier}`)
    )
    const ofEvm = (one: string) => /^dist\/src\/executor\/evm\/.+: viem/.test(one)
    expect(needing.filter((one) => !ofEvm(one))).toEqual([])
    // Only those have them who compile for browsers.
    const browsers = named('.d.ts').filter((path) => /\bWebAssembly\./.test(packed.text(path)))
    expect(browsers).toEqual([])
  })

  it('leave a checkout as built once they are packed: what is removed is compiled again', () => {
    const { scripts } = packed.manifest
    expect(scripts['prepack']).toContain('scripts/pack.mjs')
    expect(scripts['postpack']).toBe('node scripts/addresses.mjs && npm run --silent build')
  })

  it('say where they are kept, which the checkout does not once they are packed', () => {
    const { repository, homepage, bugs } = packed.manifest
    const address = 'https://github.com/example/tallystick'
    expect(repository).toEqual({ type: 'git', url: `git+${address}.git` })
    expect({ homepage, bugs }).toEqual({ homepage: address, bugs: { url: `${address}/issues` } })
    expect(packed.manifestBefore()).toBe(readFileSync(join(root, 'package.json'), 'utf8'))
  })

  it('go with optional packages of a range, each end of which has tests', () => {
    const { peerDependencies, devDependencies } = packed.manifest
    const tested = [devDependencies, ...Object.values(peerEnds).map(({ packages }) => packages)]
    for (const [name, range] of Object.entries(peerDependencies)) {
      const versions = tested.flatMap((one) => one[name] ?? [])
      const [lowest = '', below] = range.match(/\d+\.\d+\.\d+/g) ?? []
      expect.soft(versions, name).toContain(lowest)
      const [first, last] = [Number.parseInt(lowest, 10), Number.parseInt(below ?? '0', 10) - 1]
      for (let major = first; major <= last; major += 1) {
        const found = versions.filter((version) => version.startsWith(`${major}.`))
        expect.soft(found, `${name} ${major}`).not.toEqual([])
      }
    }
  })

  it('run nothing when the package is installed', () => {
    const atInstall = ['preinstall', 'install', 'postinstall', 'prepare']
    expect(Object.keys(packed.manifest.scripts).filter((name) => atInstall.includes(name))).toEqual(
      []
    )
    expect(packed.paths.filter((path) => path.endsWith('.gyp'))).toEqual([])
  })

  it('name in the bill of materials what is installed and bundled, with checksums', () => {
    const bill: BillOfMaterials = JSON.parse(packed.text('dist/sbom.cdx.json'))
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5' })
    expect(bill.serialNumber).toMatch(/^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab]/)
    const locked = installed.map(([path, { name, version }]) => {
      return `${name ?? path.replace('node_modules/', '')}@${version}`
    })
    const bundled = [...packed.text(LICENCES).matchAll(/^(\S+) (\S+), \S+$/gm)].map(
      ([, name, version]) => `${name}@${version}`
    )
    expect(bundled.length).toBeGreaterThan(3)
    const all = [...new Set([...locked, ...bundled])].sort()
    expect(bill.components.map((component) => component['bom-ref']).sort()).toEqual(all)
    expect(packed.text('dist/sbom.cdx.json')).not.toContain('development')
    for (const { hashes, licenses, purl } of bill.components) {
      expect(hashes, purl).toHaveLength(1)
      const asked = licenses.map(({ license, expression }) => license?.id ?? expression ?? 'none')
      expect(asked, purl).not.toEqual([])
      expect(asked.flatMap(unknownIn), purl).toEqual([])
    }
    const refs = new Set([...all, `${packed.manifest.name}@${packed.manifest.version}`])
    expect(new Set(bill.dependencies.map(({ ref }) => ref))).toEqual(refs)
  })

  it('have the same bill of materials whenever they are packed', () => {
    expect(packed.billAgain()).toBe(packed.text('dist/sbom.cdx.json'))
  })

  it('run with nothing installed but what the bill of materials names', () => {
    const bill: BillOfMaterials = JSON.parse(packed.text('dist/sbom.cdx.json'))
    const folders = Object.entries(packed.manifest.dependencies)
    const folderOf = (name: string) =>
      folders.find(([, version]) => version.startsWith(`npm:${name}@`))?.[0] ?? name
    const application = packed.installWith(bill.components.map(({ name }) => folderOf(name)))
    const main = join(application, 'node_modules/tallystick/dist/src/cli/main.js')
    const ledger = join(application, 'ledger')
    runIn(application, [main, 'init', '--dir', ledger, '--insecure-plaintext-key'])
    const example = join(application, 'node_modules/tallystick/examples/01-invoices')
    const ran = runIn(application, [
      main,
      ...['run', join(example, 'pay-invoices.yaml'), '--id', 'june', '--dir', ledger, '--json'],
      ...['--config', join(example, '../../dist/examples/01-invoices/tally.config.js')],
      ...[
        '--inputs',
        JSON.stringify({ path: join(example, 'invoices.csv'), confirm_above: '1000000.00' })
      ]
    ])
    expect(ran).toContain('june')
    const specifiers = Object.keys(packed.manifest.exports).map((entry) =>
      entry.replace('.', 'tallystick')
    )
    // The usual form loads all of them in one process.
    for (const together of isLong ? specifiers.map((one) => [one]) : [specifiers]) {
      const program = together.map((specifier) => {
        const options = specifier.endsWith('.json') ? ", { with: { type: 'json' } }" : ''
        return `await import('${specifier}'${options}); console.log('${specifier}')`
      })
      const said = runIn(application, ['--input-type=module', '-e', program.join('\n')])
      expect(said.trim().split('\n')).toEqual(together)
    }
  })
})

/** What a bundle of one block and what defines it has at most. */
const BYTES_OF_BLOCK_MAX = 40_000

/** Of the bundle and of the libraries that are imported with it. */
const FILES_OF_IMPORT_MAX = 12

/** The page brings the licences of what it is bundled from. */
const LICENCES = 'dist/src/console/page/licences.txt'

interface BillOfMaterials {
  readonly serialNumber: string
  readonly components: readonly {
    readonly 'bom-ref': string
    readonly name: string
    readonly purl: string
    readonly hashes: readonly unknown[]
    readonly licenses: readonly {
      readonly license?: { readonly id: string }
      readonly expression?: string
    }[]
  }[]
  readonly dependencies: readonly { readonly ref: string }[]
}
