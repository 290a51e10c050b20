import { itemsOf } from '../../chart/rows.js'
import type { CompositeEvent, Wait } from '../../protocol.js'
import type { PlanAction } from './action.js'
import type { PlanLibrary } from './library.js'
import type { NodeState, PlanContext } from './node-state.js'
import { Progress } from './progress.js'

/** The actions of a plan that are about its nodes. */
export function nodeActions(library: PlanLibrary): Readonly<Record<string, PlanAction>> {
  const nodeIndexOf = (node: string) => library.places.get(node) ?? -1
  return {
    startNodes: (context, event, _params, sink) => {
      if (context.ready.length === 0) return context
      const progress = new Progress(library, context)
      progress.start(sink, event.at)
      return progress.context
    },
    takeSettled: (context, event) => {
      if (event.type !== 'block.settled') return context
      const progress = new Progress(library, context)
      progress.settled(nodeIndexOf(event.node), event.response)
      return progress.context
    },
    takeWaiting: (context, event) => {
      if (event.type !== 'block.waiting') return context
      const progress = new Progress(library, context)
      progress.waits(nodeIndexOf(event.node), event.sent === true)
      return { ...progress.context, childReason: event.wait.reason }
    },
    takeResumed: (context, event) => {
      if (event.type !== 'block.resumed') return context
      const progress = new Progress(library, context)
      progress.resumes(nodeIndexOf(event.node))
      return progress.context
    },
    holdWait: (context) => ({ ...context, wait: waitOf(context) }),
    cancelNode: (context, event, _params, sink) =>
      event.type === 'block.waiting'
        ? cancelled(context, [nodeIndexOf(event.node)], STOPPED, { library, event, sink })
        : context,
    cancelNodes: (context, event, _params, sink) => {
      const reason = event.type === 'block.cancel' ? event.reason : STOPPED
      return cancelled(context, placesOf(context, isUnderWay), reason, { library, event, sink })
    },
    stopNodes: (context, event, _params, sink) => {
      const nodeIndexes = placesOf(context, (state, nodeIndex) => {
        if (state.status === 'waiting') return !state.sent
        // Behind the failure nothing has been sent: such nodes have not had their turn.
        return state.status === 'running' && isBehind(context, library, nodeIndex)
      })
      return cancelled(context, nodeIndexes, STOPPED, { library, event, sink })
    }
  }
}

const STOPPED = 'plan_stopped'

/** What the plan itself waits for: it stands for all its children, which wait for themselves. */
function waitOf({ childReason, waiting }: PlanContext): Wait {
  return { reason: childReason, request: { waiting }, actions: [] }
}

function isUnderWay(state: NodeState): boolean {
  return state.status === 'running' || state.status === 'waiting'
}

function isBehind(context: PlanContext, library: PlanLibrary, nodeIndex: number): boolean {
  if (library.delivery === 'arrival') return false
  const failed = context.failure?.details?.['failed_node']
  const at = typeof failed === 'string' ? library.places.get(failed) : undefined
  return at !== undefined && nodeIndex > at
}

function placesOf(
  context: PlanContext,
  isMeant: (state: NodeState, nodeIndex: number) => boolean
): readonly number[] {
  const nodeIndexes: number[] = []
  let nodeIndex = 0
  for (const state of itemsOf(context.nodes)) {
    if (isMeant(state, nodeIndex)) nodeIndexes.push(nodeIndex)
    nodeIndex += 1
  }
  return nodeIndexes
}

function cancelled(
  context: PlanContext,
  nodeIndexes: readonly number[],
  reason: string,
  {
    library,
    event,
    sink
  }: {
    readonly library: PlanLibrary
    readonly event: CompositeEvent
    readonly sink: Parameters<PlanAction>[3]
  }
): PlanContext {
  const progress = new Progress(library, context)
  for (const nodeIndex of nodeIndexes) {
    const name = library.nodes[nodeIndex]?.name
    if (name === undefined || !progress.cancels(nodeIndex)) continue
    sink.send(name, { type: 'block.cancel', reason, at: event.at })
  }
  return progress.context
}
