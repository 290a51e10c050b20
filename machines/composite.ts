/**
 * The composite block (B4, B6): the template that the graph compiler fills. Data only.
 *
 * Each node is a compound state `n:<name>` with two substates: `gate` counts steps, `run` executes
 * the child. The child is executed on the transition from gate to run, not on entry of run: coming
 * back from `w:<name>` (the child waited) does not execute it again. Names are prefixed because
 * XState reads `.` as a path and JavaScript sorts integer-like keys first.
 *
 * The step check stands after the choice of a target, so `no_transition` beats
 * `max_steps_exceeded`.
 */
export interface CompositeNode {
  readonly name: string
  /** The node has an `input` that may fail to evaluate. */
  readonly hasInput: boolean
  /** Some value refers to its response. */
  readonly kept: boolean
  /** In order; without a condition a branch always matches. None: the node ends the composite. */
  readonly branches: readonly { readonly target: string; readonly condition?: string }[]
}

/** What the chart of a composite is made of. */
export interface CompositeTemplate {
  readonly id: string
  readonly entry: string
  readonly nodes: Iterable<CompositeNode>
  readonly hasOutput: boolean
  /** Runs on an overlay: commit and abort are asked of the pump (C4). */
  readonly scoped: boolean
}

export const compositeChartVersion = '1'

type Reference = string | { readonly type: string; readonly params: Readonly<Record<string, Data>> }
type Data = string | number

/** A transition of a chart, in XState's configuration format. */
export interface ChartTransition {
  readonly guard?: Reference
  readonly target?: string
  readonly reenter?: true
  readonly actions?: readonly Reference[]
}

/** A chart as JSON: what `createMachine` accepts, with references by name only. */
export interface ChartNode {
  readonly id?: string
  readonly version?: string
  readonly initial?: string
  readonly on?: Readonly<Record<string, readonly ChartTransition[]>>
  readonly always?: readonly ChartTransition[]
  readonly states?: Readonly<Record<string, ChartNode>>
}

const gate = (node: string): string => `#n:${node}.gate`
const run = (node: string): string => `#n:${node}.run`

/**
 * Fills the template node by node: other work may be done wherever it yields. The result is JSON:
 * it draws in Stately's tools and hashes.
 */
export function* compositeChart(
  template: CompositeTemplate
): Generator<undefined, ChartNode, undefined> {
  const nodes: [string, ChartNode][] = []
  const waits: [string, ChartNode][] = []
  for (const node of template.nodes) {
    nodes.push([`n:${node.name}`, nodeState(node, template)])
    waits.push([`w:${node.name}`, waitState(node)])
    yield
  }
  const entry = gate(template.entry)
  const refuse = { actions: ['refuseBusy'] }
  const open = template.scoped ? ['openScope'] : []
  return {
    id: template.id,
    version: compositeChartVersion,
    initial: 'READY',
    states: {
      READY: {
        id: 'ready',
        on: { 'block.execute': [{ target: entry, actions: ['begin', ...open] }] }
      },
      BUSY: {
        initial: 'recover',
        on: {
          'block.execute': [refuse],
          'block.cancel': [{ actions: ['cancelChild'] }]
        },
        states: {
          ...Object.fromEntries(nodes),
          ...(template.scoped ? scopeStates(entry) : {}),
          recover: { id: 'recover', always: recovery(entry, open) }
        }
      },
      WAITING: {
        initial: 'decision',
        on: { 'block.execute': [refuse] },
        states: {
          ...Object.fromEntries(waits),
          retry: {
            id: 'retry',
            on: {
              'block.cancel': [
                { target: '#ready', actions: ['reportResumed', 'askCancel', 'settleCancelled'] }
              ],
              'timer.fired': [
                { target: entry, actions: ['reportResumed', 'countAttempt', ...open] }
              ]
            }
          },
          decision: { id: 'decision', on: decisionEvents(entry, open) }
        }
      }
    }
  }
}

function nodeState(node: CompositeNode, template: CompositeTemplate): ChartNode {
  const params = { node: node.name }
  const fails = { type: 'inputFails', params }
  return {
    id: `n:${node.name}`,
    initial: 'gate',
    states: {
      gate: {
        always: [
          {
            guard: 'exhausted',
            target: afterFailure(template),
            actions: [{ type: 'failExhausted', params }]
          },
          ...(node.hasInput
            ? [
                {
                  guard: fails,
                  target: afterFailure(template),
                  actions: [{ type: 'failInput', params }]
                }
              ]
            : []),
          {
            target: run(node.name),
            actions: [
              { type: 'spawnChild', params },
              { type: 'executeChild', params }
            ]
          }
        ]
      },
      run: {
        on: {
          'block.settled': afterChild(node, template),
          'block.waiting': [{ target: `#w:${node.name}`, actions: ['reportWaiting'] }]
        }
      }
    }
  }
}

/** First match in document order, as the seed's `choose_next_node`. */
function afterChild(node: CompositeNode, template: CompositeTemplate): readonly ChartTransition[] {
  const params = { node: node.name }
  const failed: ChartTransition = {
    guard: 'childFails',
    target: afterFailure(template),
    actions: ['holdFailure']
  }
  const keep = node.kept ? [{ type: 'keepResponse', params }] : []
  if (node.branches.length === 0) {
    const outputFails: ChartTransition = {
      guard: 'outputFails',
      target: afterFailure(template),
      actions: ['failOutput']
    }
    return [
      failed,
      ...(template.hasOutput ? [outputFails] : []),
      template.scoped
        ? { target: '#commit', actions: ['holdOutput', 'askCommit'] }
        : { target: '#ready', actions: ['settleOutput'] }
    ]
  }
  const branches = node.branches.map(({ target, condition }, branch): ChartTransition => {
    const edge = {
      target: gate(target),
      reenter: true,
      ...(keep.length > 0 ? { actions: keep } : {})
    } as const
    if (condition === undefined) return edge
    // The condition stands in the chart for those who read it; the guard goes by its place.
    const branchParams = { node: node.name, branch, condition }
    return { guard: { type: 'takesBranch', params: branchParams }, ...edge }
  })
  const conditionFails: ChartTransition = {
    guard: { type: 'conditionFails', params },
    target: afterFailure(template),
    actions: [{ type: 'failCondition', params }]
  }
  const noTransition: ChartTransition = {
    target: afterFailure(template),
    actions: [{ type: 'failNoTransition', params }]
  }
  const isConditional = node.branches.some(({ condition }) => condition !== undefined)
  const isTotal = node.branches.some(({ condition }) => condition === undefined)
  return [
    failed,
    ...(isConditional ? [conditionFails] : []),
    ...branches,
    ...(isTotal ? [] : [noTransition])
  ]
}

function afterFailure(template: CompositeTemplate): string {
  return template.scoped ? '#aborting' : '#recover'
}

function waitState(node: CompositeNode): ChartNode {
  return {
    id: `w:${node.name}`,
    on: {
      'block.cancel': [{ actions: ['cancelChild'] }],
      'block.waiting': [{ actions: ['reportWaiting'] }],
      'block.resumed': [{ target: run(node.name), actions: ['reportResumed'] }]
    }
  }
}

function scopeStates(entry: string): Readonly<Record<string, ChartNode>> {
  return {
    commit: {
      id: 'commit',
      on: {
        'scope.conflict': [{ target: entry, actions: ['restart', 'openScope'] }],
        'scope.settled': [
          { guard: 'scopeSucceeds', target: '#ready', actions: ['settleScope'] },
          { target: '#recover', actions: ['holdFailure'] }
        ]
      }
    },
    aborting: { id: 'aborting', always: [{ target: '#abort', actions: ['askAbort'] }] },
    abort: {
      id: 'abort',
      on: { 'scope.settled': [{ target: '#recover', actions: ['holdFailure'] }] }
    }
  }
}

// Every retry goes through a timer, even without delay: a graph that fails at its entry each time
// would otherwise run all its attempts in one macrostep.
function recovery(entry: string, open: readonly string[]): readonly ChartTransition[] {
  return [
    {
      guard: 'retriesLater',
      target: '#retry',
      actions: ['planRetry', 'askTimer', 'reportHeldWait']
    },
    { guard: 'repairs', target: entry, actions: ['repair', ...open] },
    {
      guard: 'asks',
      target: '#decision',
      actions: ['holdDecision', 'askDecision', 'reportHeldWait']
    },
    { target: '#ready', actions: ['settleFailure'] }
  ]
}

function decisionEvents(
  entry: string,
  open: readonly string[]
): Readonly<Record<string, readonly ChartTransition[]>> {
  const resumed = 'reportResumed'
  return {
    'block.cancel': [{ target: '#ready', actions: [resumed, 'askCancel', 'settleCancelled'] }],
    'decision.made': [
      { guard: 'choosesRetry', target: entry, actions: [resumed, 'countAttempt', ...open] },
      { guard: 'choosesPatch', target: entry, actions: [resumed, 'patchRequest', ...open] },
      { guard: 'choosesSkip', target: '#ready', actions: [resumed, 'settleSkipped'] },
      { target: '#ready', actions: [resumed, 'settleHeld'] }
    ],
    'timer.fired': [{ target: '#ready', actions: [resumed, 'settleTimedOut'] }]
  }
}
