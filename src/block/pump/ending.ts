import { assert, canonicalize, type Hash, type RunId, type UnitId } from '../../core/index.js'
import { seedOf } from '../code/execution.js'
import type { EvidenceDraft, UnitDraft } from '../journal.js'
import type { Response } from '../protocol.js'
import type { RunStarted } from '../run/entries.js'
import type { RootBlock } from '../run/root-block.js'
import { bare, committed, runUnit, type UnitContext } from '../run/unit.js'
import { unitIdOf } from './attempt.js'
import type { Completed } from './book.js'
import type { RunDriver } from './run-driver.js'
import type { RunEnd } from './run-end.js'

/** Step number of the run itself; its blocks count from 1. */
const RUN_STEP = 0

/** Id of the unit of work that is the run itself: its receipt is `run.completed`. */
export function runUnitId(runId: RunId): UnitId {
  return unitIdOf(runId, 'root', RUN_STEP)
}

/** Id of the unit of work of a run that is nothing else: a lone intent's receipt has it. */
export function loneUnitId(runId: RunId): UnitId {
  return unitIdOf(runId, 'root', 1)
}

/**
 * Ends a run: a `run.completed` receipt that commits to the whole of it, or failure evidence with
 * what landed outside all the same (formats.md §3). Resolves when that is durable (D2).
 */
export async function finishRun(pump: RunDriver, settled: Response): Promise<RunEnd> {
  const { book, runId } = pump
  const response = bare(settled)
  const status = response.success ? 'done' : pump.cancel !== undefined ? 'cancelled' : 'failed'
  const { journalHash } = book
  const entry = { k: 'run.finished', at: book.now(), status, response, journalHash } as const
  const written = book.append(
    entry,
    response.success ? completed(pump, response) : { evidence: failed(pump, response) }
  )
  assert(written.ok, 'the end of a run reads nothing')
  const { receiptHash } = written
  pump.emit({
    type: 'run.finished',
    runId,
    at: book.at,
    status,
    response,
    ...(receiptHash === undefined ? {} : { receiptHash })
  })
  await book.durable()
  return { kind: 'finished', status, response, receiptHash }
}

/** A plan's result holds those of all its nodes: entry and receipt have one text of it. */
function completed(pump: RunDriver, response: Response): Completed {
  const { book, root, runId, started } = pump
  const { at, journalHash, receipts } = book
  const dataText = canonicalize(response.data)
  const ended = { runId, root, started, journalHash, receipts, at, dataText }
  const known = { get: (value: object) => (value === response.data ? dataText : undefined) }
  return { unit: completedUnit(ended, pump.unitContext()), known }
}

/** What a run that succeeded comes to; live and in verification the same. */
export interface EndedRun {
  readonly runId: RunId
  readonly root: RootBlock
  readonly started: RunStarted
  /** Over all entries before `run.finished`. */
  readonly journalHash: Hash
  readonly receipts: { readonly count: number; readonly root: Hash }
  /** Logical time of the last entry before `run.finished`. */
  readonly at: number
  /** Canonical JSON of its result. */
  readonly dataText: string
}

/** The unit of work of `run.completed`. */
export function completedUnit(ended: EndedRun, context: UnitContext): UnitDraft {
  const { runId, root, started, journalHash, receipts, at, dataText } = ended
  const id = runUnitId(runId)
  const { name, version, definitionHash } = root
  const { inputHash, base } = started
  const payload = { name, version, definitionHash, inputHash, journalHash, receipts }
  return runUnit(
    {
      id,
      seed: { base, value: seedOf(base, id) },
      at,
      name,
      version,
      definitionHash,
      inputHash,
      journalHash,
      receipts,
      payloadText: canonicalize(payload),
      resultText: dataText,
      committed: committed(started)
    },
    context
  )
}

function failed(pump: RunDriver, response: Response): EvidenceDraft {
  const { book, root, runId, started } = pump
  return {
    type: response.reason === 'denied' ? 'denial' : 'failure',
    unitId: runUnitId(runId),
    action: root.name,
    payloadText: canonicalize(started.input),
    landed: pump.leaves.landed,
    journalHash: book.journalHash,
    code: response.reason ?? 'failed',
    details: { ...response.details, in_doubt: pump.leaves.inDoubt },
    at: book.now()
  }
}
