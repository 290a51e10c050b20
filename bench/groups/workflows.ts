import { elapsedMs, type Json, present } from '../../src/core/index.js'
import { chainEffects } from '../../src/executor/index.js'
import { createRuntime, MEMORY_LOCATION } from '../../src/runtime/index.js'
import { parseFlow, parseProtocol, planFlow, valuesFor } from '../../src/workflow/index.js'
import { median } from '../measure.js'
import type { Group, Row } from '../row.js'

const NODES = 1_000
const WIDTH = 10

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

/** Planning 1,000 nodes, with references alone and with one expression each; running them. */
export const workflows: Group = {
  rows: ['workflow.plan.refs', 'workflow.plan.cel', 'workflow.run.1000'],
  async measure({ rounds }) {
    const values = await valuesFor({ cel: '' })
    return [
      row('workflow.plan.refs', planTimes('refs', values, rounds), 200),
      row('workflow.plan.cel', planTimes('cel', values, rounds), 1_000),
      row('workflow.run.1000', await runTimes(rounds), 1_000)
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

function row(name: string, times: readonly number[], target: number): Row {
  const value = present(median(times), 'median')
  return { name, value, unit: 'ms', floor: null, ratio: null, target, better: 'lower' }
}
