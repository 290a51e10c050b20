import {
  type CompiledDocument,
  type CompiledNode,
  emptyRequest,
  type JournalEntry
} from '../../block/index.js'
import type { Request } from '../../code/index.js'
import type { Json, JsonObject } from '../../core/index.js'
import type { Play } from './play.js'

/** A transition or state that no case has taken. */
export interface Missed {
  /** `root: pick -> report (2: response.data.done)`, or `root/pay: retry`. */
  readonly what: string
  readonly why: string
}

/** Which transitions and nodes the cases have reached. */
export interface MachineCoverage {
  readonly transitions: { readonly taken: number; readonly of: number }
  /** Of leaf blocks: done, failed, and every wait and recovery that its node declares. */
  readonly states: { readonly taken: number; readonly of: number }
  readonly missed: readonly Missed[]
}

/** What was taken, as plain JSON. */
export interface CoverageLeft {
  readonly taken: readonly string[]
  readonly entered: readonly string[]
  readonly done: readonly string[]
}

interface Edge {
  readonly parent: string
  readonly from: string
  /** Place among the branches of `from`; -1: the end of the composite. */
  readonly index: number
  readonly to: string
  readonly label: string
}

interface Visit {
  readonly child: string
  readonly step: number | undefined
  entry: JournalEntry
}

type Composite = CompiledDocument & { readonly kind: 'composite' }

/**
 * Which transitions and states the plays of all cases have taken, read off their journals.
 *
 * Owns: what was taken. Transitions are those of the compiled graph, by the place of their branch.
 */
export class Coverage {
  readonly #root: CompiledDocument
  readonly #edges: readonly Edge[]
  readonly #states: readonly string[]
  readonly #taken = new Set<string>()
  readonly #entered = new Set<string>()
  readonly #done = new Set<string>()

  constructor(root: CompiledDocument) {
    this.#root = root
    this.#edges = edgesOf(root, 'root')
    this.#states = statesOf(root, 'root')
  }

  /** Counts what one play has taken. */
  add(
    { journals, results }: Play,
    { inputs, context = {} }: { readonly inputs: readonly Json[]; readonly context?: JsonObject }
  ): void {
    const ended = new Map(results.map(({ id, status }) => [id, status]))
    let index = 0
    for (const [run, entries] of journals) {
      for (const entry of entries) this.#count(entry)
      const request = { ...emptyRequest, payload: inputs[index] ?? null, context }
      this.#walk(this.#root, 'root', { entries, request, isDone: ended.get(run) === 'done' })
      index += 1
    }
  }

  #count(entry: JournalEntry): void {
    if (!('path' in entry)) return
    const { path } = entry
    if (entry.k === 'settled') {
      this.#taken.add(`${path}: ${entry.response.success ? 'done' : 'failed'}`)
      if (entry.response.success) this.#done.add(path)
      if (entry.attempt > 1) this.#taken.add(`${path}: recovery`)
    }
    if (entry.k === 'wait') this.#taken.add(`${path}: ${entry.reason}`)
    for (let one = path; one !== ''; one = one.slice(0, Math.max(0, one.lastIndexOf('/')))) {
      this.#entered.add(one)
    }
  }

  #walk(compiled: CompiledDocument, path: string, run: WalkedRun): void {
    for (const [name, node] of compiled.nodes) {
      if (node.kind !== 'leaf') this.#walk(node, `${path}/${name}`, { ...run, isDone: false })
    }
    if (compiled.kind !== 'composite') return
    const visits = visitsOf(run.entries, path)
    for (const [place, visit] of visits.entries()) {
      const next = visits[place + 1]
      const edge =
        next === undefined
          ? run.isDone
            ? this.#edgeTo(path, visit.child, undefined)
            : undefined
          : this.#branchTaken(compiled, path, { visit, to: next.child, request: run.request })
      if (edge !== undefined) this.#taken.add(keyOf(edge))
    }
  }

  #edgeTo(parent: string, from: string, to: string | undefined): Edge | undefined {
    const found = this.#edges.filter((one) => one.parent === parent && one.from === from)
    return found.find((one) => (to === undefined ? one.index === -1 : one.to === to))
  }

  /**
   * Where several branches lead to the same node, their conditions say which it was. Journals have
   * no requests of inner composites: that of the run stands for them.
   */
  #branchTaken(
    { plan }: Composite,
    parent: string,
    {
      visit,
      to,
      request
    }: { readonly visit: Visit; readonly to: string; readonly request: Request }
  ): Edge | undefined {
    const found = this.#edges.filter(
      (one) => one.parent === parent && one.from === visit.child && one.to === to
    )
    const { entry } = visit
    if (found.length <= 1 || entry.k !== 'settled') return found[0]
    const branches = plan.nodes.get(visit.child)?.branches ?? []
    const chosen = found.find(({ index }) => {
      const condition = branches[index]?.condition
      if (condition === null || condition === undefined) return true
      const answer = condition(entry.response, request)
      return answer.ok && answer.value
    })
    return chosen ?? found[0]
  }

  left(): CoverageLeft {
    return { taken: [...this.#taken], entered: [...this.#entered], done: [...this.#done] }
  }

  take({ taken, entered, done }: CoverageLeft): void {
    for (const one of taken) this.#taken.add(one)
    for (const one of entered) this.#entered.add(one)
    for (const one of done) this.#done.add(one)
  }

  report(): MachineCoverage {
    const missedEdges = this.#edges.filter((edge) => !this.#taken.has(keyOf(edge)))
    const missedStates = this.#states.filter((state) => !this.#taken.has(state))
    return {
      transitions: {
        taken: this.#edges.length - missedEdges.length,
        of: this.#edges.length
      },
      states: { taken: this.#states.length - missedStates.length, of: this.#states.length },
      missed: [
        ...missedEdges.map((edge) => ({ what: textOf(edge), why: this.#whyEdge(edge) })),
        ...missedStates.map((what) => ({ what, why: this.#whyState(what) }))
      ]
    }
  }

  #whyEdge({ parent, from, index }: Edge): string {
    const path = `${parent}/${from}`
    if (!this.#entered.has(path)) return `${from} was never entered`
    if (!this.#hasEnded(path)) return `${from} never ended well: no answer led there`
    if (index === -1) return 'no run ended here'
    return 'its condition was never true, or an earlier one was'
  }

  #hasEnded(path: string): boolean {
    if (this.#done.has(path)) return true
    return [...this.#done].some((done) => done.startsWith(`${path}/`))
  }

  #whyState(state: string): string {
    const [path = '', what = ''] = state.split(': ')
    if (!this.#entered.has(path)) return `${path} was never entered`
    return what === 'done' ? 'no answer led there' : 'nothing in the cases led there'
  }
}

interface WalkedRun {
  readonly entries: readonly JournalEntry[]
  readonly request: Request
  readonly isDone: boolean
}

/** Names a transition among those that were taken. */
export function keyOf({ parent, from, index }: Edge): string {
  return JSON.stringify([parent, from, index])
}

function textOf({ parent, from, index, to, label }: Edge): string {
  const place = index < 0 || label === '' ? '' : ` (${index + 1}: ${label})`
  return `${parent}: ${from} -> ${to}${place}`
}

/** Transitions of a document, and of those inside it. */
export function edgesOf(compiled: CompiledDocument, parent: string): readonly Edge[] {
  const inner = [...compiled.nodes].flatMap(([name, node]) =>
    node.kind === 'leaf' ? [] : edgesOf(node, `${parent}/${name}`)
  )
  if (compiled.kind !== 'composite') return inner
  const own = [...compiled.plan.nodes.values()].flatMap(({ name: from, branches }): Edge[] => {
    // The end of an inner composite is where its node's own transitions begin.
    const end = parent === 'root' ? [{ parent, from, index: -1, to: 'the end', label: '' }] : []
    if (branches.length === 0) return end
    return branches.map(({ target: to, label }, index) => ({ parent, from, index, to, label }))
  })
  return [...own, ...inner]
}

function optionsOf({ kind, plan }: CompiledDocument, name: string): NodeOptions {
  const planned =
    kind === 'plan' ? plan.nodes.find((one) => one.name === name) : plan.nodes.get(name)
  return planned?.options ?? {}
}

type NodeOptions =
  Composite['plan']['nodes'] extends ReadonlyMap<string, infer Node>
    ? Node extends { readonly options: infer Options }
      ? Options
      : never
    : never

function statesOf(node: CompiledNode, path: string): readonly string[] {
  if (node.kind === 'leaf') return []
  return [...node.nodes].flatMap(([name, child]) => {
    const at = `${path}/${name}`
    if (child.kind !== 'leaf') return statesOf(child, at)
    const { recovery = [], confirm, onError } = optionsOf(node, name)
    return [
      `${at}: done`,
      `${at}: failed`,
      ...(confirm === undefined ? [] : [`${at}: confirmation`]),
      ...(onError === 'ask' ? [`${at}: decision`] : []),
      ...(recovery.some(({ kind }) => kind !== 'bubble') ? [`${at}: recovery`] : [])
    ]
  })
}

/** The nodes of a composite in the order in which a run has executed them. */
function visitsOf(entries: readonly JournalEntry[], parent: string): readonly Visit[] {
  const visits: Visit[] = []
  for (const entry of entries) {
    if (!('path' in entry) || !entry.path.startsWith(`${parent}/`)) continue
    const below = entry.path.slice(parent.length + 1)
    const [child = ''] = below.split('/')
    const step = below === child && 'step' in entry ? entry.step : undefined
    const last = visits.at(-1)
    if (last?.child === child && last.step === step) {
      if (entry.k === 'settled') last.entry = entry
    } else visits.push({ child, step, entry })
  }
  return visits
}
