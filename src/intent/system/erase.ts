import { type Json, lazySchema } from '../../core/index.js'
import { ERASED_PREFIX, isSubjectId } from '../../ledger/index.js'
import { payloadOf } from './payload.js'
import type { SystemWork } from './system-work.js'

const erasing = lazySchema((z) => {
  const count = z.int().min(0)
  return z.strictObject({ entries: count, key: z.string().refine(isSubjectId), runs: count })
})

/**
 * `system.erase`: `{ key, runs, entries }`, whose key is about to be destroyed, and what is under
 * it, as the runtime has found it (docs/spec/subjects.md). The entry says for ever that the key was
 * erased: an opening that finds it still there destroys it.
 */
export function eraseSubject(work: SystemWork): Json {
  const { port, by, at } = work
  const { key, runs, entries } = payloadOf(work, erasing())
  port.write(ERASED_PREFIX + key, { at, by: { id: by.id, kind: by.kind }, entries, runs })
  return { entries, key, runs }
}
