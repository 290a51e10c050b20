import type {
  AnyStateMachine,
  AnyStateNode,
  AnyTransitionDefinition,
  InspectionEvent
} from 'xstate'

/** Every transition that is written in a machine's config, named by where it stands. */
export function edgesOf(machine: AnyStateMachine): readonly string[] {
  return statesOf(machine.root).flatMap((state) => {
    const events = [...state.transitions.values()].flat()
    return [...events, ...(state.always ?? [])].map(edgeName)
  })
}

function statesOf(state: AnyStateNode): readonly AnyStateNode[] {
  return [state, ...Object.values(state.states).flatMap(statesOf)]
}

/** Notes the transitions that interpreted machines take. */
export function watchEdges(walked: Set<string>): (event: InspectionEvent) => void {
  return (event) => {
    if (event.type !== '@xstate.microstep') return
    for (const transition of event._transitions) walked.add(edgeName(transition))
  }
}

function edgeName(transition: AnyTransitionDefinition): string {
  const { source, eventType } = transition
  const isAlways = eventType === ''
  const all = isAlways ? (source.always ?? []) : (source.transitions.get(eventType) ?? [])
  const to = transition.target?.map(({ id }) => id).join(' ') ?? 'itself'
  const event = isAlways ? 'always' : eventType
  return `${source.machine.id}: ${source.id} ${event} ${all.indexOf(transition)} -> ${to}`
}
