import type { OpenWait, Pins, RootBlock, RunEvent, RunStarted } from '../block/index.js'
import type { Hash, RunId } from '../core/index.js'
import { KERNEL_ID } from '../intent/index.js'
import type { RunRecord } from '../ledger/index.js'
import type { DeliveredEvent } from './channel.js'
import { isEnded, resultOf } from './known.js'
import type { Start } from './run-terms.js'

/** How runs stand, read off the records that the ledger keeps of them. */

/** The events with which somebody who begins to watch a run is told how it stands. */
export function presentEvents(
  runId: RunId,
  record: RunRecord | undefined,
  { waits, isLive }: { readonly waits: readonly OpenWait[]; readonly isLive: boolean }
): readonly DeliveredEvent[] {
  if (record === undefined) return []
  const at = record.updatedAt
  if (isEnded(record)) {
    const { status, response } = resultOf(runId, record)
    return [{ type: 'run.finished', runId, at, status, response }]
  }
  const waiting: DeliveredEvent[] = waits.map((wait) => ({ type: 'waiting', runId, at, ...wait }))
  if (record.status !== 'waiting' || isLive) return waiting
  const { due = null } = record.last as { readonly due?: number | null }
  return [...waiting, { type: 'run.parked', runId, at, waits, due }]
}

/** The entry with which a run begins. */
export function firstEntry(
  root: RootBlock,
  terms: {
    readonly at: number
    readonly base: Hash | 'GENESIS'
    readonly start: Pick<Start, 'inputs' | 'inputHash' | 'context' | 'trace' | 'principal'>
    readonly pins?: Pins | undefined
  }
): Omit<RunStarted, 'run' | 'n'> {
  const { at, base, start, pins } = terms
  const { name, definition, definitionHash } = root
  const classes = root.classes()
  return {
    k: 'run.started',
    at,
    status: 'running',
    name,
    definition,
    definitionHash,
    input: start.inputs,
    inputHash: start.inputHash,
    ...(start.context === undefined ? {} : { context: start.context }),
    ...(start.trace === undefined ? {} : { trace: start.trace }),
    base,
    principal: start.principal,
    ...(pins === undefined ? {} : { pins }),
    ...(root.hasAlternatives() ? { unsafe: 'next' } : {}),
    ...(classes === undefined ? {} : { classes })
  }
}

/** Whether a step of a document, not a lone intent, was done by the kernel itself. */
export function isKernelStep(event: RunEvent): boolean {
  if (event.type !== 'block.settled' || event.receiptHash === undefined) return false
  return event.dappId === KERNEL_ID && event.path !== 'root'
}
