import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { builtModule } from '../support/built.js'
import { isLong, isSoak } from '../support/effort.js'

const worker = fileURLToPath(new URL('queues-kill/worker.mjs', import.meta.url))
const library = builtModule('index.js')
const COUNT = 9
const CONCURRENCY = 2
const timeout = 240_000
const RATE = { limit: 3, per: 60 }

/** One process: it is killed at a moment, or does all there is to do. */
function life(folder: string, killedAt: number): Promise<unknown> {
  const given = { library, location: join(folder, 'ledger'), log: join(folder, 'log') }
  const asked = { ...given, killedAt, count: COUNT, concurrency: CONCURRENCY, rate: RATE }
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [worker, JSON.stringify(asked)], (error, out, problems) => {
      if (error?.signal === 'SIGKILL') resolve(undefined)
      else if (error === null) resolve(JSON.parse(out))
      else reject(new Error(`${error.message} ${problems}`))
    })
  })
}

interface Told {
  readonly what: string
  readonly id: string
  readonly process: string
}

async function toldIn(folder: string): Promise<readonly Told[]> {
  const text = await readFile(join(folder, 'log'), 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [what = '', id = '', process = ''] = line.split(' ')
      return { what, id, process }
    })
}

/** Q6: runs that have begun and not ended, and calls under way, at every line of the log. */
function checkCounts(told: readonly Told[]): void {
  const open = new Set<string>()
  let calling = new Set<string>()
  for (const { what, id } of told) {
    // What a killed process was doing is done by nothing any more; its runs go on.
    if (what === 'life') calling = new Set()
    if (what === 'begin') open.add(id)
    if (what === 'end') open.delete(id)
    if (what === 'call') calling.add(id)
    if (what === 'over') calling.delete(id)
    expect(open.size).toBeLessThanOrEqual(CONCURRENCY)
    expect(calling.size).toBeLessThanOrEqual(1)
  }
}

const LAST_MOMENT = 39
/** Moments of a life, as the deaths of three of them: every third for soaks, every sixth else. */
const every = isSoak ? 3 : 6
const kills = isLong
  ? Array.from({ length: Math.ceil(LAST_MOMENT / every) }, (_, place) => {
      return [place * every + 1, place * every + 2, 3]
    })
  : [[6, 11, 4]]

// The rate over restarts is that of a clock which tests move: test/unit/runtime/run/rate-times.
it('B13, Q6, Q8: killed at any moment, queues keep their counts and order', {
  timeout
}, async () => {
  for (const moments of kills) {
    const folder = await mkdtemp(join(tmpdir(), 'tally-queues-'))
    try {
      for (const moment of moments) await life(folder, moment)
      const end = await life(folder, 0)
      expect(end).toMatchObject({ ok: true, complete: true })
      const told = await toldIn(folder)
      checkCounts(told)
      const ended = told.filter(({ what }) => what === 'end').map(({ id }) => id)
      expect([...new Set(ended)].map(Number).sort()).toEqual([...Array(COUNT).keys()])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
})
