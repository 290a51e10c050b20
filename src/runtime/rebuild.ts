import {
  type PumpHost,
  type RecordedEntry,
  type RunEnd,
  RunPump,
  type RunStarted
} from '../block/index.js'
import { hashJson, type RunId, TallyError } from '../core/index.js'
import type { Ledger } from '../ledger/index.js'
import { parseCheckpoint } from './checkpoint.js'
import type { CompiledRoot, Registry, RunDefinition } from './registry.js'

/** A run of the ledger, ready to go on. */
export interface Rebuilt {
  readonly pump: RunPump
  readonly compiled: CompiledRoot
  resume(): Promise<RunEnd>
}

/**
 * Rebuilds a run from its journal, beginning at its checkpoint if there is one that fits.
 * Throws `run.not_found`, `run.definition_changed`.
 */
export async function rebuildRun(
  runId: RunId,
  options: { readonly ledger: Ledger; readonly registry: Registry; readonly host: PumpHost }
): Promise<Rebuilt> {
  const { ledger, registry, host } = options
  const started = await firstEntry(ledger, runId)
  const prepared = await registry.compileRun(started.definition as unknown as RunDefinition)
  if (!prepared.ok || prepared.root.definitionHash !== started.definitionHash) {
    const short = (hash: string) => hash.slice(0, 12)
    const recorded = short(started.definitionHash)
    const difference = prepared.ok
      ? `definition ${short(prepared.root.definitionHash)}, recorded was ${recorded}`
      : (prepared.diagnostics[0]?.message ?? 'it does not compile')
    throw new TallyError('run.definition_changed', { runId, difference })
  }
  const { root, compiled } = prepared
  const checkpoint = parseCheckpoint(ledger.checkpoint(runId), {
    runId,
    compiled,
    startedHash: hashJson(started),
    authenticate: (hash) => ledger.authenticate(hash)
  })
  const pump = new RunPump({ runId, root, host, checkpoint })
  pump.recovery.begin(started)
  // Taken one by one: a long journal is never in memory as a whole.
  const journal = ledger.journal(runId, checkpoint?.entries ?? 0)
  for await (const { text, value, receiptHash, mac } of journal) {
    // The journal gives back what the pump has written.
    const entry = value as unknown as RecordedEntry['entry']
    pump.recovery.take({ entry, text, receiptHash, mac })
  }
  return { pump, compiled, resume: () => pump.resume() }
}

async function firstEntry(ledger: Ledger, runId: RunId): Promise<RunStarted> {
  for await (const { value } of ledger.journal(runId)) return value as unknown as RunStarted
  throw new TallyError('run.not_found', { runId })
}
