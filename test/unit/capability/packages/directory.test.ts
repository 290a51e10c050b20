import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { packDirectory } from '../../../../src/capability/index.js'
import { sandboxOfFile } from '../guest.js'

const { sandbox } = sandboxOfFile()
const made: string[] = []

afterEach(async () => {
  for (const path of made.splice(0)) await rm(path, { recursive: true, force: true })
})

const manifest = { name: 'Notes', id: 'notes', intents: ['notes'], capabilities: ['storage.read'] }

/** A directory `outer/pack` with these files; names may lead out of it. */
async function directoryOf(files: Readonly<Record<string, string>>): Promise<string> {
  const outer = await mkdtemp(join(tmpdir(), 'tally-pack-'))
  made.push(outer)
  const directory = join(outer, 'pack')
  await mkdir(directory)
  const all = { 'manifest.json': JSON.stringify(manifest), ...files }
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), text)
  }
  return directory
}

async function pack(files: Readonly<Record<string, string>>) {
  const loaded = await packDirectory(await directoryOf(files))
  return loaded.ok ? loaded.package : loaded.refusals.map(({ code }) => code)
}

async function run(files: Readonly<Record<string, string>>) {
  const packed = await pack(files)
  if (!('codeHash' in packed)) throw new Error(packed.join())
  return sandbox.execute({
    package: packed,
    intent: {},
    granted: [],
    recorded: [],
    now: 0,
    seed: '',
    read: () => undefined
  })
}

describe('packDirectory', () => {
  it('bundles TypeScript of several files into one module that runs', async () => {
    const outcome = await run({
      'index.ts': `import { double } from './lib/double.js'
        import data from './data.json'
        export const run = async (intent: unknown): Promise<number> => double(data.n)`,
      'lib/double.ts': `import { two } from '../two'
        export function double(n: number): number { return n * two }`,
      'two.ts': 'export const two = 2',
      'data.json': '{"n": 21}'
    })
    expect(outcome).toMatchObject({ kind: 'done', resultText: '42' })
  })

  it('takes a packed module as it is', async () => {
    const bundle = 'export const run = () => 1 // as it is'
    const packed = await pack({ 'bundle.mjs': bundle, 'index.ts': 'syntax error' })
    expect(packed).toMatchObject({ bundle, manifest: { id: 'notes' } })
  })

  it('gives the same hash wherever the directory lies, and another for other code', async () => {
    const hash = async (text: string) => {
      const packed = await pack({ 'index.js': text })
      return 'codeHash' in packed ? packed.codeHash : packed
    }
    const one = 'export const run = () => 1'
    expect(await hash(one)).toBe(await hash(one))
    expect(await hash(one)).not.toBe(await hash('export const run = () => 2'))
  })

  it.each([
    `import '../outside.js'`,
    `import './../outside.js'`,
    `import './lib/../../outside.js'`,
    `import './%2e%2e/outside.js'`,
    `import './%252e%252e/outside.js'`,
    `import '..\\\\outside.js'`,
    `import '/outside.js'`,
    `import 'file:///outside.js'`,
    `import 'data:text/javascript,1'`,
    `import 'https://example.org/x.js'`,
    `import 'node:fs'`,
    `import 'fs'`,
    `import 'zod'`,
    `import '#inside'`,
    `import './x.js?y'`,
    `import './x\\0.js'`,
    `import 'C:/x.js'`,
    `require('fs')`,
    `import './linked.js'`,
    `import './linked/secret.js'`,
    `import './image.png'`,
    `await import('../outside.js')`
  ])('T17: refuses a module that says %s', async (line) => {
    const directory = await directoryOf({
      'index.js': `${line}; export const run = () => 1`,
      'image.png': '',
      'lib/x.js': '',
      '../outside.js': 'export const x = 1',
      '../folder/secret.js': 'export const x = 1'
    })
    await symlink('../outside.js', join(directory, 'linked.js'))
    await symlink('../folder', join(directory, 'linked'))
    const loaded = await packDirectory(directory)
    expect(loaded.ok ? loaded.package.bundle : loaded.refusals[0]?.code).toBe('bundle_failed')
  })

  it.each(['manifest.json', 'index.js', 'bundle.mjs'])(
    'T17: refuses %s when it is a link out of the package',
    async (name) => {
      const directory = await directoryOf({
        'index.js': 'export const run = () => 1',
        '../outside': name === 'manifest.json' ? JSON.stringify(manifest) : 'export const run = 1'
      })
      await rm(join(directory, name), { force: true })
      await symlink('../outside', join(directory, name))
      expect(await packDirectory(directory)).toMatchObject({
        ok: false,
        refusals: [{ code: 'path_outside' }]
      })
    }
  )

  it.each(['manifest.json', 'index.js', 'bundle.mjs', 'lib.js'])(
    'T17: waits for no pipe and reads no directory in the place of %s',
    async (name) => {
      const directory = await directoryOf({
        'index.js': `import './lib.js'; export const run = () => 1`,
        'lib.js': ''
      })
      const path = join(directory, name)
      await rm(path, { force: true })
      execFileSync('mkfifo', [path])
      const code = name === 'lib.js' ? 'bundle_failed' : 'unreadable'
      const refused = { ok: false, refusals: [{ code }] }
      expect(await packDirectory(directory)).toMatchObject(refused)
      await rm(path)
      await mkdir(path)
      expect(await packDirectory(directory)).toMatchObject(refused)
    }
  )

  it.each([
    ['package.json', 'package.json'],
    ['deep/package.json', 'deep/package.json'],
    ['tsconfig.json', 'tsconfig.json'],
    ['node_modules/other/package.json', 'node_modules/other/package.json'],
    ['../package.json', expect.stringMatching(/package\.json$/)]
  ])('T17: waits for no pipe where a bundler looks by itself: %s', async (name, told) => {
    const directory = await directoryOf({ 'index.js': 'export const run = () => 1' })
    const path = join(directory, name)
    await mkdir(dirname(path), { recursive: true })
    execFileSync('mkfifo', [path])
    const refusals = [{ code: 'unreadable', path: [told] }]
    expect(await packDirectory(directory)).toMatchObject({ ok: false, refusals })
  })

  it('T17: does not look behind a link out of the package, nor for packages around it', async () => {
    const outside = await directoryOf({ 'lib.js': 'export const n = 1' })
    await rm(join(outside, 'package.json'), { force: true })
    execFileSync('mkfifo', [join(outside, 'package.json')])
    for (const line of [`import './link/lib.js'`, `import 'linked'`, `import 'around'`]) {
      const directory = await directoryOf({ 'index.js': `${line}; export const run = () => 1` })
      await symlink(outside, join(directory, 'link'))
      await mkdir(join(directory, 'node_modules'))
      await symlink(outside, join(directory, 'node_modules', 'linked'))
      const refusals = [{ message: expect.stringContaining('is not part of the package') }]
      expect(await packDirectory(directory)).toMatchObject({ ok: false, refusals })
    }
  })

  it.each([
    ['manifest.json', 'missing_file'],
    ['index.js', 'missing_file'],
    ['lib.js', 'bundle_failed'],
    ['bundle.mjs', undefined],
    ['package.json', undefined]
  ])('T17: goes round in no circle of links at %s', async (name, code) => {
    const directory = await directoryOf({
      'index.js': `import './lib.js'; export const run = () => 1`,
      'lib.js': ''
    })
    const path = join(directory, name)
    await rm(path, { force: true })
    await symlink(`${name}.other`, path)
    await symlink(name, `${path}.other`)
    const packed = await packDirectory(directory)
    expect(packed.ok ? undefined : packed.refusals[0]?.code).toBe(code)
  })

  it('says why a package is refused', async () => {
    const run = 'export const run = () => 1'
    expect(await pack({})).toEqual(['missing_file'])
    expect(await pack({ 'manifest.json': '{', 'index.js': run })).toEqual(['malformed_json'])
    expect(await pack({ 'manifest.json': '{"a":1,"a":1}', 'index.js': run })).toEqual([
      'malformed_json'
    ])
    expect(await pack({ 'manifest.json': '{}', 'index.js': run })).toContain('invalid_manifest')
    expect(await pack({ 'manifest.json': ' '.repeat(300_000), 'index.js': run })).toEqual([
      'too_large'
    ])
    expect(await pack({ 'index.ts': 'export const = 1' })).toEqual(['bundle_failed'])
    expect(await packDirectory(join(tmpdir(), 'tally-no-such-directory'))).toMatchObject({
      refusals: [{ code: 'missing_file' }]
    })
  })
})
