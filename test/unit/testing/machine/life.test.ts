import { describe, expect, it } from 'vitest'
import { ManualClock } from '../../../../src/core/index.js'
import { Life } from '../../../../src/testing/machine/life.js'

describe('the clock of one life', () => {
  it('takes its timers along when the life ends', () => {
    const clock = new ManualClock()
    const life = new Life({})
    const rung: string[] = []
    const own = life.clock(clock)
    own.schedule(clock.now() + 10, () => rung.push('first'))
    own.schedule(clock.now() + 20, () => rung.push('second'))
    clock.advance(10)
    expect(rung).toEqual(['first'])
    expect(clock.nextDue).toBe(clock.now() + 10)
    life.end('here')
    expect(clock.nextDue).toBeUndefined()
    own.schedule(clock.now() + 10, () => rung.push('of the dead'))
    expect(clock.nextDue).toBeUndefined()
    clock.advance(100)
    expect(rung).toEqual(['first'])
  })

  it('leaves the timers of the next life alone', () => {
    const clock = new ManualClock()
    const [first, second] = [new Life({}), new Life({})]
    const rung: string[] = []
    first.clock(clock).schedule(clock.now() + 10, () => rung.push('first'))
    second.clock(clock).schedule(clock.now() + 10, () => rung.push('second'))
    const callOff = second.clock(clock).schedule(clock.now() + 10, () => rung.push('called off'))
    first.end('here')
    callOff()
    clock.advance(10)
    expect(rung).toEqual(['second'])
  })
})
