import { describe, expect, it } from 'vitest'
import type { Store } from '../../../src/ledger/index.js'
import { FaultyDisk } from '../../../src/testing/index.js'

const put = (store: Store, key: string, value = key) =>
  store.commit([{ puts: [[key, Buffer.from(value)]], deletes: [] }])
const has = (store: Store, key: string) => store.get(key) !== undefined
const code = (value: string) => expect.objectContaining({ code: value })

describe('FaultyDisk', () => {
  it('F1: what was acknowledged survives every crash', async () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const disk = new FaultyDisk(seed, { slowTurnsMax: 3 })
      const store = disk.open()
      await put(store, 'a')
      const pending = put(store, 'b').catch(() => undefined)
      disk.crash(seed % 2 === 0 ? 'power' : 'process')
      await pending
      expect(has(disk.open(), 'a')).toBe(true)
    }
  })

  it('F1: without syncs, power loss takes what was acknowledged', async () => {
    let lost = 0
    for (let seed = 1; seed <= 50; seed += 1) {
      const disk = new FaultyDisk(seed, { syncs: false })
      await put(disk.open(), 'a')
      disk.crash('power')
      if (!has(disk.open(), 'a')) lost += 1
    }
    expect(lost).toBeGreaterThan(10)
    expect(lost).toBeLessThan(50)
  })

  it('F2: a commit under way at a crash is there wholly or not at all', async () => {
    const seen = new Set<string>()
    for (let seed = 1; seed <= 100; seed += 1) {
      const disk = new FaultyDisk(seed, { slowTurnsMax: 6 })
      const store = disk.open()
      const items = ['a', 'b'].map((key) => ({
        puts: [[key, Buffer.from(key)] as const],
        deletes: []
      }))
      const pending = store.commit(items).catch(() => undefined)
      for (let turn = 0; turn < 6; turn += 1) await undefined
      disk.crash('power')
      await pending
      const after = disk.open()
      seen.add(`${has(after, 'a')} ${has(after, 'b')}`)
    }
    expect([...seen].sort()).toEqual(['false false', 'true true'])
  })

  it('F3: after a full disk, later commits are served and lost at the next opening', async () => {
    const disk = new FaultyDisk(1)
    const store = disk.open()
    await put(store, 'before')
    disk.failCommits({ after: 0, times: 1, fault: 'disk_full' })
    await expect(put(store, 'torn')).rejects.toEqual(code('store.write_failed'))
    await put(store, 'after')
    expect(has(store, 'after')).toBe(true)
    await store.close()
    const again = disk.open()
    expect(['before', 'torn', 'after'].map((key) => has(again, key))).toEqual([true, false, false])
  })

  it('F4: after a failed fsync every commit of the life fails', async () => {
    const disk = new FaultyDisk(1)
    const store = disk.open()
    disk.failCommits({ after: 1, times: 1, fault: 'sync_failed' })
    await put(store, 'a')
    await expect(put(store, 'b')).rejects.toEqual(code('store.write_failed'))
    await expect(put(store, 'c')).rejects.toEqual(code('store.write_failed'))
    disk.crash('process')
    await put(disk.open(), 'd')
  })

  it('one life at a time, and damage only between lives', async () => {
    const disk = new FaultyDisk(1)
    const store = disk.open()
    await put(store, 'a')
    expect(() => disk.open()).toThrow(code('ledger.locked'))
    expect(() => disk.flipBit()).toThrow(/while it is closed/)
    disk.crash('process')
    expect(() => store.get('a')).toThrow(code('store.closed'))
    await expect(put(store, 'b')).rejects.toEqual(code('store.closed'))
  })

  it('damages one value, or one commit, and tells which', async () => {
    const disk = new FaultyDisk(3)
    const store = disk.open()
    for (const key of ['a', 'b', 'c']) await put(store, key, `value of ${key}`)
    await store.close()
    expect(disk.flipBit((key) => key === 'b')).toBe('b')
    expect(disk.truncateValue((key) => key === 'a')).toBe('a')
    const damaged = disk.open()
    expect(damaged.get('b')?.length).toBe(10)
    expect(Buffer.from(damaged.get('b') ?? '').toString()).not.toBe('value of b')
    expect(damaged.get('a')?.length).toBeLessThan(10)
    expect(Buffer.from(damaged.get('c') ?? '').toString()).toBe('value of c')
    await damaged.close()
    expect(disk.loseValue((key) => key === 'c')).toBe('c')
    expect(disk.misplaceValue((key) => key === 'z')).toBeUndefined()
    expect(disk.loseRecord()).toBe(true)
    expect(Object.fromEntries(disk.injected)).toMatchObject({ bit_flip: 1, truncated: 1 })
    expect(has(disk.open(), 'c')).toBe(false)
  })
})
