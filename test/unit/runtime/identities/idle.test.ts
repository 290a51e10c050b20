import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createRuntime,
  type LocationOptions,
  type LocationRuntime,
  type Runtime
} from '../../../../src/runtime/index.js'
import { FakeClock } from '../../../../src/testing/fake-clock.js'
import { hears, keep, later, TenantsOnDisk } from '../../../support/tenants.js'

/** L17: which identities are open, when they are closed, and what opens them. */

let disk: TenantsOnDisk
let clock: FakeClock
beforeEach(async () => {
  disk = await TenantsOnDisk.create()
  clock = new FakeClock()
})
afterEach(() => disk.remove())

const made = { create: 'if-absent' } as const
const IDLE_MS = 1_000
const HOUR_MS = 3_600_000

const open = (options: Partial<LocationOptions> = {}) =>
  disk.open({ clock, idleMs: IDLE_MS, ...options })

/** Names of those that are open, besides the main one. */
async function openAt(location: LocationRuntime): Promise<readonly (string | null)[]> {
  const lines = await location.identities()
  return lines
    .filter(({ isOpen, isMain }) => isOpen && !isMain)
    .map(({ name }) => name)
    .sort()
}

async function lineOf(location: LocationRuntime, name: string) {
  return (await location.identities()).find((line) => line.name === name)
}

const marks = () => readdir(join(disk.path, 'awake'))

describe('an identity without a hold', () => {
  it('L17: is closed after a time without work, and no hold is lost to that', async () => {
    const location = await open()
    const acme = await location.identity('acme', made)
    await clock.advance(10 * IDLE_MS)
    expect(await openAt(location)).toEqual(['acme'])
    expect(await marks()).toEqual([acme.identity])
    await acme.close()
    await clock.advance(IDLE_MS / 2)
    const again = await location.identity('acme')
    await clock.advance(10 * IDLE_MS)
    expect(again.status().mode).toBe('ready')
    await again.close()
    await clock.advance(2 * IDLE_MS)
    expect(await openAt(location)).toEqual([])
    expect(await marks()).toEqual([])
    expect(again.identity === acme.identity).toBe(true)
  })

  it('L17: is opened anew for who asks while it is closed', async () => {
    const location = await open({ openMax: 1 })
    for (let round = 0; round < 20; round += 1) {
      const name = round % 2 === 0 ? 'acme' : 'zeta'
      const held = await location.identity(name, made)
      // The other one is asked for while this one makes room for it.
      const id = `run-${round}`
      const done = held.intent({ id, action: 'keep', payload: { key: 'a', value: id } })
      await held.close()
      const other = location.identity(name === 'acme' ? 'zeta' : 'acme', made)
      const asked = await Promise.allSettled([other, location.identity(name), done])
      for (const got of asked.slice(0, 2) as PromiseSettledResult<Runtime>[]) {
        if (got.status === 'fulfilled') await got.value.close()
        else expect(got.reason).toMatchObject({ code: 'runtime.too_many_identities' })
      }
      expect(asked[2]).toMatchObject({ value: { value: id } })
      expect((await openAt(location)).length).toBeLessThanOrEqual(1)
    }
    for (const name of ['acme', 'zeta']) {
      await using tally = await location.identity(name)
      for (let round = name === 'acme' ? 0 : 1; round < 20; round += 2) {
        expect(await tally.result(`run-${round}`)).toMatchObject({ value: `run-${round}` })
      }
    }
  })

  it('L17: makes room when it was used longest ago; where none can, asking is refused', async () => {
    const location = await open({ openMax: 2 })
    const [one, two] = [await location.identity('one', made), await location.identity('two', made)]
    await location.create(['three'])
    await expect(location.identity('three')).rejects.toMatchObject({
      ...{ code: 'runtime.too_many_identities', context: { limit: 2 } }
    })
    await two.close()
    await one.close()
    await using three = await location.identity('three')
    expect(await openAt(location)).toEqual(['one', 'three'])
    expect(three.status().mode).toBe('ready')
    await using _one = await location.identity('one')
    await expect(location.identity('two')).rejects.toMatchObject({
      code: 'runtime.too_many_identities'
    })
    // The main one is always there.
    expect((await location.identity()).status().mode).toBe('ready')
  })

  it('L17: is closed while its runs wait for a time, and opened for it', async () => {
    const location = await open()
    const acme = await location.identity('acme', made)
    await acme.start(later, { ms: HOUR_MS }, { id: 'june' })
    await clock.settle()
    await acme.close()
    const due = clock.now() + HOUR_MS
    await clock.advance(5 * IDLE_MS)
    expect(await openAt(location)).toEqual([])
    const line = await lineOf(location, 'acme')
    expect(line).toMatchObject({ isOpen: false, wakes: expect.any(Number) })
    expect(line?.wakes).toBeLessThanOrEqual(due)
    expect(await marks()).toEqual([`${acme.identity}.${line?.wakes}`])
    await clock.advance(HOUR_MS)
    await clock.advance(5 * IDLE_MS)
    expect(await openAt(location)).toEqual([])
    expect(await lineOf(location, 'acme')).toMatchObject({ wakes: null, problem: null })
    await using again = await location.identity('acme')
    expect(again.run('june')?.status).toBe('done')
    expect(await again.state.get('kept/last')).toBe('june')
  })

  it('L17: begins what its schedules say, though it is closed between their times', async () => {
    const location = await open()
    const acme = await location.identity('acme', made)
    const every = { name: 'hourly', every: '1h', workflow: later, input: { ms: 1 } } as const
    expect(await acme.schedule(every)).toMatchObject({ type: 'dapp' })
    await acme.close()
    for (let hour = 0; hour < 3; hour += 1) await clock.advance(HOUR_MS)
    await clock.advance(5 * IDLE_MS)
    expect(await openAt(location)).toEqual([])
    await using again = await location.identity('acme')
    const ended: string[] = []
    for await (const { runId, status } of again.runs()) {
      if (runId.startsWith('schedule:') && status === 'done') ended.push(runId)
    }
    expect(ended).toHaveLength(3)
  })

  it('L17: waits for room when many fall due at once, and none is left out', async () => {
    const location = await open({ openMax: 2 })
    const names = Array.from({ length: 7 }, (_, place) => `tenant-${place}`)
    for (const name of names) {
      await using tally = await location.identity(name, made)
      await tally.start(later, { ms: HOUR_MS }, { id: 'june' })
      await clock.settle()
    }
    await clock.advance(5 * IDLE_MS)
    await clock.advance(HOUR_MS)
    for (let look = 0; look < 20; look += 1) await clock.advance(5 * IDLE_MS)
    for (const name of names) {
      await using tally = await location.identity(name)
      expect(tally.run('june')?.status).toBe('done')
    }
  })
})

describe('a location that is opened again', () => {
  it('L17: resumes interrupted runs in all of its identities, and closes those that become idle', async () => {
    const location = await open()
    const names = ['one', 'two', 'three']
    for (const name of names) {
      await using tally = await location.identity(name, made)
      await tally.start(later, { ms: HOUR_MS }, { id: 'june' })
    }
    await using waits = await location.identity('waits', made)
    await waits.start(hears, null as never, { id: 'june' })
    await clock.settle()
    await disk.close()
    clock = new FakeClock({ at: clock.now() + 2 * HOUR_MS })
    const next = await open()
    await clock.advance(10 * IDLE_MS)
    expect(await openAt(next)).toEqual([])
    expect(await marks()).toEqual([])
    for (const name of names) {
      await using tally = await next.identity(name)
      expect(tally.run('june')?.status).toBe('done')
    }
    await using again = await next.identity('waits')
    expect(again.run('june')?.status).toBe('waiting')
  })

  it('L17: leaves everything where it is, where nothing is to be resumed', async () => {
    const location = await open()
    const acme = await location.identity('acme', made)
    await acme.start(later, { ms: 1 }, { id: 'june' })
    await disk.close()
    const found = await marks()
    clock = new FakeClock({ at: clock.now() + HOUR_MS })
    const next = await open({ resume: false })
    await clock.advance(10 * IDLE_MS)
    expect(await openAt(next)).toEqual([])
    expect(await marks()).toEqual(found)
  })

  it('L17: looks at what was opened alone, and once at all where there were no marks', async () => {
    const location = await open()
    const { identity } = await location.identity('acme', made)
    await location.create(['zeta'])
    await disk.close()
    const alone = { location: disk.path, identity, insecurePlaintextKey: true, serve: false }
    const tally = await createRuntime({ ...alone, clock, blocks: [keep], workflows: [later] })
    await tally.start(later, { ms: HOUR_MS }, { id: 'june' })
    await clock.settle()
    await tally.close()
    expect(await marks()).toEqual([identity])
    const next = await open()
    await clock.advance(10 * IDLE_MS)
    expect(await lineOf(next, 'acme')).toMatchObject({ wakes: expect.any(Number) })
    await disk.close()

    await rename(join(disk.path, 'awake'), join(disk.path, 'asleep'))
    const last = await open()
    await clock.advance(HOUR_MS + 10 * IDLE_MS)
    expect(await openAt(last)).toEqual([])
    await using again = await last.identity('acme')
    expect(again.run('june')?.status).toBe('done')
    expect(await lineOf(last, 'zeta')).toMatchObject({ wakes: null })
  })

  it('L17: says of an identity that cannot be opened for its work why not', async () => {
    const location = await open()
    const acme = await location.identity('acme', made)
    const { identity } = acme
    await acme.start(later, { ms: 1 }, { id: 'june' })
    await clock.settle()
    await disk.close()
    clock = new FakeClock({ at: clock.now() + HOUR_MS })
    await rename(join(disk.path, 'keys', `${identity}.json`), join(disk.path, 'gone.json'))
    const next = await open()
    await clock.advance(10 * IDLE_MS)
    expect(await lineOf(next, 'acme')).toMatchObject({
      problem: expect.stringContaining('key file'),
      wakes: expect.any(Number)
    })
    await expect(next.identity('acme')).rejects.toMatchObject({ code: 'identity.key_file_missing' })
    await rename(join(disk.path, 'gone.json'), join(disk.path, 'keys', `${identity}.json`))
    const again = await next.identity('acme')
    await clock.settle()
    expect(again.run('june')?.status).toBe('done')
    expect(await lineOf(next, 'acme')).toMatchObject({ problem: null })
  })
})
