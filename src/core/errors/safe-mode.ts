import { ledgerError } from './rooms.js'

/** Throws `ledger.safe_mode` where a reply says that it is why nothing was done. */
export function checkSafeMode(reply: { readonly reason: string; readonly message: string }): void {
  if (reply.reason !== 'safe_mode') return
  throw ledgerError('ledger.safe_mode', { problem: reply.message })
}
