import { expect, it } from 'vitest'
import { type Clock, ManualClock } from '../../../src/core/index.js'
import { type QueuePlace, WorkQueue } from '../../../src/queue/work-queue.js'

const RATE = { limit: 1, perMs: 10 }
const READINGS = 24

/** A clock by which a millisecond passes between two readings of it, wherever that is. */
function tickingAt(clock: ManualClock, reading: number): Clock {
  let readings = 0
  return {
    now: () => {
      readings += 1
      if (readings === reading) clock.advance(1)
      return clock.now()
    },
    schedule: (at, due) => clock.schedule(at, due)
  }
}

it.for(Array.from({ length: READINGS }, (_, place) => place + 1))(
  'Q8: gives each its turn when time passes at reading %i of the clock',
  (reading) => {
    const clock = new ManualClock()
    // The next turn of the rate comes with the next millisecond.
    const times = [clock.now() + 1 - RATE.perMs]
    const held = { concurrency: 1, partitionConcurrency: 1, rate: RATE }
    const queue = new WorkQueue({ limits: held, clock: tickingAt(clock, reading), times })
    const admitted: number[] = []
    const places: QueuePlace[] = []
    const done = (place: number) => {
      admitted.push(place)
      places[place]?.leave()
    }
    for (let place = 0; place < 3; place += 1) {
      const asked = { priority: 0, partition: '', since: clock.now() }
      const entered = queue.enter({ ...asked, admitted: () => done(place) })
      places.push(entered)
      if (entered.isAdmitted) done(place)
    }
    for (let due = clock.nextDue; due !== undefined; due = clock.nextDue) {
      clock.advance(due - clock.now())
    }
    expect(admitted).toEqual([0, 1, 2])
  }
)
