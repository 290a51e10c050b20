import type { WiredRuntime } from '../../src/runtime/index.js'

/** Archives a share of the receipts that are not archived; whether there were any. */
export async function archiveShare(
  tally: WiredRuntime,
  { path, share }: { readonly path: string; readonly share: number }
): Promise<boolean> {
  const first = tally.ledger.archiving.history?.boundary.receipts ?? 0
  const { receipts } = tally.status()
  const through = Math.min(first + Math.floor(share * (receipts - first)), receipts - 1)
  if (through < first) return false
  await tally.archive({ path, through })
  return true
}
