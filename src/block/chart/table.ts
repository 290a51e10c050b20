import type { AnyActorRef } from 'xstate'
import type { ChartNode, ChartTransition } from '../../../machines/composite.js'
import {
  atOnce,
  coreError,
  isSliceFull,
  limits,
  type Pieces,
  passSteps,
  present
} from '../../core/index.js'
import { rootCommand, type Sink } from './chart-run.js'
import type { BlockReport, PumpCommand } from './protocol.js'
import { type ActorSystem, pumpOf } from './pump-port.js'

/**
 * A chart as a table: for each state that has no states inside, its transitions with their
 * functions looked up. Charts here have no entry and exit actions and no parallel states, so one
 * look-up for an event, and then `always` until nothing matches, is all that a macrostep is.
 */
export interface TableState<Context, Event, Target> {
  /** Keys from the root joined by `.`. */
  readonly key: string
  readonly value: TableValue
  readonly on: ReadonlyMap<string, readonly TableBranch<Context, Event, Target>[]>
  readonly always: readonly TableBranch<Context, Event, Target>[]
}

/** A state value as XState writes it. */
export type TableValue = string | { readonly [state: string]: TableValue }

export interface TableBranch<Context, Event, Target> {
  readonly guard: ((context: Context, event: Event) => boolean) | undefined
  /** Key of the next state; undefined: the state stays. */
  readonly target: string | undefined
  readonly actions: readonly ((context: Context, event: Event, target: Target) => Context)[]
}

export interface TableFunctions<Context, Event, Params, Target> {
  readonly guards: Readonly<
    Record<string, (context: Context, event: Event, params: Params) => boolean>
  >
  readonly actions: Readonly<
    Record<string, (context: Context, event: Event, params: Params, target: Target) => Context>
  >
}

export type Table<Context, Event, Target> = ReadonlyMap<string, TableState<Context, Event, Target>>

/**
 * Computes the table of a chart. Throws `core.internal` for a name or target that does not exist.
 */
export function tableOf<Context, Event, Params extends object, Target>(
  chart: ChartNode,
  functions: TableFunctions<Context, Event, Params, Target>
): Table<Context, Event, Target> {
  return atOnce(makingTable(chart, functions))
}

/** Work of a state, and of each transition that its table has. */
const STEPS_OF_STATE = 2
const STEPS_OF_TRANSITION = 1

/** {@link tableOf} in pieces: other work may be done wherever it yields. */
export function* makingTable<Context, Event, Params extends object, Target>(
  chart: ChartNode,
  functions: TableFunctions<Context, Event, Params, Target>
): Pieces<Table<Context, Event, Target>> {
  const places = yield* findingPlaces(chart)
  const table = new Map<string, TableState<Context, Event, Target>>()
  const branchOf = (transition: ChartTransition): TableBranch<Context, Event, Target> => {
    passSteps(STEPS_OF_TRANSITION)
    return {
      guard: guardOf(transition, functions),
      target: transition.target === undefined ? undefined : places.resolve(transition.target),
      actions: (transition.actions ?? []).map((reference) => {
        const { name, params } = referenceOf<Params>(reference)
        const action = present(functions.actions[name], `action ${name}`)
        return (context, event, target) => action(context, event, params, target)
      })
    }
  }
  for (const [key, { node, lineage }] of places.all) {
    if (node.states !== undefined) continue
    passSteps(STEPS_OF_STATE)
    if (isSliceFull()) yield
    const on = new Map<string, TableBranch<Context, Event, Target>[]>()
    // Inner handlers first, then those of the states around, as in XState.
    for (const state of [node, ...lineage]) {
      for (const [type, list] of Object.entries(state.on ?? {})) {
        on.set(type, [...(on.get(type) ?? []), ...list.map(branchOf)])
      }
    }
    table.set(key, { key, value: valueFrom(key), on, always: (node.always ?? []).map(branchOf) })
  }
  return table
}

/** Key of a state by its value. */
export function keyOfValue(value: TableValue): string {
  if (typeof value === 'string') return value
  const [entry] = Object.entries(value)
  if (entry === undefined) throw coreError('core.internal', { problem: 'an empty state value' })
  return `${entry[0]}.${keyOfValue(entry[1])}`
}

export interface TableStep<Context, Event, Target> {
  readonly state: TableState<Context, Event, Target>
  readonly context: Context
}

/** One macrostep; the same step when the event means nothing in this state. */
export function stepTable<Context, Event extends { readonly type: string }, Target>(
  table: Table<Context, Event, Target>,
  from: TableStep<Context, Event, Target>,
  event: Event,
  target: Target
): TableStep<Context, Event, Target> {
  const first = take(table, from, from.state.on.get(event.type), event, target)
  if (first === undefined) return from
  let step = first
  for (let count = 0; step.state.always.length > 0; count += 1) {
    if (count > limits.CHART_ITERATIONS_MAX) {
      throw coreError('core.internal', { problem: `the chart loops in ${step.state.key}` })
    }
    const next: typeof step | undefined = take(table, step, step.state.always, event, target)
    if (next === undefined) break
    step = next
  }
  return step
}

function take<Context, Event, Target>(
  table: Table<Context, Event, Target>,
  { state, context }: TableStep<Context, Event, Target>,
  branches: readonly TableBranch<Context, Event, Target>[] | undefined,
  event: Event,
  target: Target
): TableStep<Context, Event, Target> | undefined {
  if (branches === undefined) return undefined
  for (const branch of branches) {
    if (branch.guard !== undefined && !branch.guard(context, event)) continue
    let next = context
    for (const action of branch.actions) next = action(next, event, target)
    const to = branch.target === undefined ? state : table.get(branch.target)
    return { state: present(to, `state ${branch.target}`), context: next }
  }
  return undefined
}

function guardOf<Context, Event, Params extends object, Target>(
  transition: ChartTransition,
  functions: TableFunctions<Context, Event, Params, Target>
): ((context: Context, event: Event) => boolean) | undefined {
  if (transition.guard === undefined) return undefined
  const { name, params } = referenceOf<Params>(transition.guard)
  const guard = present(functions.guards[name], `guard ${name}`)
  return (context, event) => guard(context, event, params)
}

function referenceOf<Params extends object>(
  reference: NonNullable<ChartTransition['guard']>
): { readonly name: string; readonly params: Params } {
  // A chart's parameters are what its own functions expect; all of theirs are optional.
  if (typeof reference === 'string') return { name: reference, params: {} as Params }
  return { name: reference.type, params: reference.params as Params }
}

interface ChartPosition {
  readonly node: ChartNode
  /** The states around it, innermost first. */
  readonly lineage: readonly ChartNode[]
}

function* findingPlaces(chart: ChartNode) {
  const all = new Map<string, ChartPosition>()
  const byId = new Map<string, string>()
  function* visiting(
    node: ChartNode,
    key: string,
    lineage: readonly ChartNode[]
  ): Pieces<undefined> {
    passSteps(STEPS_OF_STATE)
    if (isSliceFull()) yield
    all.set(key, { node, lineage })
    if (node.id !== undefined) byId.set(node.id, key)
    for (const [name, child] of Object.entries(node.states ?? {})) {
      yield* visiting(child, key === '' ? name : `${key}.${name}`, [node, ...lineage])
    }
    return undefined
  }
  yield* visiting(chart, '', [])
  const initial = (key: string): string => {
    const inner = all.get(key)?.node.initial
    return inner === undefined ? key : initial(key === '' ? inner : `${key}.${inner}`)
  }
  const resolve = (target: string): string => {
    const [id = '', ...path] = target.slice(1).split('.')
    const base = present(byId.get(id), `state ${target}`)
    const key = [base, ...path].filter((part) => part !== '').join('.')
    present(all.get(key), `state ${target}`)
    return initial(key)
  }
  return { all, resolve }
}

function valueFrom(key: string): TableValue {
  const [head = '', ...rest] = key.split('.')
  return rest.length === 0 ? head : { [head]: valueFrom(rest.join('.')) }
}

/** What a sink needs of the scope in which an actor takes an event. */
export interface ActorPlace {
  readonly self: AnyActorRef
  readonly system: ActorSystem
  defer(send: () => void): void
}

/** Hands on what the table of an actor says: asks to the pump, reports to the parent. */
export class ActorSink implements Sink {
  protected readonly scope: ActorPlace
  readonly #path: string

  constructor(scope: ActorPlace, path: string) {
    this.scope = scope
    this.#path = path
  }

  ask(ask: PumpCommand): void {
    pumpOf(this.scope.system)?.ask(ask, this.scope.self)
  }

  report(report: BlockReport): void {
    const parent = this.scope.self._parent
    if (parent === undefined) return this.ask(rootCommand(this.#path, report))
    pumpOf(this.scope.system)?.reported?.(this.#path, report)
    // Deferred, as sendParent is: the parent sees this actor's new snapshot.
    this.scope.defer(() => parent.send(report))
  }
}
