import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ManualClock,
  nextTurn,
  SteadyClock,
  systemClock,
  type TimeSource
} from '../../../src/core/index.js'

describe('ManualClock', () => {
  it('fires timers in order of their time, then of their making', () => {
    const clock = new ManualClock(1_000)
    const fired: string[] = []
    clock.schedule(1_020, () => fired.push('late'))
    clock.schedule(1_010, () => fired.push('first'))
    clock.schedule(1_010, () => fired.push('second'))
    clock.schedule(1_015, () => fired.push('called off'))()
    expect(clock.nextDue).toBe(1_010)
    clock.advance(19)
    expect(fired).toEqual(['first', 'second'])
    clock.advance(1)
    expect(fired).toEqual(['first', 'second', 'late'])
    expect(clock.now()).toBe(1_020)
    expect(clock.nextDue).toBeUndefined()
  })

  it('shows a timer its own time, and fires what the timer sets within the advance', () => {
    const clock = new ManualClock(0)
    const seen: number[] = []
    clock.schedule(5, () => {
      seen.push(clock.now())
      clock.schedule(7, () => seen.push(clock.now()))
    })
    clock.advance(10)
    expect(seen).toEqual([5, 7])
  })
})

describe('systemClock', () => {
  it('fires at its time or later, never before', async () => {
    const early: number[] = []
    const timers = Array.from({ length: 50 }, (_, index) => {
      const at = systemClock.now() + (index % 7)
      return new Promise<void>((resolve) => {
        systemClock.schedule(at, () => {
          if (systemClock.now() < at) early.push(at)
          resolve()
        })
      })
    })
    await Promise.all(timers)
    expect(early).toEqual([])
  })

  it('fires a timer that is due already, and not one that was called off', async () => {
    const fired: string[] = []
    systemClock.schedule(systemClock.now() + 1, () => fired.push('off'))()
    await new Promise<void>((resolve) => {
      systemClock.schedule(systemClock.now() - 1, () => {
        fired.push('due')
        resolve()
      })
    })
    await nextTurn()
    expect(fired).toEqual(['due'])
  })

  it('does not fire at once for a time beyond what one timer can hold', async () => {
    const fired: string[] = []
    const callOff = systemClock.schedule(systemClock.now() + 2 ** 40, () => fired.push('far'))
    await nextTurn()
    callOff()
    expect(fired).toEqual([])
  })
})

/** A wall clock and a monotonic one that move as a script says. */
class ScriptedTime implements TimeSource {
  #wall = 1_700_000_000_000
  #monotonic = 12.25
  #timers: { at: number; due: () => void }[] = []

  wall(): number {
    return Math.floor(this.#wall)
  }

  monotonic(): number {
    return this.#monotonic
  }

  timer(delayMs: number, due: () => void): () => void {
    const timer = { at: this.#monotonic + delayMs, due }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  set(byMs: number): void {
    this.#wall += byMs
  }

  /** Both clocks run, and timers fire. */
  run(ms: number): void {
    const end = this.#monotonic + ms
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (next === undefined) break
      this.#timers = this.#timers.filter((other) => other !== next)
      const passed = Math.max(0, next.at - this.#monotonic)
      this.#wall += passed
      this.#monotonic += passed
      next.due()
    }
    this.#wall += end - this.#monotonic
    this.#monotonic = end
  }
}

const HOUR_MS = 3_600_000

describe('SteadyClock', () => {
  it.each<[string, (time: ScriptedTime) => void]>([
    ['set back by an hour', (time) => time.set(-HOUR_MS)],
    [
      'set forward by an hour and back',
      (time) => {
        time.set(HOUR_MS)
        time.set(-HOUR_MS)
      }
    ],
    ['left alone', () => undefined]
  ])('L15: a sleep ends in its time when the wall clock is %s', (_, disturb) => {
    const time = new ScriptedTime()
    const clock = new SteadyClock(time)
    let isOver = false
    clock.schedule(clock.now() + 60_000, () => {
      isOver = true
    })
    time.run(30_000)
    disturb(time)
    time.run(29_998)
    expect(isOver).toBe(false)
    time.run(3)
    expect(isOver).toBe(true)
  })

  it('L15: a timer that fires early is set again for what is left', () => {
    let monotonic = 0
    const delays: number[] = []
    const timers: (() => void)[] = []
    const clock = new SteadyClock({
      wall: () => 1_000 + monotonic,
      monotonic: () => monotonic,
      timer: (delayMs, due) => {
        delays.push(delayMs)
        timers.push(due)
        return () => undefined
      }
    })
    let isOver = false
    clock.schedule(clock.now() + 100, () => {
      isOver = true
    })
    monotonic = 99
    timers[0]?.()
    expect([isOver, delays]).toEqual([false, [100, 1]])
    monotonic = 100
    timers[1]?.()
    expect(isOver).toBe(true)
  })

  it('L15: counts the time of a suspended machine, and ends what fell due late, not never', () => {
    const time = new ScriptedTime()
    const clock = new SteadyClock(time)
    const start = clock.now()
    let isOver = false
    clock.schedule(start + 60_000, () => {
      isOver = true
    })
    time.set(HOUR_MS)
    expect(clock.now()).toBe(start + HOUR_MS)
    time.run(60_001)
    expect(isOver).toBe(true)
  })

  it('L15: begins with the wall clock as it is when the process is started again', () => {
    const time = new ScriptedTime()
    const before = new SteadyClock(time)
    const due = before.now() + 60_000
    time.set(-HOUR_MS)
    const after = new SteadyClock(time)
    let isOver = false
    after.schedule(due, () => {
      isOver = true
    })
    expect(after.now()).toBe(time.wall())
    time.run(60_000)
    expect(isOver).toBe(false)
    time.run(HOUR_MS + 1)
    expect(isOver).toBe(true)
  })

  it('L15: never goes back or behind the wall clock, and gains nothing by being read', () => {
    const move = fc.oneof(
      fc.record({ run: fc.double({ min: 0, max: 5, noNaN: true }) }),
      fc.record({ set: fc.integer({ min: -HOUR_MS, max: HOUR_MS }) })
    )
    const play = (moves: readonly ({ readonly run: number } | { readonly set: number })[]) => {
      const time = new ScriptedTime()
      const clock = new SteadyClock(time)
      let last = clock.now()
      for (const one of moves) {
        if ('set' in one) time.set(one.set)
        else time.run(one.run)
        const now = clock.now()
        expect(now).toBeGreaterThanOrEqual(Math.max(last, time.wall()))
        const passed = 'run' in one ? one.run : Math.max(0, one.set)
        expect(now - last).toBeLessThanOrEqual(passed + 2)
        last = now
      }
    }
    fc.assert(fc.property(fc.array(move, { maxLength: 50 }), play))
    const time = new ScriptedTime()
    const clock = new SteadyClock(time)
    const start = clock.now()
    for (let read = 0; read < 10_000; read += 1) {
      time.run(0.5)
      clock.now()
    }
    expect(clock.now() - start).toBeLessThanOrEqual(5_001)
  })
})
