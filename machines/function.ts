/**
 * The workflow function (semantics.md B12): a block whose next child is chosen by code. Data only;
 * `src/block/chart/function.ts` has the functions.
 *
 * The chart is the same for every function: which children there are is data in the context, as the
 * calls of the code say. `running` takes calls; `stopping` waits until all that is under way has
 * ended. The block is WAITING when its code and all of its children wait. An atomic part of a
 * function has the same chart, on an overlay.
 */
import type { ChartNode, ChartTransition } from './composite.js'

export interface FunctionTemplate {
  readonly id: string
  /** An atomic part: commit and abort are asked of the pump (C4). */
  readonly scoped: boolean
}

export const functionChartVersion = '1'

/** Fills the template. The result is JSON: it draws in Stately's tools and hashes. */
export function functionChart({ id, scoped }: FunctionTemplate): ChartNode {
  const refuse = { actions: ['refuseBusy'] }
  const begin = ['begin', scoped ? 'openScope' : 'askAttempt']
  return {
    id,
    version: functionChartVersion,
    initial: 'READY',
    states: {
      READY: { id: 'ready', on: { 'block.execute': [{ target: '#running', actions: begin }] } },
      BUSY: {
        initial: 'running',
        on: { 'block.execute': [refuse] },
        states: {
          running: runningState(),
          stopping: stoppingState(scoped),
          ...(scoped ? scopeStates() : {})
        }
      },
      WAITING: {
        initial: 'running',
        on: { 'block.execute': [refuse] },
        states: { running: waitingState() }
      }
    }
  }
}

const cancelling = ['holdCancelled', 'askCancel', 'cancelChildren']

function runningState(): ChartNode {
  return {
    id: 'running',
    on: {
      'code.called': [{ actions: ['takeCall'] }],
      'code.returned': [{ target: '#stopping', actions: ['holdReturned', 'cancelChildren'] }],
      'block.settled': [{ actions: ['takeSettled'] }],
      'block.waiting': [{ actions: ['takeWaiting'] }],
      'block.resumed': [{ actions: ['takeResumed'] }],
      'attempt.waiting': [{ actions: ['takeOwnWait'] }],
      'attempt.resumed': [{ actions: ['endOwnWait'] }],
      'block.cancel': [{ target: '#stopping', actions: cancelling }]
    },
    always: [{ guard: 'onlyWaits', target: '#waiting', actions: ['holdWait', 'reportWaiting'] }]
  }
}

function waitingState(): ChartNode {
  return {
    id: 'waiting',
    on: {
      'code.called': [{ target: '#running', actions: resumed('takeCall') }],
      'code.returned': [
        { target: '#stopping', actions: resumed('holdReturned', 'cancelChildren') }
      ],
      'block.settled': [{ target: '#running', actions: resumed('takeSettled') }],
      'block.waiting': [{ actions: ['takeWaiting', 'holdWait', 'reportWaiting'] }],
      'block.resumed': [{ target: '#running', actions: resumed('takeResumed') }],
      'attempt.waiting': [{ actions: ['takeOwnWait', 'holdWait', 'reportWaiting'] }],
      'attempt.resumed': [{ target: '#running', actions: resumed('endOwnWait') }],
      'block.cancel': [{ target: '#stopping', actions: resumed(...cancelling) }]
    }
  }
}

/** What was sent keeps its child until its outcome is known; what has ended is not heard. */
function stoppingState(scoped: boolean): ChartNode {
  const ended: readonly ChartTransition[] = scoped
    ? [
        { guard: 'commits', target: '#commit', actions: ['askCommit'] },
        { guard: 'noneRuns', target: '#abort', actions: ['askAbort'] }
      ]
    : [{ guard: 'noneRuns', target: '#ready', actions: ['settleReturned'] }]
  return {
    id: 'stopping',
    on: {
      'block.settled': [{ actions: ['takeSettled'] }],
      'block.waiting': [{ actions: ['takeWaiting'] }],
      'block.resumed': [{ actions: ['takeResumed'] }],
      'block.cancel': [{ actions: ['cancelChildren'] }]
    },
    always: ended
  }
}

function scopeStates(): Readonly<Record<string, ChartNode>> {
  return {
    commit: {
      id: 'commit',
      on: {
        'scope.conflict': [{ target: '#ready', actions: ['settleConflict'] }],
        'scope.settled': [{ target: '#ready', actions: ['settleScope'] }]
      }
    },
    abort: {
      id: 'abort',
      on: { 'scope.settled': [{ target: '#ready', actions: ['settleScope'] }] }
    }
  }
}

function resumed(...actions: readonly string[]): readonly string[] {
  return ['reportResumed', ...actions]
}
