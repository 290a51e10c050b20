import {
  type PumpHost,
  type RecordedEntry,
  type RunEnd,
  RunPump,
  type RunStarted
} from '../../block/index.js'
import { blockError, hashJson, ledgerError, type RunId, sha256Hex } from '../../core/index.js'
import type { Ledger } from '../../ledger/index.js'
import type { CompiledRoot } from '../code/prepared-run.js'
import { readyRun, resumable } from '../code/recorded-run.js'
import type { Registry } from '../code/registry.js'
import { encodeCheckpoint, parseCheckpoint } from './checkpoint.js'
import { momentsFrom, newMoments, type RunMoments } from './run-moments.js'

/** A run with what drives it. */
export interface Driven {
  readonly pump: RunPump
  readonly compiled: CompiledRoot
  /** Undefined: no pictures of it are kept. */
  readonly moments: RunMoments | undefined
  run(): Promise<RunEnd>
}

/** Keeps what a run that leaves memory needs to continue, until the journal has outgrown it. */
export function saveCheckpoint(
  ledger: Ledger,
  runId: RunId,
  end: Exclude<RunEnd, { readonly kind: 'finished' | 'held' }>,
  { pump, compiled, moments }: Driven
): void {
  if (end.checkpoint === undefined) return
  const saved = encodeCheckpoint(end.checkpoint, {
    runId,
    compiled,
    stateRoot: ledger.roots().execution,
    startedHash: hashJson(pump.started),
    authenticate: (hash) => ledger.authenticate(hash),
    moments: moments?.save()
  })
  ledger.saveCheckpoint(runId, saved, pump.writer.position)
}

/**
 * Rebuilds a run from its journal, beginning at its checkpoint if there is one that fits.
 * Throws `ledger.safe_mode`, `run.not_found`, `run.code_missing`, `run.definition_changed`.
 */
export async function rebuildRun(
  runId: RunId,
  options: {
    readonly ledger: Ledger
    readonly registry: Registry
    readonly hostOf: (block: PumpHost['block']) => PumpHost
  }
): Promise<Driven> {
  const { ledger, registry, hostOf } = options
  const { mode, cause } = ledger.state()
  // What it would show first may be what the ledger is in safe mode for (L12, K10).
  if (mode === 'safe') throw ledgerError('ledger.safe_mode', { problem: cause?.message ?? '' })
  const first = await firstEntry(ledger, runId)
  const { started } = first
  const { root, compiled, block } = readyRun(runId, await resumable(registry.documents, started))
  const host = hostOf(block)
  const saved = parseCheckpoint(ledger.checkpoint(runId), {
    runId,
    compiled,
    startedHash: sha256Hex(first.text),
    authenticate: (hash) => ledger.authenticate(hash)
  })
  // An observer that lacks what the checkpoint leaves out is given the whole journal.
  const isSeen = host.observer === undefined || host.observer.entries >= (saved?.run.entries ?? 0)
  const kept = isSeen ? saved : undefined
  const checkpoint = kept?.run
  const moments =
    kept === undefined ? newMoments(runId, ledger, started) : momentsFrom(runId, ledger, kept)
  const pump = new RunPump({ runId, root, host, checkpoint, moments })
  pump.recovery.begin(started)
  // Taken one by one: a long journal is never in memory as a whole.
  const journal = ledger.journal(runId, checkpoint?.entries ?? 0)
  for await (const { text, value, receiptHash, mac } of journal) {
    // The journal gives back what the pump has written.
    const entry = value as unknown as RecordedEntry['entry']
    pump.recovery.take({ entry, text, receiptHash, mac })
  }
  return { pump, compiled, moments, run: () => pump.resume() }
}

/** The first entry of a journal, with its canonical text. */
async function firstEntry(
  ledger: Ledger,
  runId: RunId
): Promise<{ readonly started: RunStarted; readonly text: string }> {
  for await (const { value, text } of ledger.journal(runId)) {
    return { started: value as unknown as RunStarted, text }
  }
  throw blockError('run.not_found', { runId })
}
