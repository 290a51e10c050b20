import { randomBytes } from 'node:crypto'
import { setTimeout as after } from 'node:timers/promises'
import { Level } from 'level'
import { elapsedMs, type Json, ManualClock, nextTurn } from '../../src/core/index.js'
import { defineBlock } from '../../src/index.js'
import { createRuntime, type WiredRuntime } from '../../src/runtime/index.js'
import { median, Scratch, settledHeapBytes } from '../measure.js'
import { type Group, type Row, shown } from '../row.js'

const ANSWERS = 200
const AT_ONCE = 64
const TIMERS = 10_000
const DUE_MS = 86_400_000
const SIGNALS = 200
const POLL_MS = 10
/** A record as large as that of a small start. */
const RECORD_BYTES = 1_024

/**
 * What a service waits for: the durable answer to a start, one at a time and 64 at once, against
 * one synced record; a signal and the step that it resumes; 10,000 timers that are due in one
 * second; and what as many open runs take in memory.
 */
export const services: Group = {
  rows: [
    'start.answer.floor.p50',
    'start.answer.1.p50',
    'start.answer.1.p99',
    'start.answer.64.p50',
    'start.answer.64.p99',
    'signal.resumed.p50',
    'signal.resumed.p99',
    'timers.due.10000',
    'open-runs.bytes-per-run'
  ],
  async measure({ full }) {
    const answers = await answerRows(full ? ANSWERS * 5 : ANSWERS)
    return [...answers, ...(await signalRows(SIGNALS)), ...(await timerRows(full ? TIMERS : 2_000))]
  }
}

const takes = defineBlock({
  name: 'bench.takes',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => ctx.signal('item')
})
const sleeps = defineBlock({
  name: 'bench.sleeps',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => {
    await ctx.sleep(DUE_MS)
    return null
  }
})

const documentOf = (block: string): Json => ({
  schema: 'tally-composite/1',
  name: 'bench.service',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block } }
})

function open(scratch: Scratch, clock?: ManualClock): Promise<WiredRuntime> {
  return createRuntime({
    location: scratch.directory(),
    create: 'if-absent',
    insecurePlaintextKey: true,
    serve: false,
    blocks: [takes, sleeps],
    ...(clock === undefined ? {} : { clock })
  })
}

async function answerRows(count: number): Promise<readonly Row[]> {
  const scratch = new Scratch()
  const tally = await open(scratch)
  const level = new Level<string, Uint8Array>(scratch.directory(), { valueEncoding: 'view' })
  await level.open()
  const [floor, one, many]: [number[], number[], number[]] = [[], [], []]
  const start = async (id: string, taken: number[]) => {
    const from = elapsedMs()
    await tally.start(documentOf(takes.name), { id })
    taken.push(elapsedMs() - from)
  }
  for (let index = 0; index < count; index += 1) {
    const from = elapsedMs()
    await level.put(`${index}`, randomBytes(RECORD_BYTES), { sync: true })
    floor.push(elapsedMs() - from)
    await start(`one-${index}`, one)
    const ids = Array.from({ length: AT_ONCE }, (_, place) => `many-${index}-${place}`)
    if (index % 8 === 0) await Promise.all(ids.map((id) => start(id, many)))
  }
  await level.close()
  await tally.close()
  scratch.remove()
  const row = (name: string, value: number): Row => {
    const least = median(floor)
    const target = null
    return { name, value, unit: 'ms', floor: least, ratio: value / least, target, better: 'lower' }
  }
  return [
    shown('start.answer.floor.p50', median(floor), 'ms', 'lower'),
    row('start.answer.1.p50', median(one)),
    row('start.answer.1.p99', percentile(one)),
    row('start.answer.64.p50', median(many)),
    row('start.answer.64.p99', percentile(many))
  ]
}

/** From the call of a sender to the end of the step that has waited, of runs that are parked. */
async function signalRows(count: number): Promise<readonly Row[]> {
  const scratch = new Scratch()
  const tally = await open(scratch)
  const taken: number[] = []
  for (let index = 0; index < count; index += 1) {
    const id = `signal-${index}`
    await tally.start(documentOf(takes.name), { id })
    while (tally.run(id)?.status !== 'waiting') await nextTurn()
    const { result } = await tally.attach(id)
    const from = elapsedMs()
    await tally.signal(id, 'item', index, { id: 'item' })
    await result
    taken.push(elapsedMs() - from)
  }
  await tally.close()
  scratch.remove()
  return [
    shown('signal.resumed.p50', median(taken), 'ms', 'lower'),
    shown('signal.resumed.p99', percentile(taken), 'ms', 'lower')
  ]
}

/** Open runs that sleep, and the time until the last of them has ended once all are due. */
async function timerRows(count: number): Promise<readonly Row[]> {
  const scratch = new Scratch()
  const clock = new ManualClock()
  const tally = await open(scratch, clock)
  const begin = async (from: number, to: number) => {
    for (let index = from; index < to; index += AT_ONCE) {
      const ids = Array.from({ length: Math.min(AT_ONCE, to - index) }, (_, n) => `t-${index + n}`)
      await Promise.all(ids.map((id) => tally.start(documentOf(sleeps.name), { id })))
      while (tally.runsOf.liveCount > 0) await nextTurn()
    }
  }
  await begin(0, AT_ONCE * 8)
  const before = settledHeapBytes()
  await begin(AT_ONCE * 8, AT_ONCE * 8 + count)
  const bytes = (settledHeapBytes() - before) / count
  const total = count + AT_ONCE * 8
  const from = elapsedMs()
  clock.advance(DUE_MS)
  do {
    // Those that were resumed arm their timers again, which are due then.
    clock.advance(1)
    await after(POLL_MS)
  } while (((await tally.queries.counts()).byStatus.done ?? 0) < total)
  const seconds = (elapsedMs() - from) / 1_000
  await tally.close()
  scratch.remove()
  return [
    shown('timers.due.10000', total / seconds, 'runs/s', 'higher'),
    shown('open-runs.bytes-per-run', bytes, 'bytes', 'lower')
  ]
}

function percentile(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? 0
}
