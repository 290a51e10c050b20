import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { verifyLocation } from '../../src/runtime/index.js'
import { builtModule } from '../support/built.js'
import { cases, testMs } from '../support/effort.js'

/** What each feature promises alone, while all are used at once and processes die. */

const worker = fileURLToPath(new URL('together-kill/worker.mjs', import.meta.url))
const library = builtModule('index.js')
const LIVES = 4
const LINES_MAX = 250

interface Found {
  readonly lines: Readonly<Record<string, { readonly status: string; readonly data: unknown }>>
  readonly mode: string
  readonly ok: boolean
  readonly failure?: unknown
}

/** One process, killed behind so many lines of the witness; the last one ends by itself. */
function life(folder: string, seed: number, number: number): Promise<string> {
  const isLast = number === LIVES - 1
  const killedAt = isLast ? null : ((seed * 7_919 + number * 104_729) % LINES_MAX) + 20
  const given = JSON.stringify({ library, folder, seed, life: number, killedAt })
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [worker, given], (error, out, problems) => {
      const isMeant = isLast ? error === null : error?.signal === 'SIGKILL'
      if (isMeant) resolve(out)
      else reject(new Error(`seed ${seed}, life ${number}: ${error?.message} ${problems}`))
    })
  })
}

function count(all: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1)
  return counts
}

/** Lines of the witness that begin so, without that. */
const toldOf = (witness: readonly string[], what: string) =>
  witness.filter((line) => line.startsWith(`${what} `)).map((line) => line.slice(what.length + 1))

async function judged(folder: string, found: Readonly<Record<string, Found>>): Promise<void> {
  const witness = (await readFile(join(folder, 'witness'), 'utf8')).trim().split('\n')
  expect(toldOf(witness, 'WRONG')).toEqual([])
  for (const { mode, ok, failure } of Object.values(found)) {
    expect(failure).toBeUndefined()
    expect({ mode, ok }).toEqual({ mode: 'ready', ok: true })
  }
  for (const started of toldOf(witness, 'started')) {
    const [who = '', id = ''] = started.split(' ')
    expect(Object.keys(found[who]?.lines ?? {}), started).toContain(id)
  }
  // What may not be done twice has a key of its own in each run.
  const told = count(toldOf(witness, 'did tell'))
  expect([...told].filter(([, times]) => times > 1)).toEqual([])
  for (const { lines } of Object.values(found)) {
    for (const [id, { status }] of Object.entries(lines)) {
      expect(['done', 'failed', 'cancelled'], id).toContain(status)
    }
  }
}

const seeds = Array.from({ length: cases({ usual: 1, long: 2, soak: 60 }) }, (_, seed) => seed + 1)

it.each(seeds)(
  'L1, L6, G1, G2, Q6, Q8: features keep their promises together: seed %i',
  {
    timeout: testMs(120_000)
  },
  async (seed) => {
    const folder = await mkdtemp(join(tmpdir(), 'tally-together-'))
    let out = ''
    for (let number = 0; number < LIVES; number += 1) out = await life(folder, seed, number)
    const end = out.trim().split('\n').at(-1) ?? 'null'
    await judged(folder, JSON.parse(end) as Readonly<Record<string, Found>>)
    const { ok } = await verifyLocation(join(folder, 'ledger'), { notes: [] })
    expect(ok).toBe(true)
    await rm(folder, { recursive: true, force: true })
  }
)
