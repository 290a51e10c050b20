import { execFileSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type IdentityId, isTallyError, Xorshift128 } from '../../src/core/index.js'
import { holdStore } from '../../src/ledger/owner/index.js'
import { openLevelStore } from '../../src/ledger/stores/level.js'
import type { Store } from '../../src/ledger/stores/port.js'
import { FaultyDisk } from '../../src/testing/index.js'
import { cases } from '../support/effort.js'
import { appendLink, type ChainHead, emptyChain, readChain } from './crash-store/chain.js'
import { startWriter } from './crash-store/process.js'

const KILLS = cases({ usual: 4, long: 8 })
const identity = 'd'.repeat(64) as IdentityId
let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-crash-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

async function append(store: Store, from: ChainHead, count: number): Promise<ChainHead> {
  let head = from
  for (let at = 0; at < count; at += 1) {
    const { item, next } = appendLink(store, head)
    await store.commit([item])
    head = next
  }
  return head
}

describe('a killed writer', () => {
  it('S1: nothing acknowledged is lost and nothing is half there, kill after kill', async () => {
    const random = new Xorshift128('crash-store')
    const path = join(directory, 'ledger')
    await (await holdStore(path, { create: { identities: [identity] } })).close()
    let before = 0
    for (let life = 1; life <= KILLS; life += 1) {
      let acknowledged = before
      const target = before + 1 + (random.uint32() % 150)
      await startWriter('writer.ts', [path], (line, kill) => {
        acknowledged = Number(line)
        if (acknowledged >= target) kill()
      })
      const held = await holdStore(path)
      const { length } = await readChain(held.store)
      await held.close()
      expect(length, `life ${life}`).toBeGreaterThanOrEqual(acknowledged)
      expect(acknowledged).toBeGreaterThanOrEqual(target)
      before = length
    }
  })

  it('S1: nor is anything of chains that commit at once and share their batches', async () => {
    const CHAINS = 20
    const random = new Xorshift128('crash-store/at-once')
    const path = join(directory, 'ledger')
    await (await holdStore(path, { create: { identities: [identity] } })).close()
    let before: readonly number[] = Array.from({ length: CHAINS }, () => 0)
    for (let life = 1; life <= KILLS; life += 1) {
      const acknowledged = [...before]
      let left = 1 + (random.uint32() % 1_000)
      await startWriter('writers-at-once.ts', [path, String(CHAINS)], (line, kill) => {
        const [number = 0, length = 0] = line.split(' ').map(Number)
        acknowledged[number] = length
        left -= 1
        if (left === 0) kill()
      })
      expect(left, `life ${life}`).toBeLessThanOrEqual(0)
      const { store, close } = await holdStore(path)
      const lengths: number[] = []
      for (const number of before.keys()) {
        lengths.push((await readChain(store, `${number}/`)).length)
      }
      await close()
      for (const [number, length] of lengths.entries()) {
        expect(length, `life ${life}, chain ${number}`).toBeGreaterThanOrEqual(
          acknowledged[number] ?? 0
        )
      }
      before = lengths
    }
  })

  it('L4: a second process is refused while the first writes', async () => {
    const path = join(directory, 'ledger')
    await (await holdStore(path, { create: { identities: [identity] } })).close()
    let refusal: unknown
    let second: Promise<void> | undefined
    const lines: string[] = []
    await startWriter('writer.ts', [path], (_, kill) => {
      second ??= (async () => {
        refusal = await holdStore(path).catch((error: unknown) => error)
        await startWriter('writer.ts', [path], (line) => lines.push(line))
        kill()
      })()
    })
    await second
    expect(isTallyError(refusal, 'ledger.locked')).toBe(true)
    expect(lines).toEqual(['ledger.locked'])
    const held = await holdStore(path)
    expect((await readChain(held.store)).length).toBeGreaterThan(0)
    await held.close()
  })

  it('L4: a refused second open in the process does not give the lock away', async () => {
    const path = join(directory, 'ledger')
    const held = await holdStore(path, { create: { identities: [identity] } })
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await expect(holdStore(path)).rejects.toMatchObject({ code: 'ledger.locked' })
    }
    const lines: string[] = []
    await startWriter('writer.ts', [path], (line) => lines.push(line))
    expect(lines).toEqual(['ledger.locked'])
    const head = await append(held.store, emptyChain, 3)
    await held.close()
    const again = await holdStore(path)
    expect(await readChain(again.store)).toEqual(head)
    await again.close()
  })
})

describe('damaged files', () => {
  /** Opens a copy with one file changed and reads it all: what a reader would come to believe. */
  async function outcome(
    source: string,
    number: number,
    change: (copy: string) => Promise<void>,
    whole: ChainHead
  ): Promise<'refused' | 'noticed' | 'prefix' | 'whole'> {
    const copy = join(directory, `copy-${number}`)
    await cp(source, copy, { recursive: true })
    await change(copy)
    let store: Store | undefined
    try {
      store = await openLevelStore({ path: copy, create: false })
    } catch (error) {
      expect(isTallyError(error)).toBe(true)
      return 'refused'
    }
    try {
      const { length } = await readChain(store)
      expect(length).toBeLessThanOrEqual(whole.length)
      return length === whole.length ? 'whole' : 'prefix'
    } catch (error) {
      expect(String(error)).not.toMatch(/wrong bytes/)
      return 'noticed'
    } finally {
      await store.close()
      await rm(copy, { recursive: true })
    }
  }

  async function filesOf(path: string, suffix: string): Promise<string[]> {
    return (await readdir(path)).filter((file) => file.endsWith(suffix))
  }

  it.each(['.log', '.ldb'])('L4: no flipped bit of a %s file passes for data', async (suffix) => {
    const random = new Xorshift128(`flip ${suffix}`)
    const source = join(directory, 'source')
    await (await openLevelStore({ path: source, create: true })).close()
    let store = await openLevelStore({ path: source, create: false })
    const whole = await append(store, emptyChain, 120)
    if (suffix === '.ldb') await store.compact()
    await store.close()
    if (suffix === '.ldb') {
      store = await openLevelStore({ path: source, create: false })
      await store.close()
    }
    const counts = { refused: 0, noticed: 0, prefix: 0, whole: 0 }
    for (let trial = 0; trial < 40; trial += 1) {
      const flip = async (copy: string) => {
        const files = await filesOf(copy, suffix)
        const sizes = await Promise.all(files.map((file) => readFile(join(copy, file))))
        const at = sizes.findIndex((bytes) => bytes.length > 10_000)
        const bytes = sizes[at] ?? Buffer.alloc(0)
        const place = random.uint32() % bytes.length
        bytes.writeUInt8(bytes.readUInt8(place) ^ (1 << (random.uint32() % 8)), place)
        await writeFile(join(copy, files[at] ?? ''), bytes)
      }
      counts[await outcome(source, trial, flip, whole)] += 1
    }
    expect(counts.refused + counts.noticed).toBeGreaterThan(5)
  })

  it('S1: a log cut anywhere gives a clean prefix', async () => {
    const random = new Xorshift128('cut')
    const source = join(directory, 'source')
    await (await openLevelStore({ path: source, create: true })).close()
    const store = await openLevelStore({ path: source, create: false })
    const whole = await append(store, emptyChain, 60)
    await store.close()
    const outcomes = new Set<string>()
    for (let trial = 0; trial < 30; trial += 1) {
      const cut = async (copy: string) => {
        for (const file of await filesOf(copy, '.log')) {
          const { length } = await readFile(join(copy, file))
          await truncate(join(copy, file), random.uint32() % (length + 1))
        }
      }
      outcomes.add(await outcome(source, trial, cut, whole))
    }
    expect([...outcomes].sort()).toEqual(['prefix'])
  })
})

describe('a full disk', () => {
  /** A small file system of its own, where this user may mount one. */
  function mountSmall(path: string): boolean {
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', path], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  }

  async function fill(store: Store): Promise<{ head: ChainHead; failure: unknown }> {
    let head = emptyChain
    for (;;) {
      try {
        head = await append(store, head, 1)
      } catch (failure) {
        return { head, failure }
      }
    }
  }

  it('L3: stops the store, and what was acknowledged is there afterwards', async () => {
    const path = join(directory, 'small')
    await mkdir(path)
    const mounted = mountSmall(path)
    const disk = new FaultyDisk(1)
    try {
      const data = join(path, 'data')
      if (mounted) {
        await (await openLevelStore({ path: data, create: true })).close()
        await writeFile(join(path, 'filler'), Buffer.alloc(2 * 1024 * 1024))
      }
      const open = async () =>
        mounted ? openLevelStore({ path: data, create: false }) : disk.open()
      const store = await open()
      disk.failCommits({ after: 20, times: 1, fault: 'disk_full' })
      const { head, failure } = await fill(store)
      expect(failure).toMatchObject({
        code: 'store.write_failed',
        context: { problem: 'the disk is full' }
      })
      await rm(join(path, 'filler'), { force: true })
      if (mounted) {
        await expect(append(store, head, 1)).rejects.toMatchObject({ code: 'store.write_failed' })
      }
      await store.close()
      const again = await open()
      expect(await readChain(again)).toEqual(head)
      expect((await append(again, head, 3)).length).toBe(head.length + 3)
      await again.close()
    } finally {
      if (mounted) execFileSync('umount', [path])
    }
  })
})
