import { readFile } from 'node:fs/promises'
import { mock } from 'node:test'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { defineBlock, EffectFailure } from '../../../src/code/index.js'
import type { Json } from '../../../src/core/index.js'
import { createRuntime, type WiredRuntime } from '../../../src/runtime/index.js'
import { WAKES_MAX } from '../../../src/testing/fake-clock.js'
import { FakeClock } from '../../../src/testing/index.js'
import { isLong } from '../../support/effort.js'
import { LedgerOnDisk } from '../../support/ledger-on-disk.js'

const HOUR_MS = 3_600_000
const BEGIN = 1_700_000_000_000
const here = fileURLToPath(import.meta.url)

/** Sleeps as long as its input says, after it has read a real file. */
const sleeper = defineBlock({
  name: 'sleeper',
  version: '1.0.0',
  sideEffects: 'none',
  async run(ctx, input) {
    await ctx.effect('file.read', { perform: async () => (await readFile(here)).length })
    for (const ms of input as readonly number[]) await ctx.sleep(ms)
    return null
  }
})
const silent = defineBlock({
  name: 'silent',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx) => ctx.effect('never', { perform: () => new Promise<Json>(() => undefined) })
})
let tries = 0
const failing = defineBlock({
  name: 'failing',
  version: '1.0.0',
  sideEffects: 'none',
  async run(ctx) {
    const perform = () => {
      tries += 1
      if (tries < 4) throw new EffectFailure('not_yet', { definite: true })
      return tries
    }
    return { tries: await ctx.effect<number>('try', { perform }) }
  }
})
const blocks = [sleeper, silent, failing]

function single(block: string, node: object = {}): Json {
  return {
    schema: 'tally-composite/1',
    name: `one-${block}`,
    version: '1.0.0',
    entry_point: 'one',
    nodes: { one: { block, input: { ref: 'request.payload' }, ...node } },
    transitions: {}
  } as Json
}

/** When each answer came to a run, milliseconds after the clock began. */
async function times(tally: WiredRuntime, id: string) {
  const found: number[] = []
  for await (const { value } of tally.journal(id)) {
    const { k, at } = value as { readonly k: string; readonly at: number }
    if (k === 'sealed') found.push(at - BEGIN)
  }
  return found
}

let disk: LedgerOnDisk | undefined
afterEach(async () => {
  vi.useRealTimers()
  mock.timers.reset()
  await disk?.remove()
  disk = undefined
})

async function onDisk(clock: FakeClock): Promise<WiredRuntime> {
  disk ??= await LedgerOnDisk.create()
  return disk.open({ clock, blocks })
}

describe('FakeClock', () => {
  it('wakes one sleep after the other at its own time, on a real disk', async () => {
    const clock = new FakeClock()
    const tally = await onDisk(clock)
    const run = tally.begin(single('sleeper'), { id: 'one', inputs: [HOUR_MS, 1, HOUR_MS] })
    await clock.advance(2 * HOUR_MS)
    expect(tally.run('one')?.status).toBe('waiting')
    await clock.advance(1)
    expect((await run.result).status).toBe('done')
    const slept = [0, HOUR_MS, HOUR_MS + 1, 2 * HOUR_MS + 1]
    expect(await times(tally, 'one')).toEqual(slept)
  })

  it('wakes what falls due in the order of the times, whatever the order of the runs', async () => {
    const clock = new FakeClock()
    await using tally = await createRuntime({ location: 'memory:', clock, blocks })
    const ended: string[] = []
    for (const ms of [30, 10, 20]) {
      const id = `after-${ms}`
      const { result } = tally.begin(single('sleeper'), { id, inputs: [ms] })
      result.then(() => ended.push(`${id} at ${clock.now() - BEGIN}`))
    }
    await clock.advance(1_000)
    expect(ended).toEqual(['after-10 at 10', 'after-20 at 20', 'after-30 at 30'])
    expect(clock.now()).toBe(BEGIN + 1_000)
  })

  it('lets pauses between attempts pass, each as long as it is', async () => {
    const clock = new FakeClock()
    await using tally = await createRuntime({ location: 'memory:', clock, blocks })
    tries = 0
    const recovery = [{ retry: { max_attempts: 4, interval_ms: 100, backoff: 'exp' } }]
    const run = tally.begin(single('failing', { recovery }), { id: 'one', inputs: [] })
    await clock.advance(699)
    expect(tries).toBe(3)
    await clock.advance(1)
    expect((await run.result).response.data).toEqual({ tries: 4 })
  })

  it('L15: a sleep ends in its time when the wall clock is set back or forward', async () => {
    for (const jumpMs of [-48 * HOUR_MS, 48 * HOUR_MS]) {
      const clock = new FakeClock({ at: BEGIN })
      await using tally = await createRuntime({ location: 'memory:', clock, blocks })
      const run = tally.begin(single('sleeper'), { id: 'one', inputs: [2 * HOUR_MS] })
      await clock.advance(HOUR_MS)
      clock.setWall(clock.now() + jumpMs)
      await clock.settle()
      expect(tally.run('one')?.status).toBe('waiting')
      expect(clock.now()).toBe(BEGIN + HOUR_MS + Math.max(0, jumpMs))
      await clock.advance(HOUR_MS)
      expect((await run.result).status).toBe('done')
    }
  })

  it('wakes what slept when the process ended, in the next process with the same clock', async () => {
    const clock = new FakeClock()
    const first = await onDisk(clock)
    first.begin(single('sleeper'), { id: 'one', inputs: [HOUR_MS] })
    await clock.advance(HOUR_MS - 1)
    await first.close()
    await clock.advance(1)
    const second = await disk?.open({ clock, blocks, resume: true })
    await clock.settle()
    expect(second?.run('one')?.status).toBe('done')
  })

  it('holds time back while an effect is under way, unless it may pass', async () => {
    const clock = new FakeClock()
    await using tally = await createRuntime({ location: 'memory:', clock, blocks })
    const timeout = { timeout_ms: HOUR_MS }
    const run = tally.begin(single('silent', timeout), { id: 'one', inputs: [] })
    await clock.advance(HOUR_MS - 1, { effects: 'pass' })
    expect(tally.run('one')?.status).toBe('running')
    await clock.advance(1, { effects: 'pass' })
    expect((await run.result).status).toBe('failed')
  })

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses that %d ms pass',
    async (ms) => {
      const refused = expect.objectContaining({ code: 'testing.clock_invalid' })
      await expect(new FakeClock().advance(ms)).rejects.toEqual(refused)
      expect(() => new FakeClock().setWall(ms + 0.25)).toThrow(refused)
      expect(() => new FakeClock({ at: ms + 0.25 })).toThrow(refused)
    }
  )
})

// These take a million turns of the loop.
if (isLong) {
  describe('FakeClock that cannot pass its time', () => {
    it('says what holds time back when an effect never answers', async () => {
      const clock = new FakeClock()
      let isBusy = true
      clock.attach({
        get busyWith() {
          return isBusy ? 'effects' : undefined
        }
      })
      await expect(clock.advance(1)).rejects.toMatchObject({ code: 'testing.clock_busy' })
      expect(clock.now()).toBe(BEGIN)
      isBusy = false
      await clock.advance(1)
      expect(clock.now()).toBe(BEGIN + 1)
    })

    it('ends an advance in which more falls due than the limit', async () => {
      const clock = new FakeClock()
      let wakes = 0
      const again = () => {
        wakes += 1
        clock.schedule(clock.now() + 1, again)
      }
      again()
      const advance = clock.advance(WAKES_MAX * 2)
      await expect(advance).rejects.toMatchObject({ code: 'testing.clock_busy' })
      expect(wakes).toBe(WAKES_MAX + 2)
    })
  })
}

describe('fake timers of a test runner', () => {
  const runners: readonly (readonly [string, () => void, (ms: number) => unknown])[] = [
    ['Vitest', () => vi.useFakeTimers({ now: BEGIN }), (ms) => vi.advanceTimersByTime(ms)],
    [
      'Vitest with the least that is needed',
      () => vi.useFakeTimers({ now: BEGIN, toFake: ['Date', 'setTimeout', 'clearTimeout'] }),
      (ms) => vi.advanceTimersByTime(ms)
    ],
    [
      'node:test',
      () => mock.timers.enable({ apis: ['Date', 'setTimeout'], now: BEGIN }),
      (ms) => mock.timers.tick(ms)
    ]
  ]

  it.each(runners)('move a clock of runs on a real disk: %s', async (_, replace, timers) => {
    // Nothing of an earlier test is left in a clock of its own.
    for (const round of [1, 2]) {
      replace()
      const clock = new FakeClock({ timers })
      const tally = await onDisk(clock)
      const id = `round-${round}`
      const run = tally.begin(single('sleeper'), { id, inputs: [HOUR_MS, HOUR_MS] })
      await clock.advance(2 * HOUR_MS - 1)
      expect(tally.run(id)?.status).toBe('waiting')
      await clock.advance(1)
      expect((await run.result).status).toBe('done')
      expect(await times(tally, id)).toEqual([0, HOUR_MS, 2 * HOUR_MS])
      expect(() => clock.setWall(BEGIN)).toThrow('fake timers')
      await disk?.close()
      vi.useRealTimers()
      mock.timers.reset()
    }
  })

  it("are heard by a fake clock that they are moved past, by the runner's own call", async () => {
    vi.useFakeTimers({ now: BEGIN })
    const clock = new FakeClock({ timers: (ms) => vi.advanceTimersByTime(ms) })
    const tally = await onDisk(clock)
    const run = tally.begin(single('sleeper'), { id: 'one', inputs: [HOUR_MS] })
    await clock.settle()
    await vi.advanceTimersByTimeAsync(HOUR_MS)
    await clock.settle()
    expect((await run.result).status).toBe('done')
    await disk?.close()
  })
})
