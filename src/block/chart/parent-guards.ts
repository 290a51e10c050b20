import type { CompositeEvent } from '../protocol.js'
import type { RetryDecision } from '../retry-policy.js'
import type { ParentRun } from './parent.js'

/** Guards that composites and plans share, by the names of both charts. */
export function parentGuards<Context extends ParentRun>(questions: {
  decision(context: Context, event: CompositeEvent): RetryDecision
}) {
  const decides = (kind: RetryDecision['kind']) => (context: Context, event: CompositeEvent) =>
    questions.decision(context, event).kind === kind
  const chooses = (action: 'retry' | 'patch' | 'skip') => (_: Context, event: CompositeEvent) =>
    event.type === 'decision.made' && event.action === action
  return {
    scopeSucceeds: (_: Context, event: CompositeEvent) =>
      event.type === 'scope.settled' && event.response.success,
    retriesLater: decides('retry'),
    repairs: decides('repair'),
    asks: decides('ask'),
    choosesRetry: chooses('retry'),
    choosesPatch: chooses('patch'),
    choosesSkip: chooses('skip')
  }
}
