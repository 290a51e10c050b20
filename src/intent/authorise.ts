import { missing } from '../capability/index.js'
import type { IntentPort } from '../code/index.js'
import type { Hash, IdentityId } from '../core/index.js'
import { currentState, recordedState } from './providers.js'
import type { Tell } from './stages.js'

/**
 * Every capability that the package declares is granted, or the intent waits for it (K5, K13). The
 * grants that it depends on are read as part of the unit, so that one taken back before the commit
 * sends the unit back (L10). Rejects with `denied`.
 */
export async function authorise(
  port: IntentPort,
  asked: {
    readonly identity: IdentityId
    readonly packageId: string
    readonly codeHash: Hash
    readonly declared: readonly string[]
    readonly action: string
    readonly tell: Tell
  }
): Promise<void> {
  const { identity, packageId, codeHash, declared, action, tell } = asked
  const grants = { identity, codeHash, capabilities: declared }
  const lacking = missing(recordedState(port), grants)
  const [capability] = lacking
  if (capability === undefined) return
  tell('stage.lacking')
  for (;;) {
    const request = { action, dappId: packageId, codeHash, capability, capabilities: lacking }
    const answer = await port.wait({ reason: 'permission', request })
    if (answer.action !== 'approve') {
      port.fail('denied', { dappId: packageId, codeHash, capabilities: lacking })
    }
    // What this execution has read is older than the grant: only another one can see it. An
    // approval alone grants nothing.
    if (missing(currentState(port), grants).length === 0) return port.again()
  }
}
