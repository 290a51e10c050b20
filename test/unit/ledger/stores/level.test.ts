import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isTallyError } from '../../../../src/core/index.js'
import { openLevelStore } from '../../../../src/ledger/stores/level.js'
import { openError, writeError } from '../../../../src/ledger/stores/level-errors.js'

let directory: string
let path: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-level-'))
  path = join(directory, 'data-1')
})
afterEach(() => rm(directory, { recursive: true, force: true }))

async function created(entries: Readonly<Record<string, string>> = { a: '1' }): Promise<void> {
  const store = await openLevelStore({ path, create: true })
  const puts = Object.entries(entries).map(([key, value]) => [key, Buffer.from(value)] as const)
  await store.commit([{ puts, deletes: [] }])
  await store.close()
}

describe('openLevelStore', () => {
  it('L4: opening without create makes nothing', async () => {
    await expect(openLevelStore({ path, create: false })).rejects.toMatchObject({
      code: 'ledger.not_found'
    })
    await expect(access(path)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('L4: create refuses a directory that is not empty', async () => {
    await created()
    await expect(openLevelStore({ path, create: true })).rejects.toMatchObject({
      code: 'ledger.exists'
    })
    await rm(join(path, 'CURRENT'))
    await expect(openLevelStore({ path, create: true })).rejects.toMatchObject({
      code: 'ledger.exists'
    })
  })

  it('L4: a missing CURRENT is damage, and no file is deleted', async () => {
    await created()
    await rm(join(path, 'CURRENT'))
    const before = await readdir(path)
    await expect(openLevelStore({ path, create: false })).rejects.toMatchObject({
      code: 'ledger.corrupt'
    })
    expect(await readdir(path)).toEqual(before)
  })

  it('damaged CURRENT, missing manifest and a missing table are damage', async () => {
    const store = await openLevelStore({ path, create: true })
    await store.commit([{ puts: [['a', Buffer.from('1')]], deletes: [] }])
    await store.compact()
    await store.close()
    const current = await readFile(join(path, 'CURRENT'))
    const files = await readdir(path)
    const table = files.find((file) => file.endsWith('.ldb'))
    expect(table).toBeDefined()
    const kept = await readFile(join(path, table ?? ''))
    await rm(join(path, table ?? ''))
    await expect(openLevelStore({ path, create: false })).rejects.toMatchObject({
      code: 'ledger.corrupt'
    })
    await writeFile(join(path, table ?? ''), kept)
    await writeFile(join(path, 'CURRENT'), 'MANIFEST-9')
    await expect(openLevelStore({ path, create: false })).rejects.toMatchObject({
      code: 'ledger.corrupt'
    })
    await writeFile(join(path, 'CURRENT'), current)
    await rm(join(path, current.toString().trim()))
    await expect(openLevelStore({ path, create: false })).rejects.toMatchObject({
      code: 'ledger.corrupt'
    })
  })

  it('a path that is a file is refused', async () => {
    await writeFile(path, 'x')
    await expect(openLevelStore({ path, create: false })).rejects.toMatchObject({
      code: 'store.open_failed'
    })
    await mkdir(join(directory, 'empty'))
    await expect(
      openLevelStore({ path: join(directory, 'empty'), create: false })
    ).rejects.toMatchObject({ code: 'ledger.not_found' })
  })

  it('finds keys of every length and alphabet', async () => {
    const keys = ['k', 'é', '\u{1f600}', '\uffff'].flatMap((char) =>
      [1, 15, 16, 17, 21, 22, 33, 64, 100, 683, 1_365, 1_366, 2_000, 5_000].map((length) =>
        char.repeat(length)
      )
    )
    await created(Object.fromEntries(keys.map((key, at) => [key, String(at)])))
    const store = await openLevelStore({ path, create: false })
    for (const [at, key] of keys.entries()) {
      expect(store.get(key)?.toString(), `${key[0]} ${key.length}`).toBe(String(at))
      expect(store.get(`${key}${key[0]}!`)).toBeUndefined()
    }
    await store.close()
  })
})

describe('errors of LevelDB', () => {
  const said = (text: string) =>
    new Error('Database failed to open', { cause: new Error(`IO error: x: ${text}`) })

  it.each([
    ['No space left on device', 'the disk is full'],
    ['Disk quota exceeded', 'the disk is full'],
    ['Read-only file system', 'the file system is read-only'],
    ['Permission denied', 'permission denied'],
    ['Input/output error', 'IO error: x: Input/output error']
  ])('recognises %s by its text', (text, problem) => {
    const error = writeError('p', said(text))
    expect(error.code).toBe('store.write_failed')
    expect(error.context).toEqual({ path: 'p', problem })
    expect(error.cause).toBeInstanceOf(Error)
    expect(openError('p', said(text)).code).toBe('store.open_failed')
  })

  it('tells a held lock from other I/O errors', () => {
    const cause = Object.assign(new Error('IO error: lock'), { code: 'LEVEL_LOCKED' })
    expect(isTallyError(openError('p', new Error('x', { cause })), 'ledger.locked')).toBe(true)
  })
})
