/**
 * The plan block (C2, W5, W9): the parent of a dependency graph. Data only; `src/block/plan` has
 * the functions.
 *
 * The chart is the same for every graph, however many nodes it has: how each node stands is data in
 * the context, since several run at once. `running` starts what may start; `stopping` starts
 * nothing and waits until all that is under way has ended. The plan is WAITING when all that is
 * under way waits.
 */
import type { ChartNode, ChartTransition } from './composite.js'

/** What the chart of a plan is made of. */
export interface PlanTemplate {
  readonly id: string
  /** The plan has an `output` that may fail to evaluate. */
  readonly hasOutput: boolean
  /** Runs on an overlay: commit and abort are asked of the pump (C4). */
  readonly scoped: boolean
}

export const planChartVersion = '1'

/** Fills the template. The result is JSON: it draws in Stately's tools and hashes. */
export function planChart(template: PlanTemplate): ChartNode {
  const open = template.scoped ? ['openScope'] : []
  const starting = [...open, 'startNodes']
  const refuse = { actions: ['refuseBusy'] }
  return {
    id: template.id,
    version: planChartVersion,
    initial: 'READY',
    states: {
      READY: {
        id: 'ready',
        on: { 'block.execute': [{ target: '#running', actions: ['begin', ...starting] }] }
      },
      BUSY: {
        initial: 'running',
        on: { 'block.execute': [refuse] },
        states: {
          running: runningState(template),
          stopping: stoppingState(template),
          ...(template.scoped ? scopeStates(starting) : {}),
          recover: { id: 'recover', always: recovery(starting) }
        }
      },
      WAITING: {
        initial: 'running',
        on: { 'block.execute': [refuse] },
        states: {
          running: waitState('waiting', '#running', ['holdCancelled', 'cancelNodes']),
          stopping: waitState('waitingToStop', '#stopping', ['cancelNodes']),
          retry: {
            id: 'retry',
            on: {
              'block.cancel': [
                { target: '#ready', actions: ['reportResumed', 'askCancel', 'settleCancelled'] }
              ],
              'timer.fired': [
                { target: '#running', actions: ['reportResumed', 'countAttempt', ...starting] }
              ]
            }
          },
          decision: { id: 'decision', on: decisionEvents(starting) }
        }
      }
    }
  }
}

function runningState(template: PlanTemplate): ChartNode {
  const outputFails: ChartTransition = {
    guard: 'outputFails',
    target: afterFailure(template),
    actions: ['failOutput']
  }
  return {
    id: 'running',
    on: {
      'block.settled': [{ actions: ['takeSettled', 'startNodes'] }],
      'block.waiting': [{ actions: ['takeWaiting'] }],
      'block.resumed': [{ actions: ['takeResumed'] }],
      'block.cancel': [{ target: '#stopping', actions: ['holdCancelled', 'cancelNodes'] }]
    },
    always: [
      { guard: 'fails', target: '#stopping', actions: ['stopNodes'] },
      ...(template.hasOutput ? [outputFails] : []),
      template.scoped
        ? { guard: 'allSettled', target: '#commit', actions: ['holdOutput', 'askCommit'] }
        : { guard: 'allSettled', target: '#ready', actions: ['settleOutput'] },
      { guard: 'onlyWaits', target: '#waiting', actions: ['holdWait', 'reportWaiting'] }
    ]
  }
}

// What has sent something continues until its outcome is known (W9); what only waits does not.
function stoppingState(template: PlanTemplate): ChartNode {
  return {
    id: 'stopping',
    on: {
      'block.settled': [{ actions: ['takeSettled'] }],
      'block.waiting': [
        { guard: 'mayStop', actions: ['takeWaiting', 'cancelNode'] },
        { actions: ['takeWaiting'] }
      ],
      'block.resumed': [{ actions: ['takeResumed'] }],
      'block.cancel': [{ actions: ['cancelNodes'] }]
    },
    always: [
      { guard: 'noneRuns', target: afterFailure(template), actions: ['failStopped'] },
      { guard: 'onlyWaits', target: '#waitingToStop', actions: ['holdWait', 'reportWaiting'] }
    ]
  }
}

function waitState(id: string, target: string, cancel: readonly string[]): ChartNode {
  return {
    id,
    on: {
      'block.cancel': [{ target: '#stopping', actions: resumed(cancel) }],
      'block.waiting': [{ actions: ['takeWaiting', 'holdWait', 'reportWaiting'] }],
      'block.resumed': [{ target, actions: resumed(['takeResumed']) }]
    }
  }
}

function resumed(actions: readonly string[]): readonly string[] {
  return ['reportResumed', ...actions]
}

function afterFailure(template: PlanTemplate): string {
  return template.scoped ? '#aborting' : '#recover'
}

function scopeStates(starting: readonly string[]): Readonly<Record<string, ChartNode>> {
  return {
    commit: {
      id: 'commit',
      on: {
        'scope.conflict': [{ target: '#running', actions: ['restart', ...starting] }],
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

// Every retry goes through a timer, as in a composite.
function recovery(starting: readonly string[]): readonly ChartTransition[] {
  return [
    {
      guard: 'retriesLater',
      target: '#retry',
      actions: ['planRetry', 'askTimer', 'reportWaiting']
    },
    { guard: 'repairs', target: '#running', actions: ['repair', ...starting] },
    {
      guard: 'asks',
      target: '#decision',
      actions: ['holdDecision', 'askDecision', 'reportWaiting']
    },
    { target: '#ready', actions: ['settleFailure'] }
  ]
}

function decisionEvents(
  starting: readonly string[]
): Readonly<Record<string, readonly ChartTransition[]>> {
  return {
    'block.cancel': [{ target: '#ready', actions: resumed(['askCancel', 'settleCancelled']) }],
    'decision.made': [
      {
        guard: 'choosesRetry',
        target: '#running',
        actions: resumed(['countAttempt', ...starting])
      },
      {
        guard: 'choosesPatch',
        target: '#running',
        actions: resumed(['patchRequest', ...starting])
      },
      { guard: 'choosesSkip', target: '#ready', actions: resumed(['settleSkipped']) },
      { target: '#ready', actions: resumed(['settleHeld']) }
    ],
    'timer.fired': [{ target: '#ready', actions: resumed(['settleTimedOut']) }]
  }
}
