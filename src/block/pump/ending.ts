import { assert, canonicalize } from '../../core/index.js'
import type { EvidenceDraft } from '../journal.js'
import type { Response } from '../protocol.js'
import { bare, completedUnit } from '../run/unit.js'
import { runUnitId } from '../run/unit-ids.js'
import type { Completed } from './book.js'
import type { RunDriver } from './run-driver.js'
import type { RunEnd } from './run-end.js'

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
