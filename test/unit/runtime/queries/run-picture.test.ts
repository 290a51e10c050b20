import { describe, expect, it } from 'vitest'
import type { RunStarted } from '../../../../src/block/index.js'
import { Registry } from '../../../../src/runtime/code/registry.js'
import { registryOf } from '../../../../src/runtime/queries/journal-registry.js'
import { journalNamed, linesNamed } from '../../../support/inspected.js'
import { interpretedParent } from '../../../support/interpreted-fold.js'
import { journalScenes, sceneRegistrations } from '../../../support/journal-scenes.js'
import { testKeys, World } from '../../../support/lives.js'
import { picturesOf as picturesOfLines } from '../../../support/recorded-pictures.js'

const names = Object.keys(journalScenes)
/** The code of a workflow chooses its next child itself: there is no chart to interpret. */
const withCharts = names.filter(
  (name) => !journalNamed(name).entries.some((text) => JSON.parse(text).k === 'called')
)

async function picturesOf(name: string, registry: Registry, options: object = {}) {
  return picturesOfLines(linesNamed(name), registry, options)
}

const registered = () => Registry.open(sceneRegistrations(new World()))

describe('the picture of a recorded run', () => {
  it.each(withCharts)(
    'has the states that XState itself comes to, after each entry: %s',
    async (name) => {
      const pictures = await picturesOf(name, await registered())
      const oracle = await picturesOf(name, await registered(), { makeParent: interpretedParent })
      expect(pictures).toBeDefined()
      expect(pictures).toEqual(oracle)
      for (const one of pictures ?? []) {
        expect(one?.actors[0]?.path).toBe('root')
        for (const { mark, value } of one?.actors ?? []) expect(value.split('.')[0]).toBe(mark)
      }
    }
  )

  it.each(names)('says how the run and its blocks stood: %s', async (name) => {
    const { entries } = journalNamed(name)
    const pictures = (await picturesOf(name, await registered())) ?? []
    let status = 'running'
    for (const [n, text] of entries.entries()) {
      const entry = JSON.parse(text)
      status = entry.status ?? status
      const one = pictures[n]
      expect(one).toMatchObject({ entry: n, at: entry.at, status })
      const actor = one?.actors.find(({ path }) => path === entry.path)
      if (entry.k === 'waiting') expect(actor?.mark).toBe('WAITING')
      // The composite whose commit a step was put off to has not ended before the step.
      if (entry.k === 'requested' && entry.path.endsWith('~release')) {
        const isAround = (path: string) => path !== 'root' && entry.path.startsWith(`${path}/`)
        const around = one?.actors.filter(({ path }) => isAround(path)) ?? []
        expect(around.map(({ mark }) => mark)).toContain('BUSY')
      }
      if (entry.k === 'settled' && actor !== undefined && !entry.path.includes('~')) {
        expect(actor.ended).toBe(entry.response.success ? 'succeeded' : 'failed')
        // What follows in the same moment may execute it again.
        expect(actor.step).toBeGreaterThanOrEqual(entry.step)
      }
    }
    const last = pictures.at(-1)
    if (last?.status === 'done') expect(last.actors[0]).toMatchObject({ mark: 'READY' })
  })

  it('comes out alike from the journal alone, where its names had versions', async () => {
    let alike = 0
    for (const name of names) {
      const started = JSON.parse(journalNamed(name).entries[0] ?? '{}') as RunStarted
      const bare = await picturesOf(name, await registryOf(started, testKeys.identity))
      if (bare === undefined) continue
      expect(bare, name).toEqual(await picturesOf(name, await registered()))
      alike += 1
    }
    expect(alike).toBeGreaterThan(names.length / 2)
  })
})
