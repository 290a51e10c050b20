import type { Response } from '../../code/index.js'
import type { Exception, Hash, Json, RunId, RunTrace } from '../../core/index.js'
import type { AttemptKey, JournalEntry, OpenWait } from './entries.js'
import type { RunState } from './run-state.js'
import { traced } from './unit.js'
import { openWaitOf } from './waits.js'

/**
 * What a reader of a run gets, in order. `at` is the run's logical time, milliseconds.
 */
export type RunEvent = {
  readonly runId: RunId
  readonly at: number
  /** As the caller of the run gave it. */
  readonly trace?: RunTrace
} & (
  | { readonly type: 'run.started'; readonly name: string; readonly definitionHash: Hash }
  | { readonly type: 'run.resumed' }
  | {
      readonly type: 'block.started'
      readonly path: string
      readonly step: number
      readonly attempt: number
      readonly block: string
    }
  | {
      readonly type: 'block.settled'
      readonly path: string
      readonly step: number
      readonly attempt: number
      readonly block: string
      readonly response: Response
      /**
       * Hash of the receipt that the step left; failed steps and steps of atomic parents have none.
       */
      readonly receiptHash?: Hash
      /** Who did it, where the kernel chose it. */
      readonly dappId?: string
    }
  | {
      readonly type: 'effect.sealed'
      readonly path: string
      readonly step: number
      readonly seq: number
      readonly effect: string
      readonly ok: boolean
    }
  | ({ readonly type: 'waiting' } & OpenWait)
  | {
      readonly type: 'answered'
      readonly path: string
      readonly token: string
      readonly action: string
    }
  /** One of several approvers has signed an answer; the wait stays open until the others have. */
  | {
      readonly type: 'approved'
      readonly path: string
      readonly token: string
      readonly action: string
      readonly key: string
    }
  /** The run was sent a signal, and nothing need ask for it yet. */
  | { readonly type: 'signal'; readonly name: string; readonly id: string }
  /**
   * Code of an attempt has thrown, or what performs one of its effects. For people, without known
   * secrets, and no part of the history.
   */
  | ({ readonly type: 'exception' } & ThrownAt)
  | { readonly type: 'log'; readonly path: string; readonly message: string; readonly data: Json }
  | {
      readonly type: 'run.finished'
      readonly status: 'done' | 'failed' | 'cancelled'
      readonly response: Response
      readonly receiptHash?: Hash
    }
)

/** What was thrown in an attempt, and where in its run. */
export type ThrownAt = AttemptKey & {
  readonly block: string
  readonly exception: Exception
  /** Of what performs an effect: its name, and the number of the call. */
  readonly effect?: string
  readonly seq?: number
}

/** What those who watch a run hear of an entry, before it is applied. */
export function eventOf(state: RunState, entry: JournalEntry): RunEvent | undefined {
  const { run, at } = entry
  const runId = run as RunId
  const { receiptHash } = state
  switch (entry.k) {
    case 'run.started': {
      const { name, definitionHash } = entry
      return { type: 'run.started', runId, at, name, definitionHash, ...traced(entry) }
    }
    case 'run.resumed':
      return { type: 'run.resumed', runId, at }
    case 'sealed': {
      const { path, step, seq, effect, ok } = entry
      return { type: 'effect.sealed', runId, at, path, step, seq, effect, ok }
    }
    case 'wait':
      if (entry.actions.length === 0) return undefined
      return { type: 'waiting', at, ...openWaitOf(entry, state.identity, []), runId }
    case 'signal': {
      const { name, id } = entry
      return { type: 'signal', runId, at, name, id }
    }
    case 'approval': {
      const { path, token, approval } = entry
      const { action, key } = approval
      return { type: 'approved', runId, at, path, token, action, key }
    }
    case 'settled': {
      const attempt = state.attemptAt(entry)
      if (attempt === undefined) return undefined
      const { block, attribution } = attempt
      return settledEvent(entry, block.name, { receiptHash, dappId: attribution?.dappId })
    }
    case 'scope': {
      const overlay = state.openOverlays.get(entry.path)
      const isOver = entry.outcome === 'aborted' || entry.outcome === 'committed'
      if (overlay === undefined || !isOver) return undefined
      // A commit inside another overlay is none yet.
      if (entry.outcome === 'committed' && overlay.outer !== undefined) return undefined
      return settledEvent(entry, overlay.ask.block, { receiptHash, dappId: undefined })
    }
    case 'run.finished': {
      const { status, response } = entry
      const receipt = receiptHash === undefined ? {} : { receiptHash }
      return { type: 'run.finished', runId, at, status, response, ...receipt }
    }
    default:
      return undefined
  }
}

function settledEvent(
  entry: AttemptKey & { readonly run: string; readonly at: number; readonly response: Response },
  block: string,
  by: { readonly receiptHash: Hash | undefined; readonly dappId: string | undefined }
): RunEvent {
  const { receiptHash, dappId } = by
  return {
    type: 'block.settled',
    runId: entry.run as RunId,
    at: entry.at,
    path: entry.path,
    step: entry.step,
    attempt: entry.attempt,
    block,
    response: entry.response,
    ...(receiptHash === undefined ? undefined : { receiptHash }),
    ...(dappId === undefined ? undefined : { dappId })
  }
}
