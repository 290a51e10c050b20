import type { RunId } from '../../core/index.js'
import type { InspectionMessage } from '../../inspect/index.js'
import type { InspectedLedger, InspectionOptions } from '../audit/inspecting.js'
import type { Registrations } from '../code/registrations.js'
import { codeOf } from './reader.js'

/** Runs of a ledger that this process does not hold, as far as they were shown. */
export interface InspectedRunsHere {
  /** What a run did since it was read last. */
  read(runId: RunId): AsyncIterable<InspectionMessage>
  close(): Promise<void>
}

/**
 * Shows runs of a ledger, held or not, with this code: their charts stand in documents, and some in
 * what is registered. No code of a block runs. Throws what registering the code throws.
 */
export async function inspectRunsWith(
  registrations: Registrations,
  ledger: InspectedLedger,
  options: InspectionOptions & {
    readonly location: string
    /** Hears of a run that cannot be shown, because its code is not here. */
    readonly lacks: (runId: RunId, problem: string) => void
  }
): Promise<InspectedRunsHere> {
  const { InspectedRuns } = await import('../audit/inspecting.js')
  const { lacksCode } = await import('../code/recorded-run.js')
  const { location, lacks, ...shown } = options
  const { registry, close } = await codeOf(registrations, { identity: ledger.identity, location })
  const runs = new InspectedRuns({ ledger, registry }, shown)
  async function* read(runId: RunId) {
    try {
      yield* runs.read(runId)
    } catch (error) {
      if (!lacksCode(error)) throw error
      lacks(runId, error.message)
    }
  }
  return { read, close }
}
