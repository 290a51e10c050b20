import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { IdentityId } from '../../../../src/core/index.js'
import {
  encodeMarker,
  initLocation,
  inspectLocation,
  type Marker,
  mainIdentity,
  openLocation,
  parseMarker
} from '../../../../src/ledger/location/index.js'

const alice = 'a'.repeat(64) as IdentityId
const bob = 'b'.repeat(64) as IdentityId
let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-location-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const build = async (path: string): Promise<undefined> => {
  await writeFile(join(path, 'CURRENT'), '')
}
const init = (path: string) => initLocation(path, { identities: [alice], build })
const code = (value: string) => expect.objectContaining({ code: value })

describe('initLocation', () => {
  it('L4: makes the data directory first and the marker last', async () => {
    const path = join(directory, 'deep', 'ledger')
    let seen: string[] = []
    const location = await initLocation(path, {
      identities: [bob, alice, bob],
      build: async (dataPath) => {
        await build(dataPath)
        seen = await readdir(path)
      }
    })
    expect(seen).toEqual(['data-1', 'data-1.pending'])
    expect((await readdir(path)).sort()).toEqual(['data-1', 'marker.json'])
    expect(location.marker.identities).toEqual([alice, bob])
    expect(location.livePath).toBe(join(location.realPath, 'data-1'))
    location.release()
  })

  it('L4: refuses a location that has a ledger', async () => {
    ;(await init(directory)).release()
    await expect(init(directory)).rejects.toEqual(code('ledger.exists'))
    ;(await openLocation(directory)).release()
  })

  it('L4: refuses data whose marker was lost, and touches nothing', async () => {
    ;(await init(directory)).release()
    await rm(join(directory, 'marker.json'))
    await expect(init(directory)).rejects.toEqual(code('ledger.marker_missing'))
    await expect(openLocation(directory)).rejects.toEqual(code('ledger.marker_missing'))
    expect(await readdir(directory)).toEqual(['data-1'])
  })

  it('a failed build leaves nothing behind and can be repeated', async () => {
    const failing = initLocation(directory, {
      identities: [alice],
      build: async () => {
        throw new Error('no')
      }
    })
    await expect(failing).rejects.toThrow('no')
    expect(await readdir(directory)).toEqual([])
    ;(await init(directory)).release()
  })

  it('continues after an init that died before its marker', async () => {
    await mkdir(join(directory, 'data-1'))
    await writeFile(join(directory, 'data-1.pending'), '')
    await expect(openLocation(directory)).rejects.toEqual(code('ledger.not_found'))
    const location = await init(directory)
    expect(location.marker.live).toBe('data-2')
    location.release()
  })

  it('removes the pending file of an init that died right after its marker', async () => {
    ;(await init(directory)).release()
    await writeFile(join(directory, 'data-1.pending'), '')
    ;(await openLocation(directory)).release()
    expect((await readdir(directory)).sort()).toEqual(['data-1', 'marker.json'])
  })

  it('L4: of two that create at once exactly one wins, whichever builds first', async () => {
    const other = encodeMarker({
      format: 'tally-ledger',
      formatVersion: 1,
      live: 'data-9',
      identities: []
    })
    const late = initLocation(directory, {
      identities: [alice],
      build: async () => {
        await writeFile(join(directory, 'marker.json'), other)
      }
    })
    await expect(late).rejects.toEqual(code('ledger.exists'))
    expect(await readdir(directory)).toEqual(['marker.json'])
    expect(await readFile(join(directory, 'marker.json'), 'utf8')).toBe(other)
  })
})

describe('openLocation', () => {
  it('L4: creates nothing where there is nothing', async () => {
    await expect(openLocation(join(directory, 'no'))).rejects.toEqual(code('ledger.not_found'))
    await expect(openLocation(directory)).rejects.toThrow(/no ledger/)
    await expect(openLocation(directory)).rejects.toHaveProperty(
      'fix',
      expect.stringContaining('tally init')
    )
    expect(await readdir(directory)).toEqual([])
    expect(await inspectLocation(directory)).toBeUndefined()
  })

  it('L4: refuses a second open in the process, by whatever path', async () => {
    const path = join(directory, 'ledger')
    const first = await init(path)
    await symlink(path, join(directory, 'alias'))
    await expect(openLocation(path)).rejects.toEqual(code('ledger.locked'))
    await expect(openLocation(join(directory, 'alias'))).rejects.toEqual(code('ledger.locked'))
    await expect(openLocation(`${path}/../ledger/`)).rejects.toEqual(code('ledger.locked'))
    await expect(init(path)).rejects.toEqual(code('ledger.locked'))
    first.release()
    const second = await openLocation(join(directory, 'alias'))
    first.release()
    await expect(openLocation(path)).rejects.toEqual(code('ledger.locked'))
    second.release()
  })

  it('L4: a failed open gives its claim back', async () => {
    ;(await init(directory)).release()
    const path = join(directory, 'marker.json')
    const good = await readFile(path, 'utf8')
    await writeFile(path, '{}')
    await expect(openLocation(directory)).rejects.toEqual(code('ledger.malformed_marker'))
    await writeFile(path, good)
    ;(await openLocation(directory)).release()
  })

  it('L9: switches by replacing the marker in one step', async () => {
    const location = await init(directory)
    const next = await location.nextData()
    expect(next).toEqual({ name: 'data-2', path: join(location.realPath, 'data-2') })
    await expect(location.switchLive('data-2')).rejects.toEqual(code('ledger.not_found'))
    await mkdir(next.path)
    await location.switchLive('data-2', { identities: [bob] })
    expect(location.livePath).toBe(next.path)
    await location.addIdentities([alice])
    await location.addIdentities([alice])
    location.release()
    const { marker } = (await inspectLocation(directory)) ?? {}
    expect(marker).toEqual({
      format: 'tally-ledger',
      formatVersion: 1,
      identities: [alice, bob],
      live: 'data-2',
      // A caller that names none gets the one that was there first.
      main: bob
    })
    expect((await readdir(directory)).sort()).toEqual(['data-1', 'data-2', 'marker.json'])
  })

  it('L9: a switch that died before its rename leaves the old directory live', async () => {
    const location = await init(directory)
    await mkdir(join(directory, 'data-2'))
    await writeFile(join(directory, 'marker.json.new'), '{"format":"tally-led')
    location.release()
    const again = await openLocation(directory)
    expect(again.marker.live).toBe('data-1')
    await again.switchLive('data-2')
    again.release()
    expect((await inspectLocation(directory))?.marker.live).toBe('data-2')
  })

  it('the marker is readable by its owner alone', async () => {
    const location = await init(directory)
    await chmod(directory, 0o700)
    const { stat } = await import('node:fs/promises')
    expect((await stat(join(directory, 'marker.json'))).mode & 0o777).toBe(0o600)
    expect((await stat(location.livePath)).mode & 0o777).toBe(0o700)
    location.release()
  })
})

describe('parseMarker', () => {
  const marker: Marker = {
    format: 'tally-ledger',
    formatVersion: 1,
    live: 'data-7',
    identities: [alice, bob]
  }
  const text = encodeMarker(marker)

  it('parse then encode gives the same bytes', () => {
    expect(text).toBe(
      `{"format":"tally-ledger","formatVersion":1,` +
        `"identities":["${alice}","${bob}"],"live":"data-7"}\n`
    )
    expect(parseMarker(text, 'm')).toEqual(marker)
    const main = encodeMarker({ ...marker, main: bob })
    expect(main).toBe(text.replace('}\n', `,"main":"${bob}"}\n`))
    expect(encodeMarker(parseMarker(main, 'm'))).toBe(main)
    expect(mainIdentity(parseMarker(main, 'm'))).toBe(bob)
    expect(mainIdentity(marker)).toBe(alice)
  })

  it('changes that come at once lose none of each other', async () => {
    const location = await initLocation(directory, {
      identities: [alice],
      followers: [alice],
      build
    })
    await Promise.all([location.addIdentities([bob]), location.endFollowing(alice)])
    expect(location.marker).toEqual({ ...marker, live: 'data-1' })
    location.release()
    expect((await inspectLocation(directory))?.marker).toEqual({ ...marker, live: 'data-1' })
  })

  it.each([
    ['', 'ledger.malformed_marker'],
    ['{}', 'ledger.malformed_marker'],
    ['[]', 'ledger.malformed_marker'],
    [text.trim(), 'ledger.malformed_marker'],
    [text.replace('data-7', 'data-0'), 'ledger.malformed_marker'],
    [text.replace('data-7', 'data-07'), 'ledger.malformed_marker'],
    [text.replace('data-7', '../data-7'), 'ledger.malformed_marker'],
    [text.replace('"live"', '"extra":1,"live"'), 'ledger.malformed_marker'],
    [text.replace('}', `,"main":"${alice}"}`), 'ledger.malformed_marker'],
    [text.replace('}', `,"main":"${'c'.repeat(64)}"}`), 'ledger.malformed_marker'],
    [text.replace(`"${alice}",`, `"${bob}",`), 'ledger.malformed_marker'],
    [text.replace(alice, alice.toUpperCase()), 'ledger.malformed_marker'],
    [text.replace('Version":1', 'Version":0'), 'ledger.malformed_marker'],
    [text.replace('Version":1', 'Version":"1"'), 'ledger.malformed_marker'],
    [text.replace('{', '{"live":"data-7",'), 'ledger.malformed_marker'],
    [text.replace('Version":1', 'Version":2'), 'ledger.newer_version'],
    ['{"format":"tally-ledger","formatVersion":3,"other":true}', 'ledger.newer_version']
  ])('refuses %s', (bad, problem) => {
    expect(() => parseMarker(bad, 'm')).toThrow(code(problem))
  })
})
