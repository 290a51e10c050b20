import { isHash, isJsonObject, isRunId, type Json, lazySchema, limits } from '../../core/index.js'
import { markIn, QUARANTINE_PREFIX } from '../../ledger/index.js'
import { recordedState } from '../providers.js'
import { payloadOf } from './payload.js'
import type { SystemWork } from './system-work.js'

const quarantine = lazySchema((z) => {
  const text = z.string().min(1).max(limits.ACTION_LENGTH_MAX)
  return z.strictObject({
    run: z.string().refine(isRunId),
    receipt: z.string().refine(isHash).nullable(),
    provider: text.nullable(),
    field: text
  })
})

/**
 * `system.quarantine`: `{ run, receipt, provider, field }`, begun by the runtime when something
 * comes out otherwise. State under the root: it survives the loss of everything derived, and is
 * found by its key.
 */
export function quarantineRun(work: SystemWork): Json {
  const { port, by, at } = work
  const { run, ...found } = payloadOf(work, quarantine())
  const earlier = recordedState(port).get(QUARANTINE_PREFIX + run)
  const known = markIn(run, earlier)
  if (known?.isReleased === false) return { run, marked: false }
  port.write(QUARANTINE_PREFIX + run, { at, by: { id: by.id, kind: by.kind }, ...found })
  return { run, marked: true }
}

const release = lazySchema((z) => z.strictObject({ run: z.string().refine(isRunId) }))

/**
 * `system.release`: `{ run }`; the owner lets a run continue under the registered code. The entry
 * stays, so that the same difference does not mark the run again.
 */
export function releaseRun(work: SystemWork): Json {
  const { port, by, at } = work
  const { run } = payloadOf(work, release())
  const entry = recordedState(port).get(QUARANTINE_PREFIX + run)
  if (!isJsonObject(entry ?? null) || markIn(run, entry)?.isReleased !== false) {
    return port.fail('not_quarantined', { run, problem: 'the run is not quarantined' })
  }
  const released = { at, by: { id: by.id, kind: by.kind } }
  port.write(QUARANTINE_PREFIX + run, { ...(entry as object), released })
  return { run, released: true }
}
