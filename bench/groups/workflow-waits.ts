import { setTimeout as after } from 'node:timers/promises'
import { elapsedMs, type Json, ManualClock, nextTurn } from '../../src/core/index.js'
import { chainEffects, chainProviders } from '../../src/executor/index.js'
import { createRuntime, type WiredRuntime } from '../../src/runtime/index.js'
import { FakeChain, fakeExecutor } from '../../src/testing/index.js'
import { PollingFloor } from '../floor-polls.js'
import { Scratch, settledBytes, settledHeapBytes } from '../measure.js'
import { type Group, type Row, shown } from '../row.js'
import { flowOf, protocol, reading } from '../workflow-documents.js'

const POLLING = 1_000
const INTERVAL_MS = 1_000
const STARTED_AT_ONCE = 500
/** Until then half of the processor time is that of V8's threads, which compile what polls use. */
const COMPILED_AFTER_MS = 12_000
/** A hash for the answer of each poll, and what names it. */
const GROWTH_BYTES_MAX = 64
/** Polls of a node after which its recorded results are folded, and keeps no more bodies. */
const FOLDED_AFTER = 40
const PARKED_BYTES_MAX = 2_000
const PARKED_MS_MAX = 2_000

/**
 * Workflows that wait: 1,000 nodes that poll every second on the real clock, and runs that lack a
 * value, in memory and when a ledger that holds them is opened by a runtime with chains.
 */
export const workflowWaits: Group = {
  rows: [
    'workflow.poll.1000',
    'workflow.poll.1000.cpu',
    'workflow.poll.1000.steady',
    'workflow.poll.1000.growth',
    'workflow.parked.bytes-per-run',
    'workflow.parked.open',
    'workflow.parked.first-start',
    'workflow.parked.wake'
  ],
  async measure({ full }) {
    // What polling leaves behind would be freed while parked runs are weighed.
    const parked = await parkedRows(full ? 10_000 : 1_000)
    return [...(await pollRows(full)), ...parked]
  }
}

/** What a stretch of polling has taken. */
interface Stretch {
  readonly polls: number
  readonly wallMs: number
  readonly cpuMs: number
}

async function pollRows(full: boolean): Promise<readonly Row[]> {
  const scratch = new Scratch()
  const floor = await floorOf(scratch)
  let asked = 0
  let isOver = false
  const perform = () => {
    asked += 1
    return { value: isOver ? '1' : '0' }
  }
  const tally = await createRuntime({ ...polled(scratch), providers: [{ ...chainRead, perform }] })
  const { result } = tally.begin(pollingFlow(POLLING))
  const stretch = async (seconds: number): Promise<Stretch> => {
    const [polls, from, cpu] = [asked, elapsedMs(), process.cpuUsage()]
    await after(seconds * 1_000)
    const { user, system } = process.cpuUsage(cpu)
    return { polls: asked - polls, wallMs: elapsedMs() - from, cpuMs: (user + system) / 1_000 }
  }
  await after(COMPILED_AFTER_MS)
  const first = await stretch(full ? 10 : 3)
  const last = await stretch(full ? 10 : 3)
  isOver = true
  const { status } = await result
  await tally.close()
  scratch.remove()
  if (status !== 'done') throw new Error(`the polls ended as ${status}`)
  return [...pollRowsOf(first, last, floor), await growthRow(full)]
}

/** What as many polls take that do nothing but what they have to, in microseconds a poll. */
async function floorOf(scratch: Scratch): Promise<number> {
  const size = { nodes: POLLING, intervalMs: INTERVAL_MS }
  const floor = await PollingFloor.open(scratch.directory(), size)
  await after(COMPILED_AFTER_MS)
  const cost = await floor.costOver(4)
  await floor.close()
  return cost
}

const chainRead = { name: chainEffects.read }

function polled(scratch: Scratch) {
  return {
    location: scratch.directory(),
    create: 'if-absent',
    insecurePlaintextKey: true,
    workflow: { protocols: [protocol] }
  } as const
}

function pollingFlow(nodes: number): Json {
  const ids = Array.from({ length: nodes }, (_, index) => `n${index}`)
  const polling = ids.map((id, index) =>
    reading(
      id,
      { lit: String(index) },
      {
        until: { cel: `nodes.${id}.outputs.value > 0` },
        retry: { interval_ms: INTERVAL_MS, max_attempts: 1_000 }
      }
    )
  )
  return flowOf('bench-poll', polling)
}

/**
 * What each poll leaves in memory when every answer is another, on a clock of its own: of so many
 * that the megabyte by which a settled heap differs from itself is a few bytes of each.
 */
async function growthRow(full: boolean): Promise<Row> {
  const scratch = new Scratch()
  const clock = new ManualClock()
  const width = full ? POLLING : 200
  let asked = 0
  let isOver = false
  const perform = () => {
    asked += 1
    return { value: isOver ? '1' : '0', block: String(asked) }
  }
  const providers = [{ ...chainRead, perform }]
  const tally = await createRuntime({ ...polled(scratch), clock, providers })
  const { result } = tally.begin(pollingFlow(width))
  const round = async () => {
    const all = asked + width
    for (clock.advance(INTERVAL_MS); asked < all; clock.advance(1)) await nextTurn()
  }
  while (asked < width) await nextTurn()
  for (let rounds = 0; rounds < FOLDED_AFTER; rounds += 1) await round()
  await tally.ledger.note()
  const [bytes, polls] = [settledBytes(), asked]
  for (let rounds = 0; rounds < (full ? 180 : 300); rounds += 1) await round()
  await tally.ledger.note()
  const grown = (settledBytes() - bytes) / (asked - polls)
  isOver = true
  await round()
  const { status } = await result
  await tally.close()
  scratch.remove()
  if (status !== 'done') throw new Error(`the polls ended as ${status}`)
  const bound = { unit: 'bytes a poll', target: GROWTH_BYTES_MAX }
  return bounded('workflow.poll.1000.growth', grown, bound)
}

function pollRowsOf(first: Stretch, last: Stretch, least: number): readonly Row[] {
  const name = 'workflow.poll.1000'
  const [early, late] = [first, last].map(({ cpuMs, polls }) => (cpuMs * 1_000) / polls)
  const polls = first.polls + last.polls
  const cpuMs = first.cpuMs + last.cpuMs
  const wallMs = first.wallMs + last.wallMs
  const cost = { unit: 'us a poll', better: 'lower' } as const
  const relative = (value: number, floor: number) => ({ value, floor, ratio: value / floor })
  return [
    // The floor says how fast the machine is; the bound is seconds of a core.
    { name, ...relative((cpuMs * 1_000) / polls, least), ...cost, target: null },
    bounded(`${name}.cpu`, (cpuMs / wallMs) * 100, { unit: '% of a core', target: 20 }),
    { name: `${name}.steady`, ...relative(late ?? 0, early ?? 0), ...cost, target: 1.2 }
  ]
}

async function parkedRows(count: number): Promise<readonly Row[]> {
  const scratch = new Scratch()
  const location = scratch.directory()
  const flow = flowOf('bench-parked', [reading('a', { ref: 'inputs.of' })], {
    of: { type: 'uint256', required: true }
  })
  const first = await open(location)
  const start = async (from: number, to: number) => {
    for (let index = from; index < to; index += 1) {
      first.begin(flow, { id: `parked-${index}` })
      if (index % STARTED_AT_ONCE === STARTED_AT_ONCE - 1) await quiet(first)
    }
    await quiet(first)
  }
  await start(0, STARTED_AT_ONCE)
  const before = settledHeapBytes()
  await start(STARTED_AT_ONCE, STARTED_AT_ONCE + count)
  const bytes = (settledHeapBytes() - before) / count
  await first.close()
  const opening = elapsedMs()
  const tally = await open(location)
  const starting = elapsedMs()
  // The first start waits until the executors know what the other runs have left unfinished.
  await tally.begin(flow, { id: 'first', inputs: { of: '1' } }).result
  const waking = elapsedMs()
  const run = await tally.attach('parked-77')
  const [wait] = await run.waits()
  if (wait === undefined) throw new Error('the run does not wait')
  await run.resume(wait.token, { digest: wait.digest, value: { 'inputs.of': '1' } })
  const { status } = await run.result
  if (status !== 'done') throw new Error(`the run ended as ${status}`)
  const woken = elapsedMs()
  await tally.close()
  scratch.remove()
  const name = 'workflow.parked'
  return [
    bounded(`${name}.bytes-per-run`, bytes, { unit: 'bytes', target: PARKED_BYTES_MAX }),
    bounded(`${name}.open`, starting - opening, { unit: 'ms', target: PARKED_MS_MAX }),
    bounded(`${name}.first-start`, waking - starting, { unit: 'ms', target: PARKED_MS_MAX }),
    shown(`${name}.wake`, woken - waking, 'ms', 'lower')
  ]
}

function open(location: string): Promise<WiredRuntime> {
  const chain = new FakeChain({ id: 'eip155:1', read: () => ({ value: '1' }) })
  const executor = fakeExecutor({ chains: [chain], accounts: { default: '0xbench' } })
  return createRuntime({
    location,
    create: 'if-absent',
    insecurePlaintextKey: true,
    providers: chainProviders([executor]),
    workflow: { protocols: [protocol] }
  })
}

/** Resolves when every run is parked and that is durable. */
async function quiet(tally: WiredRuntime): Promise<void> {
  do await nextTurn()
  while (tally.runsOf.liveCount > 0)
  await tally.ledger.note()
}

function bounded(
  name: string,
  value: number,
  { unit, target }: { readonly unit: string; readonly target: number }
): Row {
  return { name, value, unit, floor: null, ratio: null, target, better: 'lower' }
}
