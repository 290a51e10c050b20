import { isHash, type Json, lazySchema } from '../../core/index.js'
import { payloadOf } from './payload.js'
import type { SystemWork } from './system-work.js'

/** State entry about the last time that the identity was taken over after an import. */
const TAKE_OVER_KEY = 'system/takeover'

const place = lazySchema((z) =>
  z.strictObject({
    receipts: z.int().min(0),
    receiptHash: z.string().refine(isHash).nullable()
  })
)

/**
 * `system.takeover`: `{ receipts, receiptHash }`, where the chain stood when an imported identity
 * was taken over (formats.md §8).
 */
export function takeOver(work: SystemWork): Json {
  const { port, by, at } = work
  const { receipts, receiptHash } = payloadOf(work, place())
  port.write(TAKE_OVER_KEY, { at, by: { id: by.id, kind: by.kind }, receipts, receiptHash })
  return { receipts, receiptHash }
}
