/**
 * Prepares the compiled files of a directory, this one by default, for `npm pack`: removes what no
 * entry point reaches, bundles the code, writes the bill of materials (CycloneDX) of what an
 * install brings, and the addresses of the package.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { addAddresses } from './addresses.mjs'
import { root as here } from './built.mjs'
import { bundleFolder, bundlePackage } from './bundle.mjs'
import { bundledInPage, pageFolder } from './bundled.mjs'
import { givenWords } from './words.mjs'

const [directory = here] = givenWords(
  'scripts/pack.mjs [DIRECTORY]',
  (words) => words.length < 2 && words.every(existsSync)
)
const root = resolve(directory)
const packed = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
/** What the demonstration loads by its path, and the script that the console serves. */
const loadedByPath = ['dist/examples/01-invoices/tally.config.js', 'dist/src/console/page/app.js']

removeUnused()
// What was bundled before stands in the place of its own entries.
if (!existsSync(join(root, bundleFolder))) await bundlePackage(root, entriesOf('default'))
giveZodToExample()
if (!addAddresses(root)) {
  process.stderr.write(
    'It is packed without repository, homepage and bugs: origin is no address.\n'
  )
}
// The next build writes all files anew.
rmSync(join(root, 'dist/.tsbuildinfo'), { force: true })
writeFileSync(join(root, 'dist/sbom.cdx.json'), `${JSON.stringify(billOfMaterials(), null, 2)}\n`)

/** What programs import or start, from the root; of code, what is loaded by its path, too. */
function entriesOf(kind) {
  const exported = Object.values(packed.exports).flatMap((entry) => entry[kind] ?? [])
  const started = kind === 'default' ? [...Object.values(packed.bin), ...loadedByPath] : []
  return [...new Set([...exported, ...started].map((path) => path.replace('./', '')))]
}

/** The demonstration runs where its user has no zod, which is an optional peer. */
function giveZodToExample() {
  const folder = join(root, 'dist/examples/01-invoices')
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.js'))) {
    const file = join(folder, name)
    writeFileSync(file, readFileSync(file, 'utf8').replace("from 'zod'", "from 'zod-pinned'"))
  }
}

function removeUnused() {
  const used = new Set([
    ...reached(entriesOf('default'), '.js'),
    ...reached(entriesOf('types'), '.d.ts')
  ])
  for (const folder of ['dist/src', 'dist/machines', 'dist/examples/01-invoices']) {
    for (const name of readdirSync(join(root, folder), { recursive: true })) {
      const file = join(root, folder, name)
      if (/\.(js|d\.ts)$/.test(name) && !used.has(file)) rmSync(file)
    }
  }
}

/** The files which the entries import, and those which these import, with the given ending. */
function reached(entries, ending) {
  const found = new Set()
  const open = entries.map((entry) => join(root, entry))
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file) || !file.endsWith(ending) || !existsSync(file)) continue
    found.add(file)
    const imports = /\b(?:from|import|new URL)\s*\(?\s*(['"])(\.[^'"]+)\1/g
    for (const [, , specifier] of readFileSync(file, 'utf8').matchAll(imports)) {
      open.push(resolve(dirname(file), specifier.replace(/\.js$/, ending)))
    }
  }
  return found
}

/**
 * npm's own bill from the lock file, reduced to what an install brings and what is bundled, since
 * `--omit dev` of npm
 * leaves out what a tool of development needs too. The same lock file gives the same bytes.
 */
function billOfMaterials() {
  const written = execFileSync(
    'npm',
    ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--loglevel=silent'],
    {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      shell: process.platform === 'win32'
    }
  )
  const { metadata, components, dependencies, serialNumber: _random, ...rest } = JSON.parse(written)
  const { timestamp: _now, tools: _versions, ...about } = metadata
  const self = about.component['bom-ref']
  const needs = new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]))
  const named = new Set(Object.entries(packed.dependencies).map(packageOf))
  needs.set(
    self,
    needs.get(self).filter((ref) => named.has(ref))
  )
  const brought = new Set([self])
  for (const ref of brought) for (const next of needs.get(ref) ?? []) brought.add(next)
  const inPage = components.filter(({ name }) => bundledInPage.includes(name))
  if (inPage.length !== bundledInPage.length) throw new Error('the lock file lacks what is bundled')
  // What an install brings besides is named once.
  const bundled = inPage.filter((component) => !brought.has(component['bom-ref']))
  const inOrder = (one, other) => (one < other ? -1 : 1)
  const bill = {
    ...rest,
    metadata: { ...about, component: { ...about.component, name: packed.name } },
    components: components
      .filter((component) => brought.has(component['bom-ref']))
      .map(asBrought)
      .concat(bundled.map(inBundle))
      .sort((one, other) => inOrder(one['bom-ref'], other['bom-ref'])),
    dependencies: [...brought, ...bundled.map((component) => component['bom-ref'])]
      .sort(inOrder)
      .map((ref) => ({ ref, dependsOn: [...(needs.get(ref) ?? [])].sort(inOrder) }))
  }
  const { $schema, bomFormat, specVersion, ...contents } = bill
  return { $schema, bomFormat, specVersion, serialNumber: uuidOf(contents), ...contents }
}

/** What a dependency installs, also where it has another name than its package. */
function packageOf([name, version]) {
  return version.startsWith('npm:') ? version.slice('npm:'.length) : `${name}@${version}`
}

/** What is brought under another name may be a tool of development under its own. */
function asBrought({ properties = [], ...component }) {
  const kept = properties.filter(({ name }) => name !== 'cdx:npm:package:development')
  return kept.length === 0 ? component : { ...component, properties: kept }
}

/** A tool of development no more: its code is in the package. */
function inBundle({ properties: _properties, ...component }) {
  return { ...component, properties: [{ name: 'tallystick:bundled-in', value: pageFolder }] }
}

/** A version 8 UUID (RFC 9562) from the contents, where npm takes a random one. */
function uuidOf(contents) {
  const bytes = createHash('sha256').update(JSON.stringify(contents)).digest().subarray(0, 16)
  bytes[6] = (bytes[6] & 0x0f) | 0x80
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  const hex = bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return `urn:uuid:${hex}`
}
