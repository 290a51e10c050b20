import { describe, expect, it } from 'vitest'
import { ManualClock, nextTurn, systemClock } from '../../../src/core/index.js'

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
