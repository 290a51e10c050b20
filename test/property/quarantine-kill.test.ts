import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import { Xorshift128 } from '../../src/core/index.js'
import { createRuntime } from '../../src/runtime/index.js'
import { builtModule } from '../support/built.js'
import { cases, testMs } from '../support/effort.js'
import { expectVerifyFailure } from '../support/verified-close.js'
import { startWriter } from './crash-store/process.js'
import { HONEST, IMPURE, workerBlocks } from './quarantine-kill/worker.mjs'

/** A quarantined run in processes that are killed with SIGKILL. */

const HISTORIES = cases({ usual: 1, long: 2, soak: 40 })
/** Lines of one life after which it is killed at the latest: a whole life prints nine. */
const LINES_MAX = 9
/** Longest life after that line, milliseconds. */
const LATER_MS_MAX = 25
const LIVES_MAX = 40

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-quarantine-kill-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

type Ending = 'cancel' | 'release'

const worldPath = () => join(directory, 'world')
const locationPath = () => join(directory, 'ledger')

/** How often a run has acted outside. */
function actsOf(run: string): number {
  if (!existsSync(worldPath())) return 0
  const lines = readFileSync(worldPath(), 'utf8').split('\n')
  return lines.filter((line) => line.startsWith(`${run} `)).length
}

/** What the lives so far have printed, and what may follow from it. */
class Told {
  readonly lines: string[] = []

  has(line: string): boolean {
    return this.lines.includes(line)
  }

  /** Takes the next line of a process, which says how often the quarantined run had acted then. */
  take(line: string, acts: number): void {
    const mayRun = this.has(`releasing ${IMPURE}`) || line === `releasing ${IMPURE}`
    if (!mayRun) expect(acts, `acts of the quarantined run at ${line}`).toBe(0)
    const [kind = ''] = line.split(' ')
    if (kind === 'open' && this.has(`parked ${IMPURE}`) && !this.#mayHaveEnded()) {
      expect(line).toBe(`open ready ${IMPURE}`)
    }
    if (kind === 'open') expect(line).toMatch(/^open ready/)
    if (kind === 'open' && this.has(`released ${IMPURE}`)) expect(line).toBe('open ready ')
    const quarantined = 'run.quarantined'
    if (kind === 'refused' && !this.#mayHaveEnded()) {
      expect(line).toBe(`refused ${quarantined} ${quarantined} ${quarantined}`)
    }
    expect(kind, line).not.toBe('error')
    this.lines.push(line)
  }

  /** Whether a life had got so far that the run may be released or ended. */
  #mayHaveEnded(): boolean {
    return this.has(`releasing ${IMPURE}`) || this.has(`ended ${HONEST} done`)
  }
}

/** One process from its opening until it is killed, so many lines and milliseconds later. */
async function oneLife(ending: Ending, told: Told, random: Xorshift128): Promise<void> {
  const last = 1 + (random.uint32() % LINES_MAX)
  const later = random.uint32() % LATER_MS_MAX
  let printed = 0
  const given = [builtModule('index.js'), locationPath(), worldPath(), ending]
  await startWriter('../quarantine-kill/worker.mjs', given, (text, kill) => {
    const [acts = '', ...words] = text.split(' ')
    const line = words.join(' ')
    printed += 1
    const isIdle = line === `parked ${IMPURE}` || line === 'over' || line.startsWith('error')
    if (isIdle) kill()
    else if (printed === last) setTimeout(kill, later)
    told.take(line, Number(acts))
  })
}

async function history(ending: Ending, seed: string): Promise<void> {
  const random = new Xorshift128(seed)
  const told = new Told()
  for (let life = 1; !told.has('over'); life += 1) {
    expect(life, `lives of ${ending}`).toBeLessThanOrEqual(LIVES_MAX)
    await oneLife(ending, told, random)
  }
  const tally = await createRuntime({
    location: locationPath(),
    insecurePlaintextKey: true,
    serve: false,
    blocks: workerBlocks(defineBlock, worldPath())
  })
  expect(tally.run(HONEST)?.status).toBe('done')
  expect(tally.run(IMPURE)?.status).toBe(ending === 'cancel' ? 'cancelled' : 'done')
  expect([actsOf(HONEST), actsOf(IMPURE)]).toEqual([1, ending === 'cancel' ? 0 : 1])
  expect(tally.status().mode).toBe('ready')
  expect(await tally.verify({ reexecute: false })).toMatchObject({ ok: true })
  const releases: string[] = []
  for await (const { receipt } of tally.receipts()) {
    if (receipt.intent === 'system.release') releases.push(JSON.stringify(receipt.inputPayload))
  }
  expect(releases).toHaveLength(ending === 'cancel' ? 0 : 1)
  expect(releases.join()).toContain(ending === 'cancel' ? '' : '"kind":"owner"')
  await tally.close()
}

describe('a run that comes out otherwise, in processes that are killed', () => {
  for (const ending of ['cancel', 'release'] as const) {
    it(`K10, L14: performs nothing until its ${ending}, and another run ends`, {
      timeout: testMs(HISTORIES * 120_000)
    }, async () => {
      expectVerifyFailure('journal.response')
      for (let at = 0; at < HISTORIES; at += 1) {
        await history(ending, `quarantine-kill ${ending} ${at}`)
        await rm(directory, { recursive: true, force: true })
        await mkdir(directory)
      }
    })
  }
})
