import type { CompiledComposite, RunCheckpoint } from '../block/index.js'
import { canonicalize, isJsonObject, type RunId } from '../core/index.js'
import type { SavedCheckpoint } from '../ledger/index.js'

/**
 * A run checkpoint in its envelope (formats.md §7):
 * `{chart: {id, version, configHash}, definitionHash, journalSeq, runId, run, stateRoot}`.
 * Derived data: when it does not fit the running code, the run is rebuilt from its journal instead.
 */
export function encodeCheckpoint(
  run: RunCheckpoint,
  options: {
    readonly runId: RunId
    readonly compiled: CompiledComposite
    readonly stateRoot: string
  }
): SavedCheckpoint {
  const { compiled, runId, stateRoot } = options
  const text = canonicalize({
    chart: chartOf(compiled),
    definitionHash: compiled.definitionHash,
    journalSeq: run.entries,
    runId,
    run,
    stateRoot
  })
  return { text, entries: run.entries }
}

/** The run of a checkpoint, if the envelope fits this code. */
export function parseCheckpoint(
  saved: SavedCheckpoint | undefined,
  options: { readonly runId: RunId; readonly compiled: CompiledComposite }
): RunCheckpoint | undefined {
  if (saved === undefined) return undefined
  const envelope: unknown = JSON.parse(saved.text)
  if (!isJsonObject(envelope)) return undefined
  const isOurs =
    envelope['runId'] === options.runId &&
    envelope['definitionHash'] === options.compiled.definitionHash &&
    canonicalize(envelope['chart']) === canonicalize(chartOf(options.compiled))
  // What this room wrote; the checksum of the store stands for its integrity.
  return isOurs ? (envelope['run'] as unknown as RunCheckpoint) : undefined
}

function chartOf({ config, configHash }: CompiledComposite): object {
  return { id: config.id ?? '', version: config.version ?? '', configHash }
}
