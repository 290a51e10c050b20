/** What the ledger is doing (machines/ledger.ts). */
export type LedgerMode = 'ready' | 'committing' | 'safe' | 'restoring' | 'poisoned' | 'closed'
