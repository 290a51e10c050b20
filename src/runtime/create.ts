import type { WiredRuntime } from './runtime.js'
import type { RuntimeOptions } from './runtime-api.js'

/**
 * Opens a ledger and everything that runs on it: the only place where the rooms are wired together.
 * Rejects with the codes of opening: `ledger.not_found`, `ledger.locked`,
 * `identity.wrong_passphrase`…
 */
export async function createRuntime(options: RuntimeOptions): Promise<WiredRuntime> {
  // Reading a ledger needs none of this, and the command line reads more often than it runs.
  const { openRuntime } = await import('./open-runtime.js')
  return openRuntime(options)
}
