import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnyStateMachine } from 'xstate'
import type { CompositeEvent, PumpCommand } from '../../src/block/chart/protocol.js'
import type { CompiledComposite } from '../../src/block/document/compiled.js'
import type { NodeOptions, Response } from '../../src/code/request.js'
import { isJsonObject, type Json } from '../../src/core/index.js'
import { edgesOf, watchEdges } from '../support/chart-edges.js'
import { CompositeModel, type Said, saidOf } from '../support/composite-model.js'
import { cases } from '../support/effort.js'
import { failed, succeeded, testRequest } from '../support/fake-pump.js'
import { compositeMachine } from '../support/interpreted-charts.js'
import { compiledModel, modelDocuments } from '../support/model-documents.js'
import { Played } from '../support/played.js'

const identity = { path: 'root', node: 'root', block: 'model', sideEffects: 'none' } as const

const optionSets: readonly NodeOptions[] = [
  {},
  { onError: 'ask' },
  {
    recovery: [
      { kind: 'retry', maxAttempts: 2, intervalMs: 5, backoff: 'fixed' },
      { kind: 'repair', repair: 'fix' }
    ],
    onError: 'ask',
    timeoutMs: 60
  }
]

const data: readonly Json[] = [
  { n: 1, m: 1 },
  { n: 2 },
  { n: 6, m: 1 },
  { n: 8 },
  { n: 8, m: 1 },
  { n: 12 },
  {}
]
const responses: readonly Response[] = [...data.map(succeeded), failed('boom')]
const wait = { reason: 'external', request: null, actions: ['resume'] } as const

/** What may answer an open ask, in the order in which a number picks it. */
function answersTo(open: Said): readonly Unsent[] {
  switch (open['kind']) {
    case 'attempt':
      return [
        ...responses.map((response): Unsent => ({ type: 'attempt.settled', response })),
        { type: 'attempt.waiting', wait },
        { type: 'attempt.waiting', wait },
        { type: 'attempt.resumed' }
      ]
    case 'timer':
      return [{ type: 'timer.fired' }]
    case 'decision':
      return [
        { type: 'decision.made', action: 'retry' },
        { type: 'decision.made', action: 'patch', patch: { p: 1 } },
        { type: 'decision.made', action: 'patch' },
        { type: 'decision.made', action: 'skip' },
        { type: 'decision.made', action: 'abort' },
        { type: 'timer.fired' },
        { type: 'timer.fired' }
      ]
    case 'scope.commit':
      return [
        { type: 'scope.settled', response: succeeded(4) },
        { type: 'scope.settled', response: failed('commit_failed') },
        { type: 'scope.conflict' }
      ]
    default:
      return [{ type: 'scope.settled', response: abortOf(open), sent: false }]
  }
}

/** What was rolled back continues with the failure that it was rolled back for. */
function abortOf({ said }: Said): Response {
  return failed(isJsonObject(said) ? String(said['reason']) : 'rolled_back')
}

type Without<Event> = Event extends CompositeEvent ? Omit<Event, 'at'> : never
type Unsent = Without<CompositeEvent>

/** The table, which runs and crashes, beside XState's interpreter, which does neither. */
interface Real {
  readonly table: Played
  readonly chart: Played
}

interface Model {
  readonly loop: CompositeModel
  at: number
}

function send(model: Model, real: Real, unsent: Unsent, path = 'root'): void {
  model.at += 1
  const event = { ...unsent, at: model.at } as CompositeEvent
  const asks = real.table.send(event, path)
  expect(asks).toEqual(real.chart.send(event, path))
  expect(real.table.state).toEqual(real.chart.state)
  expect([...real.table.problems, ...real.chart.problems]).toEqual([])
  const said = model.loop.send(event)
  expect(worked(asks.map(saidBy))).toEqual(worked(said))
  expect(told(asks.map(saidBy))).toEqual(told(said))
  expect(real.table.state.value === 'READY').toBe(model.loop.isReady)
}

// Reports travel through the parents, so they come after what a child asks for meanwhile.
const isReport = ({ kind }: Said) => kind === 'waiting' || kind === 'resumed'
const worked = (said: readonly Said[]) => said.filter((one) => !isReport(one))
const told = (said: readonly Said[]) => said.filter(isReport)

function saidBy(ask: PumpCommand): Said {
  const { kind } = ask
  switch (kind) {
    case 'attempt': {
      const { path, step, attempt, request } = ask
      return { kind, path, step, attempt, payload: request.payload }
    }
    case 'timer':
      return { kind, path: ask.path, attempt: ask.attempt, due: ask.due }
    case 'decision': {
      const { path, attempt, response } = ask
      return { kind, path, attempt, reason: response.reason ?? null, due: ask.wait.due ?? null }
    }
    case 'cancel':
      return { kind, path: ask.path }
    case 'answer':
      throw new Error('a composite answers no code')
    case 'scope.open':
      return { kind, path: ask.path, attempt: ask.attempt, outermost: ask.outermost }
    case 'scope.commit':
    case 'scope.abort':
      return { kind, path: ask.path, attempt: ask.attempt, said: saidOf(ask.response) }
    case 'settled':
      return { kind, step: ask.step, said: saidOf(ask.response) }
    case 'waiting':
      return { kind, reason: ask.wait.reason }
    case 'resumed':
      return { kind }
  }
}

function command(name: string, run: (model: Model, real: Real) => void): fc.Command<Model, Real> {
  return { check: () => true, toString: () => name, run }
}

function execute(options: number, run: string) {
  return command(`execute ${run} with options ${options}`, (model, real) => {
    send(model, real, {
      type: 'block.execute',
      request: testRequest({ n: 1 }, run),
      step: model.at,
      options: optionSets[options] ?? {}
    })
  })
}

const cancel = command('cancel', (model, real) => {
  send(model, real, { type: 'block.cancel', reason: 'test' })
})

/** A child that waits, asks for something else, and is cancelled: rarely met by chance. */
const cancelWaiting = command('cancel while it waits', (model, real) => {
  for (const _ of [1, 2]) {
    const { open } = model.loop
    if (open?.['kind'] === 'attempt') {
      send(model, real, { type: 'attempt.waiting', wait }, String(open['path']))
    }
  }
  send(model, real, { type: 'block.cancel', reason: 'test' })
})

function answer(pick: number) {
  return command(`answer ${pick}`, (model, real) => {
    const { open } = model.loop
    if (open === undefined) return
    const answers = answersTo(open)
    const chosen = answers[pick % answers.length]
    if (chosen === undefined) return
    const { due } = open
    if (chosen.type === 'timer.fired') {
      // A decision without a due time never ends by itself.
      if (typeof due !== 'number') return
      model.at = Math.max(model.at, due - 1)
    }
    send(model, real, chosen, String(open['path']))
  })
}

const crash = command('crash', (model, real) => {
  const { open } = model.loop
  expect(real.table.crash().map(saidBy)).toEqual(open === undefined ? [] : [open])
  expect(real.table.state).toEqual(real.chart.state)
})

const commands = fc.commands(
  [
    fc
      .tuple(fc.nat(optionSets.length - 1), fc.constantFrom('run-1', 'run-2'))
      .map((given) => execute(...given)),
    fc.constant(cancel),
    fc.constant(cancelWaiting),
    ...Array.from({ length: 16 }, () => fc.nat(76).map(answer)),
    ...Array.from({ length: 4 }, () => fc.constant(crash))
  ],
  { maxCommands: 100, size: 'max' }
)

/** The interpreted chart, with interpreted charts for the composites in it. */
function interpreted(compiled: CompiledComposite): AnyStateMachine {
  const actors: Record<string, AnyStateMachine> = {}
  for (const [name, node] of compiled.nodes) {
    if (node.kind === 'composite') actors[`composite:${name}`] = interpreted(node)
  }
  return compositeMachine(compiled).provide({ actors })
}

/** What only a defect of a parent could do: it never executes a child that is not READY. */
const isRefusal = (edge: string) => edge.includes('block.execute') && edge.endsWith('-> itself')

function edgesToWalk(compiled: CompiledComposite, isRoot = true): readonly string[] {
  const own = edgesOf(compositeMachine(compiled)).filter((edge) => isRoot || !isRefusal(edge))
  const children = [...compiled.nodes.values()].flatMap((node) =>
    node.kind === 'composite' ? edgesToWalk(node, false) : []
  )
  return [...own, ...children]
}

describe('the composite chart under crashes', () => {
  for (const [name, graph] of Object.entries(modelDocuments)) {
    it(`B2, B4, B6, D6: ${name} does what the loop does, over every transition`, () => {
      const compiled = compiledModel(graph)
      const walked = new Set<string>()
      const machine = interpreted(compiled)
      const watch = watchEdges(walked)
      fc.assert(
        fc.property(commands, (sequence) => {
          fc.modelRun(
            () => ({
              model: { loop: new CompositeModel(graph), at: 1_000 },
              real: {
                table: new Played(compiled.logic, identity),
                chart: new Played(machine, identity, watch)
              }
            }),
            sequence
          )
        }),
        { numRuns: cases({ usual: 150, long: 220, soak: 5_000 }) }
      )
      const edges = edgesToWalk(compiled)
      expect(edges.length).toBeGreaterThan(30)
      expect(edges.filter((edge) => !walked.has(edge))).toEqual([])
    })
  }
})
