import { appendFileSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type IdentityId, limits, ManualClock } from '../../../../src/core/index.js'
import { heldLimits } from '../../../../src/queue/index.js'
import { WorkQueue } from '../../../../src/queue/work-queue.js'
import { KeptRateTimes } from '../../../../src/runtime/run/rate-times.js'

/** When a rate gave its last turns, as the next process reads it. */

const identity = 'a'.repeat(64) as IdentityId
let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-rates-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const file = () => join(directory, 'queues', `${identity}.jsonl`)

it('Q7: the next process knows the last turns of each queue', () => {
  const first = new KeptRateTimes(directory, identity)
  expect(first.timesOf('effects a')).toEqual([])
  for (const at of [1, 2, 3]) first.begun('effects a', at)
  first.begun('runs a', 4)
  const next = new KeptRateTimes(directory, identity)
  expect(next.timesOf('effects a')).toEqual([1, 2, 3])
  expect(next.timesOf('runs a')).toEqual([4])
})

it('passes over a line that was cut off, and what is none', () => {
  new KeptRateTimes(directory, identity).timesOf('a')
  const lines = ['{"at":1,"queue":"a"}', 'no JSON', '[]', '{"at":"x","queue":"a"}', '{"at":2,"qu']
  appendFileSync(file(), lines.join('\n'))
  expect(new KeptRateTimes(directory, identity).timesOf('a')).toEqual([1])
})

it('is written anew when it is long, with the last times alone', () => {
  const kept = new KeptRateTimes(directory, identity)
  kept.begun('rare', 7)
  const many = limits.QUEUE_RATE_MAX * 8 + 10
  for (let at = 0; at < many; at += 1) kept.begun('often', at)
  const lines = readFileSync(file(), 'utf8').trim().split('\n')
  expect(lines.length).toBeLessThan(limits.QUEUE_RATE_MAX * 2)
  const next = new KeptRateTimes(directory, identity)
  expect(next.timesOf('rare')).toEqual([7])
  const often = next.timesOf('often')
  expect(often.length).toBe(limits.QUEUE_RATE_MAX)
  expect(often.at(-1)).toBe(many - 1)
})

it('Q7: times of a clock that was ahead count as now', () => {
  const clock = new ManualClock(1_000)
  const held = heldLimits({ rate: { limit: 1, per: 100 } })
  if ('problem' in held) throw new Error(held.problem)
  const queue = new WorkQueue({ limits: held, clock, times: [9_999_999] })
  let isAdmitted = false
  const admitted = () => {
    isAdmitted = true
  }
  queue.enter({ partition: '', priority: 0, since: 0, admitted })
  clock.advance(99)
  expect(isAdmitted).toBe(false)
  clock.advance(1)
  expect(isAdmitted).toBe(true)
})
