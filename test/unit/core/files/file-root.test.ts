import { mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FileRoot } from '../../../../src/core/files/file-root.js'
import { liesAt, readRegularFile } from '../../../../src/core/files/regular-file.js'
import { limits, present } from '../../../../src/core/index.js'
import {
  CANARY,
  type HostileWorld,
  hostilePaths,
  hostileWorld
} from '../../../support/hostile-files.js'

let world: HostileWorld
beforeAll(async () => {
  world = await hostileWorld()
})
afterAll(() => rm(world.folder, { recursive: true, force: true }))

async function opened(directory = world.root): Promise<FileRoot> {
  const options = { closed: [world.closed, join(world.folder, 'absent')], ignoreFiles: true }
  const root = await FileRoot.open(directory, options)
  return present(root.ok ? root.root : undefined, 'the root opens')
}

describe('FileRoot', () => {
  it('F1, F2, F3: no spelling, link, special file or private name is read', async () => {
    const found: (readonly [string, string])[] = []
    for (const [path] of hostilePaths(world)) {
      const read = await (await opened()).readText(path, { bytesMax: 1_000 })
      found.push([path, read.ok ? read.text : read.problem])
    }
    expect(found).toEqual(hostilePaths(world))
  })

  it('F2: lists only what may be read, and links as what they lead to', async () => {
    const root = await opened()
    const files = await root.filesBelow('.', { filesMax: 100 })
    // What is in it is seen when it is read.
    expect(files).toEqual({ ok: true, names: ['docs/good.md', 'docs/notes.md'] })
    expect(await root.names('docs')).toEqual({ ok: true, names: ['good.md', 'notes.md'] })
    expect(await root.names('./')).toEqual({ ok: true, names: ['docs/'] })
    await symlink('good.md', join(world.root, 'docs', 'again.md'))
    expect(await root.names('docs')).toMatchObject({ names: ['again.md', 'good.md', 'notes.md'] })
    expect(await root.readText('docs/again.md', { bytesMax: 4 })).toMatchObject({ text: 'good' })
  })

  it('F2: a root inside of a ledger or of what is closed reads nothing', async () => {
    for (const inner of [join(world.ledger, 'keys'), world.ledger]) {
      const read = await (await opened(inner)).filesBelow('.', { filesMax: 9 })
      expect(read).toMatchObject({ ok: false, problem: 'closed' })
    }
    const root = await FileRoot.open(join(world.root, 'docs'), { closed: [world.root] })
    const read = root.ok ? await root.root.readText('good.md', { bytesMax: 9 }) : root
    expect(read).toMatchObject({ ok: false, problem: 'closed' })
  })

  it('F2: ignore files above the root count up to the top of the repository', async () => {
    await mkdir(join(world.root, 'area', '.git'), { recursive: true })
    await mkdir(join(world.root, 'area', 'part'))
    await writeFile(join(world.root, 'area', '.gitignore'), '*.txt\n!kept.txt\n')
    for (const name of ['a.txt', 'kept.txt', 'draft.md']) {
      await writeFile(join(world.root, 'area', 'part', name), name)
    }
    const root = await opened(join(world.root, 'area', 'part'))
    expect(await root.names('.')).toEqual({ ok: true, names: ['draft.md', 'kept.txt'] })
  })

  it('F2: an ignore file that cannot be read or costs too much keeps all below it closed', async () => {
    const directory = join(world.folder, 'odd')
    await mkdir(join(directory, 'inner'), { recursive: true })
    await writeFile(join(directory, 'inner', 'a'.repeat(200)), 'text')
    await writeFile(join(directory, '.gitignore'), 'a'.repeat(limits.IGNORE_FILE_BYTES_MAX + 1))
    const names = async () => (await opened(directory)).names('inner')
    expect(await names()).toMatchObject({ problem: 'ignore_file_unreadable' })
    const costly = `*${'a'.repeat(100)}b`
    const lines = Array.from({ length: 200 }, () => costly)
    await writeFile(join(directory, '.gitignore'), lines.join('\n'))
    expect(await names()).toMatchObject({ ok: true })
    const files = Array.from({ length: 20 }, (_, index) => `${'a'.repeat(200)}${index}`)
    for (const name of files) await writeFile(join(directory, 'inner', name), '')
    expect(await names()).toMatchObject({ problem: 'ignore_rules_too_costly' })
  })

  it('F3: bounds bytes, files, entries and levels', async () => {
    const root = await opened()
    expect(await root.readText('docs/good.md', { bytesMax: 3 })).toMatchObject({
      problem: 'too_many_bytes'
    })
    expect(await root.filesBelow('docs', { filesMax: 1 })).toMatchObject({
      problem: 'too_many_files'
    })
    const deep = join(world.folder, 'deep')
    await mkdir(join(deep, ...Array.from({ length: limits.FILE_LEVELS_MAX + 1 }, () => 'd')), {
      recursive: true
    })
    expect(await (await opened(deep)).filesBelow('.', { filesMax: 1 })).toMatchObject({
      problem: 'too_many_levels'
    })
    // Files of the kernel say that they are empty.
    expect(await readRegularFile('/proc/self/environ', { bytesMax: 1 })).toEqual({
      ok: false,
      problem: 'too_many_bytes'
    })
  })

  it('F1: a directory that was exchanged for a link after the check is found out', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tally-exchanged-'))
    await mkdir(join(folder, 'docs'))
    await mkdir(join(folder, 'outside'))
    const path = join(folder, 'docs', 'a.md')
    await writeFile(path, 'good')
    await writeFile(join(folder, 'outside', 'a.md'), CANARY)
    await rename(join(folder, 'docs'), join(folder, 'kept'))
    await symlink('outside', join(folder, 'docs'))
    // The path was checked before; now it is a link.
    expect(await readFile(path, 'utf8')).toBe(CANARY)
    const moved = { ok: false, problem: 'moved' }
    expect(await readRegularFile(path, { bytesMax: 99, isReal: true })).toEqual(moved)
    await rm(folder, { recursive: true })
  })

  it('F1: a directory that is put back after the file was opened is found out', async () => {
    const here = join(world.root, 'docs', 'good.md')
    const elsewhere = join(world.folder, 'outside', 'secret.md')
    expect(await liesAt(here, await stat(here, { bigint: true }))).toBe(true)
    expect(await liesAt(here, await stat(elsewhere, { bigint: true }))).toBe(false)
  })

  it('F1: gives nothing from outside while directories are exchanged all the time', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tally-exchanging-'))
    for (const name of ['root/docs', 'outside'])
      await mkdir(join(folder, name), { recursive: true })
    await writeFile(join(folder, 'root/docs/a.md'), 'good')
    await writeFile(join(folder, 'outside/a.md'), CANARY)
    await symlink('../outside', join(folder, 'root/link'))
    const docs = join(folder, 'root/docs')
    let isDone = false
    const exchanging = (async () => {
      while (!isDone) {
        await rename(docs, join(folder, 'root/real'))
        await rename(join(folder, 'root/link'), docs)
        await rename(docs, join(folder, 'root/link'))
        await rename(join(folder, 'root/real'), docs)
      }
    })()
    const texts = new Set<string>()
    for (let count = 0; count < 200; count += 1) {
      const root = await opened(join(folder, 'root'))
      const read = await root.readText('docs/a.md', { bytesMax: 99 })
      texts.add(read.ok ? read.text : read.problem)
    }
    isDone = true
    await exchanging
    expect(texts).not.toContain(CANARY)
    await rm(folder, { recursive: true })
  })
})
