import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isTallyError } from '../../../../src/core/index.js'
import { openLevelStore } from '../../../../src/ledger/stores/level.js'
import { openError, writeError } from '../../../../src/ledger/stores/level-errors.js'
import type { StoreItem } from '../../../../src/ledger/stores/port.js'

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

describe('commits at once', () => {
  afterEach(() => void vi.restoreAllMocks())

  const IDENTITIES = 64
  const bytes = (text: string) => Buffer.from(text)
  /** The next link of an identity, on the head that it has. */
  function link(identity: number, from: number): readonly StoreItem[] {
    const key = `i${identity}/head`
    const value = from === 0 ? undefined : bytes(String(from))
    const puts = [
      [`i${identity}/${from}`, bytes('link')],
      [key, bytes(String(from + 1))]
    ] as const
    return [{ condition: { key, value }, puts, deletes: [] }]
  }
  const all = Array.from({ length: IDENTITIES }, (_, at) => at)

  it('S1: of many identities share a batch, and so a sync', async () => {
    const store = await openLevelStore({ path, create: true })
    const batches = vi.spyOn(Level.prototype, 'batch')
    const results = await Promise.all(all.map((at) => store.commit(link(at, 0))))
    expect(results.flat()).toEqual(all.map(() => true))
    // The first finds nothing under way and does not wait for others.
    expect(batches).toHaveBeenCalledTimes(2)
    const chains = all.map(async (at) => {
      for (let from = 1; from <= 10; from += 1) await store.commit(link(at, from))
    })
    await Promise.all(chains)
    expect(batches.mock.calls.length).toBeLessThanOrEqual(2 + 2 * 10 + 2)
    for (const at of all) expect(store.get(`i${at}/head`)?.toString()).toBe('11')
    await store.close()
  })

  it('S1: a batch is bounded in bytes, and nothing waits for more than one', async () => {
    const store = await openLevelStore({ path, create: true })
    const batches = vi.spyOn(Level.prototype, 'batch')
    const large = Buffer.alloc(1024 * 1024, 1)
    const commit = (at: number) => store.commit([{ puts: [[`k${at}`, large]], deletes: [] }])
    await Promise.all(Array.from({ length: 13 }, (_, at) => commit(at)))
    expect(batches).toHaveBeenCalledTimes(1 + 12 / 4)
    await store.close()
  })

  it('S3: a lone commit of one identity is judged by what the batch before it has', async () => {
    const store = await openLevelStore({ path, create: true })
    const first = store.commit([{ puts: [['other', bytes('1')]], deletes: [] }])
    const free = store.commit([{ puts: [['head', bytes('1')]], deletes: [] }])
    const held = (value: string, put: string) =>
      store.commit([
        {
          condition: { key: 'head', value: bytes(value) },
          puts: [['head', bytes(put)]],
          deletes: []
        }
      ])
    expect(
      await Promise.all([first, free, held('1', '2'), held('1', '3'), held('2', '4')])
    ).toEqual([[true], [true], [true], [false], [true]])
    expect(store.get('head')?.toString()).toBe('4')
    await store.close()
  })

  it('S5: a failed write is heard by every commit of its batch and by all that follow', async () => {
    const store = await openLevelStore({ path, create: true })
    const { batch } = Level.prototype
    let count = 0
    vi.spyOn(Level.prototype, 'batch').mockImplementation(function (this: Level) {
      const made = Reflect.apply(batch, this, []) as ReturnType<Level['batch']>
      count += 1
      if (count === 2) {
        Object.assign(made, { write: () => Promise.reject(new Error('Input/output error')) })
      }
      return made
    } as typeof batch)
    const [one, ...others] = all.map((at) => store.commit(link(at, 0)))
    await expect(one).resolves.toEqual([true])
    const late = others.map((commit) => commit.catch(() => store.commit(link(1, 0))))
    const outcomes = await Promise.allSettled([...others, ...late])
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { code: 'store.write_failed' }
      })
    }
    expect(count).toBe(2)
    await store.close()
    const again = await openLevelStore({ path, create: false })
    for (const at of all)
      expect(again.get(`i${at}/head`)?.toString()).toBe(at === 0 ? '1' : undefined)
    await again.close()
  })

  it('S3: a condition that cannot be read fails its own commit alone', async () => {
    const store = await openLevelStore({ path, create: true })
    const { getSync } = Level.prototype
    vi.spyOn(Level.prototype, 'getSync').mockImplementation(function (this: Level, ...given) {
      if (given[0] === 'i7/head') throw new Error('Corruption: a block')
      return Reflect.apply(getSync, this, given) as string
    })
    const outcomes = await Promise.allSettled(all.map((at) => store.commit(link(at, 0))))
    for (const [at, outcome] of outcomes.entries()) {
      expect(outcome.status).toBe(at === 7 ? 'rejected' : 'fulfilled')
    }
    vi.restoreAllMocks()
    expect(await store.commit(link(7, 0))).toEqual([true])
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
