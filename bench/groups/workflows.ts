import { defineBlock } from '../../src/code/index.js'
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

/** Rounds before it is measured: a workflow's code is compiled for longer than a composite's. */
const WARM_ROUNDS = 4

/**
 * Processor time of all threads for a node, over that for a composite's step that asks for the same
 * effect and has the same kind of input. Medians, in an order that turns each round: a collection
 * of garbage falls on the work that runs then, not on the work that made the garbage.
 */
async function nodeRows(rounds: number): Promise<readonly Row[]> {
  await using tally = await open()
  const work = (['refs', 'cel'] as const).flatMap((kind) => {
    const [steps, nodes] = [compositeOf(kind, STEPS), rowsOf(kind, NODES)]
    return [
      {
        name: `floor.${kind}`,
        run: () => Promise.all(Array.from({ length: WIDTH }, () => done(tally, steps)))
      },
      { name: kind, run: () => done(tally, nodes) }
    ]
  })
  const times = new Map(work.map(({ name }): [string, number[]] => [name, []]))
  for (let round = -WARM_ROUNDS; round < rounds * 4; round += 1) {
    for (const { name, run } of round % 2 === 0 ? work : work.toReversed()) {
      const from = process.cpuUsage()
      await run()
      const { user, system } = process.cpuUsage(from)
      if (round >= 0) times.get(name)?.push((user + system) / 1_000 / NODES)
    }
  }
  const perNode = (name: string) => median(present(times.get(name), name))
  const against = (name: string, kind: 'refs' | 'cel'): Row => {
    const [value, floor] = [perNode(kind), perNode(`floor.${kind}`)]
    const ratio = value / floor
    return { name, value, unit: 'ms', floor, ratio, target: 1.4, better: 'lower' }
  }
  return [against('workflow.node', 'refs'), against('workflow.node.cel', 'cel')]
}

/** Steps one after the other; each reads what the one before it gave. */
function compositeOf(kind: 'refs' | 'cel', steps: number): Json {
  const ids = Array.from({ length: steps }, (_, index) => `s${index}`)
  const inputOf = (index: number): Json => {
    if (index === 0) return { lit: '0' }
    const before = `nodes.s${index - 1}.response.data.value`
    return kind === 'refs' ? { ref: before } : { cel: `int(${before}) + ${index}` }
  }
  const nodeOf = (id: string, index: number) => [
    id,
    { block: bare.name, input: { object: { of: inputOf(index) } } }
  ]
  return {
    schema: 'tally-composite/1',
    name: `bench.steps.${kind}`,
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
  const { status } = await tally.begin(document, {}).result
  if (status !== 'done') throw new Error(`a run ended as ${status}`)
}

function row(name: string, times: readonly number[], target: number): Row {
  const value = present(median(times), 'median')
  return { name, value, unit: 'ms', floor: null, ratio: null, target, better: 'lower' }
}
