import type { RunEnd, RunPump } from '../block/index.js'
import { hashJson, type RunId } from '../core/index.js'
import type { Ledger } from '../ledger/index.js'
import { encodeCheckpoint } from './checkpoint.js'
import type { CompiledRoot } from './registry.js'

/** Keeps what a run that leaves memory needs to go on, until the journal has outgrown it. */
export function saveCheckpoint(
  ledger: Ledger,
  end: Exclude<RunEnd, { readonly kind: 'finished' }>,
  {
    runId,
    pump,
    compiled
  }: { readonly runId: RunId; readonly pump: RunPump; readonly compiled: CompiledRoot }
): void {
  if (end.checkpoint === undefined) return
  const saved = encodeCheckpoint(end.checkpoint, {
    runId,
    compiled,
    stateRoot: ledger.roots().execution,
    startedHash: hashJson(pump.started),
    authenticate: (hash) => ledger.authenticate(hash)
  })
  ledger.saveCheckpoint(runId, saved, pump.book.position)
}
