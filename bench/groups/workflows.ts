import { defineBlock } from '../../src/block/index.js'
import { elapsedMs, type Json, nextTurn, present } from '../../src/core/index.js'
import { chainEffects } from '../../src/executor/index.js'
import { createRuntime, MEMORY_LOCATION } from '../../src/runtime/index.js'
import { parseFlow, parseProtocol, planFlow, valuesFor } from '../../src/workflow/index.js'
import { median, Scratch, settledHeapBytes } from '../measure.js'
import { type Group, type Row, shown } from '../row.js'

const NODES = 1_000
const WIDTH = 10
const PARKED_AT_ONCE = 500
const PARKED_BYTES_MAX = 2_000

const protocol = {
  schema: 'ais/0.0.2',
  meta: { protocol: 'bench', version: '1.0.0' },
  actions: {},
  queries: {
    read: {
      params: [{ name: 'of', type: 'uint256' }],
      returns: [{ name: 'value', type: 'uint256' }],
      execution: { '*': { type: 'evm_rpc', method: 'eth_call', params: { ref: 'params.of' } } }
    }
  }
}

/** Nodes in rows of ten; each reads what one of the row before it gave. */
function flowOf(kind: 'refs' | 'cel'): Json {
  const nodes = Array.from({ length: NODES }, (_, index) => {
    const before = `nodes.n${index - WIDTH}.outputs.value`
    const of =
      index < WIDTH
        ? { lit: String(index) }
        : kind === 'refs'
          ? { ref: before }
          : { cel: `${before} + ${index}` }
    return {
      id: `n${index}`,
      type: 'query_ref',
      protocol: 'bench@1.0.0',
      query: 'read',
      args: { of }
    }
  })
  const meta = { name: `bench-${kind}`, version: '1.0.0' }
  return { schema: 'ais-flow/0.0.3', meta, default_chain: 'eip155:1', nodes }
}

/**
 * Planning 1,000 nodes, with references alone and with one expression each; running them; the same
 * as a plan of bare blocks that ask as much; 1,000 nodes that poll at once; runs that wait.
 */
export const workflows: Group = {
  rows: [
    'workflow.plan.refs',
    'workflow.plan.cel',
    'workflow.run.1000',
    'workflow.node',
    'workflow.poll.1000',
    'workflow.parked.bytes-per-run'
  ],
  async measure({ full, rounds }) {
    const values = await valuesFor({ cel: '' })
    return [
      row('workflow.plan.refs', planTimes('refs', values, rounds), 200),
      row('workflow.plan.cel', planTimes('cel', values, rounds), 1_000),
      row('workflow.run.1000', await runTimes(rounds), 1_000),
      await nodeRow(rounds),
      await pollRow(),
      await parkedRow(full ? 10_000 : 1_000)
    ]
  }
}

function planTimes(
  kind: 'refs' | 'cel',
  values: Awaited<ReturnType<typeof valuesFor>>,
  rounds: number
): readonly number[] {
  const read = parseProtocol(protocol)
  if (!read.ok) throw new Error(JSON.stringify(read.issues))
  return Array.from({ length: rounds }, () => {
    const from = elapsedMs()
    const parsed = parseFlow(flowOf(kind))
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
    const planned = planFlow({ flow: parsed.document, protocols: [read.document], values })
    if (!planned.ok) throw new Error(JSON.stringify(planned.issues))
    return elapsedMs() - from
  })
}

async function runTimes(rounds: number): Promise<readonly number[]> {
  await using tally = await createRuntime({
    location: MEMORY_LOCATION,
    providers: [{ name: chainEffects.read, perform: () => ({ value: '1' }) }],
    workflow: { protocols: [protocol] }
  })
  const document = flowOf('refs')
  // Compiled before it is measured.
  await tally.start(document, {}).result
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const from = elapsedMs()
    const { status } = await tally.start(document, {}).result
    if (status !== 'done') throw new Error(`a workflow ended as ${status}`)
    times.push(elapsedMs() - from)
  }
  return times
}

/** Time of a node, against a bare block in a plan of the same shape with the same effect. */
async function nodeRow(rounds: number): Promise<Row> {
  const bare = defineBlock<Json, Json>({
    name: 'bench.read',
    version: '1.0.0',
    sideEffects: 'none',
    run: async (ctx, request) => ctx.effect(chainEffects.read, { request, sideEffects: 'none' })
  })
  const nodes = Array.from({ length: NODES }, (_, index) => ({
    id: `n${index}`,
    block: bare.name,
    deps: index < WIDTH ? [] : [`n${index - WIDTH}`],
    input: { lit: { of: String(index) } }
  }))
  const plan = { schema: 'tally-plan/1', name: 'bench', version: '1.0.0', order: 'arrival', nodes }
  await using tally = await createRuntime({
    location: MEMORY_LOCATION,
    blocks: [bare],
    providers: [{ name: chainEffects.read, perform: () => ({ value: '1' }) }],
    workflow: { protocols: [protocol] }
  })
  const time = async (document: Json) => {
    const from = elapsedMs()
    const { status } = await tally.start(document, {}).result
    if (status !== 'done') throw new Error(`a plan ended as ${status}`)
    return elapsedMs() - from
  }
  const documents = [plan as unknown as Json, flowOf('refs')] as const
  for (const document of documents) await time(document)
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    times[0].push(await time(documents[0]))
    times[1].push(await time(documents[1]))
  }
  const [floor, value] = times.map((one) => present(median(one), 'median') / NODES)
  return {
    name: 'workflow.node',
    value: present(value, 'value'),
    unit: 'ms',
    floor: present(floor, 'floor'),
    ratio: present(value, 'value') / present(floor, 'floor'),
    target: 1.5,
    better: 'lower'
  }
}

/** Nodes that poll at once: memory after ten rounds of all, against that after two. */
async function pollRow(): Promise<Row> {
  const rounds = { early: 2, late: 10 }
  let asked = 0
  let early = 0
  let late = 0
  await using tally = await createRuntime({
    location: MEMORY_LOCATION,
    providers: [
      {
        name: chainEffects.read,
        perform: () => {
          asked += 1
          if (asked === NODES * rounds.early) early = settledHeapBytes()
          if (asked === NODES * rounds.late) late = settledHeapBytes()
          return { value: asked > NODES * rounds.late ? '1' : '0' }
        }
      }
    ],
    workflow: { protocols: [protocol] }
  })
  const nodes = Array.from({ length: NODES }, (_, index) => ({
    id: `n${index}`,
    type: 'query_ref',
    protocol: 'bench@1.0.0',
    query: 'read',
    args: { of: { lit: String(index) } },
    until: { cel: `nodes.n${index}.outputs.value > 0` },
    retry: { interval_ms: 20, max_attempts: 100 }
  }))
  const meta = { name: 'bench-poll', version: '1.0.0' }
  const flow = { schema: 'ais-flow/0.0.3', meta, default_chain: 'eip155:1', nodes }
  const { status } = await tally.start(flow as unknown as Json, {}).result
  if (status !== 'done') throw new Error(`the polls ended as ${status}`)
  const polls = NODES * (rounds.late - rounds.early)
  return shown('workflow.poll.1000', (late - early) / polls, 'bytes', 'lower')
}

/** Memory of a workflow that waits for a value: it is in the ledger. */
async function parkedRow(count: number): Promise<Row> {
  const scratch = new Scratch()
  const tally = await createRuntime({
    location: scratch.directory(),
    create: 'if-absent',
    insecurePlaintextKey: true,
    workflow: { protocols: [protocol] }
  })
  const node = { id: 'a', type: 'query_ref', protocol: 'bench@1.0.0', query: 'read' }
  const flow = {
    schema: 'ais-flow/0.0.3',
    meta: { name: 'bench-parked', version: '1.0.0' },
    default_chain: 'eip155:1',
    inputs: { of: { type: 'uint256', required: true } },
    nodes: [{ ...node, args: { of: { ref: 'inputs.of' } } }]
  } as unknown as Json
  const start = async (from: number, to: number) => {
    for (let index = from; index < to; index += 1) {
      tally.start(flow, { id: `parked-${index}` })
      if (index % PARKED_AT_ONCE === PARKED_AT_ONCE - 1) await quiet()
    }
    await quiet()
  }
  const quiet = async () => {
    do await nextTurn()
    while (tally.runsOf.liveCount > 0)
    await tally.ledger.note()
  }
  await start(0, PARKED_AT_ONCE)
  const before = settledHeapBytes()
  await start(PARKED_AT_ONCE, PARKED_AT_ONCE + count)
  const value = (settledHeapBytes() - before) / count
  await tally.close()
  scratch.remove()
  const name = 'workflow.parked.bytes-per-run'
  const target = PARKED_BYTES_MAX
  return { name, value, unit: 'bytes', floor: null, ratio: null, target, better: 'lower' }
}

function row(name: string, times: readonly number[], target: number): Row {
  const value = present(median(times), 'median')
  return { name, value, unit: 'ms', floor: null, ratio: null, target, better: 'lower' }
}
