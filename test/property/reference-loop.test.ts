import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileComposite } from '../../src/block/document/compile.js'
import type { CompiledComposite } from '../../src/block/document/compiled.js'
import { parseComposite } from '../../src/block/document/parse.js'
import type { BlockRegistry } from '../../src/block/document/registry.js'
import { RunFold } from '../../src/block/replay/fold.js'
import type { Response } from '../../src/code/request.js'
import type { Json } from '../../src/core/index.js'
import { cases } from '../support/effort.js'
import { FakePump, failed, succeeded } from '../support/fake-pump.js'
import { foldRun } from '../support/folded-run.js'
import { interpretedParent } from '../support/interpreted-fold.js'

/**
 * The model is the seed's pseudocode, written as the loop it is; the system is the compiled chart.
 * Child n of the run answers `answers[n % length]`: a number is data, -1 a failure.
 */
interface Graph {
  readonly maxSteps: number
  readonly entry: string
  readonly nodes: readonly string[]
  readonly transitions: Readonly<Record<string, string | readonly Branch[]>>
}

interface Branch {
  readonly condition: string
  readonly target: string
}

const conditions: Readonly<Record<string, (data: number) => boolean>> = {
  even: (data) => data % 2 === 0,
  small: (data) => data < 3,
  never: () => false
}

interface Outcome {
  readonly trace: readonly string[]
  readonly success: boolean
  readonly reason: string | undefined
  readonly details: unknown
  readonly data: Json
}

function referenceLoop(graph: Graph, answers: readonly number[]): Outcome {
  const trace: string[] = []
  const failure = (reason: string, details: unknown): Outcome => ({
    trace,
    success: false,
    reason,
    details,
    data: null
  })
  let current = graph.entry
  let steps = 0
  while (true) {
    steps += 1
    if (steps > graph.maxSteps) {
      return failure('max_steps_exceeded', { max_steps: graph.maxSteps, node: current })
    }
    const answer = answers[trace.length % answers.length] ?? 0
    trace.push(current)
    if (answer === -1) return failure('boom', {})
    const transition = Object.hasOwn(graph.transitions, current)
      ? graph.transitions[current]
      : undefined
    if (transition === undefined) {
      return { trace, success: true, reason: undefined, details: undefined, data: answer }
    }
    if (typeof transition === 'string') {
      current = transition
      continue
    }
    const branch = transition.find(
      ({ condition }) => condition === 'default' || conditions[condition]?.(answer) === true
    )
    if (branch === undefined) return failure('no_transition', { node: current })
    current = branch.target
  }
}

const registry: BlockRegistry = {
  block: (name) => ({ name, version: '1', sideEffects: 'none' }),
  composite: () => undefined,
  condition: (name) => {
    const predicate = conditions[name]
    return predicate === undefined ? undefined : ({ data }) => predicate(Number(data))
  },
  repair: () => undefined
}

function compiledOf(graph: Graph): CompiledComposite {
  const document = {
    schema: 'tally-composite/1',
    name: 'model',
    version: '1',
    max_steps: graph.maxSteps,
    entry_point: graph.entry,
    nodes: Object.fromEntries(graph.nodes.map((name) => [name, { block: `b.${name}` }])),
    transitions: graph.transitions
  }
  const parsed = parseComposite(JSON.parse(JSON.stringify(document)))
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics))
  const result = compileComposite(parsed.definition, { registry })
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics))
  return result.compiled
}

function answerOf(answer: number): Response {
  return answer === -1 ? failed('boom') : succeeded(answer)
}

interface Schedule {
  readonly waits: readonly boolean[]
  readonly crashEvery: number | undefined
}

function run(compiled: CompiledComposite, answers: readonly number[], schedule: Schedule) {
  // Keyed by step, as a journal is: an attempt asked again after a crash gets the same answer.
  const pump = new FakePump(compiled.logic, {
    block: compiled.name,
    attempt: ({ step }) => ({
      response: answerOf(answers[(step - 1) % answers.length] ?? 0),
      waitsFirst: schedule.waits[step % schedule.waits.length] ?? false
    })
  })
  pump.execute({ start: true })
  pump.drain(schedule.crashEvery === undefined ? {} : { crashEvery: schedule.crashEvery })
  return pump
}

function outcomeOf(pump: FakePump): Outcome {
  const { response } = pump
  return {
    trace: pump.asks.flatMap((ask) => (ask.kind === 'attempt' ? [ask.path.slice(5)] : [])),
    success: response?.success ?? false,
    reason: response?.reason,
    details: response?.details,
    data: response?.data ?? null
  }
}

const names = ['a', 'b', 'c', 'constructor', 'e-1']

const arbitraryGraph: fc.Arbitrary<Graph> = fc
  .integer({ min: 1, max: names.length })
  .chain((size) => {
    const nodes = names.slice(0, size)
    const target = fc.constantFrom(...nodes)
    const condition = fc.constantFrom('even', 'small', 'never', 'default')
    const branches = fc.array(fc.record({ condition, target }), { minLength: 1, maxLength: 3 })
    const transition = fc.oneof(fc.constant(null), target, branches)
    return fc.record({
      maxSteps: fc.integer({ min: 0, max: 12 }),
      entry: target,
      nodes: fc.constant(nodes),
      transitions: fc
        .tuple(...nodes.map(() => transition))
        .map((list) =>
          Object.fromEntries(
            list.flatMap((one, index) => (one === null ? [] : [[nodes[index] ?? 'a', one]]))
          )
        )
    })
  })

const arbitraryAnswers = fc.array(
  fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 0, max: 6 }) }, fc.constant(-1)),
  { minLength: 1, maxLength: 8 }
)

const arbitrarySchedule: fc.Arbitrary<Schedule> = fc.record({
  waits: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
  crashEvery: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined })
})

describe('reference loop', () => {
  it('B6, D6: the compiled chart equals the loop, whatever waits and crashes', () => {
    fc.assert(
      fc.property(
        arbitraryGraph,
        arbitraryAnswers,
        arbitrarySchedule,
        (graph, answers, schedule) => {
          const pump = run(compiledOf(graph), answers, schedule)
          expect(pump.errors).toEqual([])
          expect(outcomeOf(pump)).toEqual(referenceLoop(graph, answers))
        }
      ),
      { numRuns: cases({ usual: 150, long: 220 }) }
    )
  })

  it('D1: the pure fold of the deliveries asks for what the live actors asked for', () => {
    fc.assert(
      fc.property(
        arbitraryGraph,
        arbitraryAnswers,
        arbitrarySchedule,
        (graph, answers, schedule) => {
          const compiled = compiledOf(graph)
          const pump = run(compiled, answers, schedule)
          expect(foldRun(compiled, pump.deliveries, { library: registry })).toEqual(pump.asks)
          const interpreted = { library: registry, makeParent: interpretedParent }
          expect(foldRun(compiled, pump.deliveries, interpreted)).toEqual(pump.asks)
        }
      ),
      { numRuns: cases({ usual: 100, long: 165 }) }
    )
  })

  it('D6: table and XState interpreter are in the same state after every delivery', () => {
    fc.assert(
      fc.property(arbitraryGraph, arbitraryAnswers, (graph, answers) => {
        const compiled = compiledOf(graph)
        const live = run(compiled, answers, { waits: [true, false, false], crashEvery: undefined })
        const options = { library: registry, makeParent: interpretedParent }
        const fold = new RunFold(compiled, options)
        const folded = live.deliveries.map((delivery) => {
          fold.deliver(delivery)
          return fold.stateOf('root')
        })
        expect(live.states).toEqual(folded)
      }),
      { numRuns: cases({ usual: 60, long: 82 }) }
    )
  })
})
