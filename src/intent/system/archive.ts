import { isHash, type Json, lazySchema } from '../../core/index.js'
import { payloadOf } from './payload.js'
import type { SystemWork } from './system-work.js'

const signed = lazySchema((z) => {
  const count = z.int().min(0)
  const hash = z.string().refine(isHash)
  return z.strictObject({
    archive: z.strictObject({
      bytes: count,
      commits: count,
      file: z.string(),
      previous: hash.nullable(),
      receipts: count,
      sha256: hash
    }),
    boundary: z.strictObject({
      commits: count,
      frontier: z.string(),
      leaves: count,
      previousReceiptHash: hash.nullable(),
      receiptHash: hash.nullable(),
      receipts: count,
      rotations: z.array(z.string())
    })
  })
})

/**
 * `system.archive`: `{ archive, boundary }`, the file that has the history up to a place, and that
 * place, as the runtime has found them (docs/spec/archive.md). It changes no state: its receipt is
 * what the ledger goes on from.
 */
export function archiveHistory(work: SystemWork): Json {
  const { archive } = payloadOf(work, signed())
  return { ...archive }
}
