import { type JournalEntry, RunReplay, type RunStarted } from '../../block/index.js'
import type { Hash, IdentityId, RunId } from '../../core/index.js'
import { shownText } from '../../core/index.js'
import type { Ledger, RunRecord } from '../../ledger/index.js'
import type { RunDefinition } from '../code/prepared-run.js'
import { type ReadyRun, resumable } from '../code/recorded-run.js'
import type { Registry } from '../code/registry.js'
import { isEnded } from '../run/ended.js'

/** Whether an open run can continue under the code at hand. */
export interface RunReadiness {
  readonly id: RunId
  readonly name: string
  readonly status: RunRecord['status']
  /** Its versions are here, and everything recorded so far leads to where it stands. */
  readonly ready: boolean
  /** Versions that it pinned and that are not registered, as `name@version`. */
  readonly missing: readonly string[]
  /** Why it cannot continue, in words; null when it can. */
  readonly problem: string | null
  /**
   * Of a run whose versions are missing: whether what it has recorded leads to the same states with
   * the versions that its names lead to now. Null where that was not asked.
   */
  readonly foldsUnderCurrent: boolean | null
}

/** Where the open runs are read: a ledger of this process, or one that another holds. */
export interface OpenRuns {
  readonly identity: IdentityId
  runs(): AsyncGenerator<Pick<RunRecord, 'runId' | 'status'> & { readonly name: string }>
  journal(runId: RunId): AsyncIterable<RecordedText>
}

interface RecordedText {
  readonly text: string
  readonly value: unknown
  readonly receiptHash?: Hash | undefined
}

/** {@link checkUpgrade} of a ledger of this process. */
export async function checkOpenRuns(
  ledger: Ledger,
  registry: Registry
): Promise<readonly RunReadiness[]> {
  const { identity } = ledger
  const journal = (runId: RunId) => ledger.journal(runId)
  const found: RunReadiness[] = []
  const source = { identity, runs: () => openRunsOf(ledger), journal }
  for await (const one of checkUpgrade(source, registry)) found.push(one)
  return found
}

async function* openRunsOf(ledger: Pick<Ledger, 'openRuns'>): ReturnType<OpenRuns['runs']> {
  for (const { runId, status, started } of ledger.openRuns({ durable: true })) {
    yield { runId, status, name: shownText(started['name']) }
  }
}

/**
 * Asks of each open run whether it can be resumed with what is registered: its pinned versions must
 * be there, and its journal must fold through its charts as it did (formats.md §7). The code of a
 * workflow function runs up to where it waits, on what it was given: it must ask for the same. No
 * code of a block runs, nor that of a step.
 */
export async function* checkUpgrade(
  source: OpenRuns,
  registry: Registry
): AsyncGenerator<RunReadiness> {
  for await (const { runId, name, status } of source.runs()) {
    if (isEnded({ status })) continue
    yield { id: runId, name, status, ...(await readinessOf(runId, source, registry)) }
  }
}

type Readiness = Omit<RunReadiness, 'id' | 'name' | 'status'>

async function readinessOf(runId: RunId, source: OpenRuns, registry: Registry): Promise<Readiness> {
  const started = await firstEntry(source, runId)
  if (started === undefined) return notReady('its journal has no entry')
  const recorded = await resumable(registry.documents, started)
  switch (recorded.kind) {
    case 'ready': {
      const problem = await foldProblem(runId, source, recorded)
      return problem === undefined
        ? { ready: true, missing: [], problem: null, foldsUnderCurrent: null }
        : notReady(problem)
    }
    case 'missing': {
      const { missing } = recorded
      const foldsUnderCurrent = await foldsNow(runId, { source, registry, started })
      const problem = `not registered: ${missing.join(', ')}`
      return { ...notReady(problem), missing, foldsUnderCurrent }
    }
    case 'changed': {
      const foldsUnderCurrent = await foldsNow(runId, { source, registry, started })
      return { ...notReady(`another definition: ${recorded.difference}`), foldsUnderCurrent }
    }
  }
}

function notReady(problem: string): Readiness {
  return { ready: false, missing: [], problem, foldsUnderCurrent: null }
}

async function foldsNow(
  runId: RunId,
  given: {
    readonly source: OpenRuns
    readonly registry: Registry
    readonly started: RunStarted
  }
): Promise<boolean> {
  const { source, registry, started } = given
  // The journal gives back what the runtime has written.
  const definition = started.definition as unknown as RunDefinition
  const { obligations } = started
  const prepared = await registry.documents.compileRun(definition, { obligations })
  if (!prepared.ok) return false
  const { ok: _, ...rest } = prepared
  return (await foldProblem(runId, source, { kind: 'ready', ...rest })) === undefined
}

/** Where a journal does not lead through the charts as it did; undefined when it does. */
async function foldProblem(
  runId: RunId,
  source: OpenRuns,
  { root, compiled, block }: ReadyRun
): Promise<string | undefined> {
  const library = compiled.kind === 'leaf' ? compiled.library : compiled.plan
  const { identity } = source
  const replay = new RunReplay({ runId, identity, root, compiled, library, block })
  let n = 0
  try {
    for await (const { text, value, receiptHash } of source.journal(runId)) {
      const entry = value as JournalEntry
      const finding = replay.check(entry) ?? replay.take(entry, text, { receiptHash, item: n })
      if (finding !== undefined) {
        const { field, signed, computed } = finding
        return `entry ${n}: ${field}: signed ${signed}, computed ${computed}`
      }
      n += 1
    }
    return await functionProblem(replay)
  } catch (error) {
    return `entry ${n}: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Where the code of a workflow function asks for something else than it did. */
async function functionProblem(replay: RunReplay): Promise<string | undefined> {
  const isWanted = ({ block }: { readonly block: { readonly body?: unknown } }) =>
    block.body !== undefined
  const undo = { provider: () => undefined, workedOut: () => undefined }
  const options = { below: noState, undo, executions: 1, isWanted }
  for await (const { again } of replay.open(options)) {
    if (again.kind !== 'finding') continue
    const { field, signed, computed } = again.finding
    return `its code asks for something else: ${field}: signed ${signed}, computed ${computed}`
  }
  return undefined
}

/** The code of a workflow function reads no state. */
const noState = {
  read: () => undefined,
  list: () => [],
  isWithheld: () => false,
  changedSince: () => false,
  changedBelowSince: () => false
}

async function firstEntry(source: OpenRuns, runId: RunId): Promise<RunStarted | undefined> {
  for await (const { value } of source.journal(runId)) return value as RunStarted
  return undefined
}
