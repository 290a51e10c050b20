import { defineBlock } from '../../src/block/index.js'
import { elapsedMs, type Json, present } from '../../src/core/index.js'
import { chainEffects } from '../../src/executor/index.js'
import { createRuntime, MEMORY_LOCATION, type WiredRuntime } from '../../src/runtime/index.js'
import { parseFlow, parseProtocol, planFlow, valuesFor } from '../../src/workflow/index.js'
import { median } from '../measure.js'
import type { Group, Row } from '../row.js'
import { protocol, rowsOf } from '../workflow-documents.js'

const NODES = 1_000
/** Composites that run at once beside a workflow that is ten nodes wide, and their steps. */
const WIDTH = 10
const STEPS = NODES / WIDTH

const bare = defineBlock<Json, Json>({
  name: 'bench.read',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx, request) => ctx.effect(chainEffects.read, { request, sideEffects: 'none' })
})

/**
 * Planning 1,000 nodes, with references alone and with one expression each; running them; a node
 * against a composite's step that asks for the same effect.
 */
export const workflows: Group = {
  rows: [
    'workflow.plan.refs',
    'workflow.plan.cel',
    'workflow.run.1000',
    'workflow.node',
    'workflow.node.cel'
  ],
  async measure({ rounds }) {
    const values = await valuesFor({ cel: '' })
    return [
      row('workflow.plan.refs', planTimes('refs', values, rounds), 200),
      row('workflow.plan.cel', planTimes('cel', values, rounds), 1_000),
      row('workflow.run.1000', await runTimes(rounds), 1_000),
      ...(await nodeRows(rounds))
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
    const parsed = parseFlow(rowsOf(kind, NODES))
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
    const planned = planFlow({ flow: parsed.document, protocols: [read.document], values })
    if (!planned.ok) throw new Error(JSON.stringify(planned.issues))
    return elapsedMs() - from
  })
}

async function runTimes(rounds: number): Promise<readonly number[]> {
  await using tally = await open()
  const document = rowsOf('refs', NODES)
  // Compiled before it is measured.
  await done(tally, document)
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const from = elapsedMs()
    await done(tally, document)
    times.push(elapsedMs() - from)
  }
  return times
}

/**
 * Processor time of all threads for a node, over that for a composite's step with the same effect:
 * the rounds alternate, and the ratio is the median of theirs.
 */
async function nodeRows(rounds: number): Promise<readonly Row[]> {
  await using tally = await open()
  const steps = compositeOf(STEPS)
  const work = {
    floor: () => Promise.all(Array.from({ length: WIDTH }, () => done(tally, steps))),
    refs: () => done(tally, rowsOf('refs', NODES)),
    cel: () => done(tally, rowsOf('cel', NODES))
  }
  const names = ['floor', 'refs', 'cel'] as const
  const times: Record<keyof typeof work, number[]> = { floor: [], refs: [], cel: [] }
  for (let round = -1; round < rounds * 2; round += 1) {
    for (const name of names) {
      const from = process.cpuUsage()
      await work[name]()
      const { user, system } = process.cpuUsage(from)
      if (round >= 0) times[name].push((user + system) / 1_000 / NODES)
    }
  }
  const against = (name: string, own: readonly number[]): Row => ({
    name,
    value: present(median(own), 'value'),
    unit: 'ms',
    floor: present(median(times.floor), 'floor'),
    ratio: median(own.map((time, round) => time / present(times.floor[round], 'a round'))),
    target: 1.5,
    better: 'lower'
  })
  return [against('workflow.node', times.refs), against('workflow.node.cel', times.cel)]
}

function compositeOf(steps: number): Json {
  const ids = Array.from({ length: steps }, (_, index) => `s${index}`)
  const nodeOf = (id: string) => [id, { block: bare.name, input: { lit: { of: id } } }]
  return {
    schema: 'tally-composite/1',
    name: 'bench.steps',
    version: '1.0.0',
    entry_point: 's0',
    nodes: Object.fromEntries(ids.map(nodeOf)),
    transitions: Object.fromEntries(ids.slice(0, -1).map((id, index) => [id, `s${index + 1}`]))
  }
}

function open(): Promise<WiredRuntime> {
  return createRuntime({
    location: MEMORY_LOCATION,
    blocks: [bare],
    providers: [{ name: chainEffects.read, perform: () => ({ value: '1' }) }],
    workflow: { protocols: [protocol] }
  })
}

async function done(tally: WiredRuntime, document: Json): Promise<void> {
  const { status } = await tally.start(document, {}).result
  if (status !== 'done') throw new Error(`a run ended as ${status}`)
}

function row(name: string, times: readonly number[], target: number): Row {
  const value = present(median(times), 'median')
  return { name, value, unit: 'ms', floor: null, ratio: null, target, better: 'lower' }
}
