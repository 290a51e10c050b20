import { lazySchema } from '../../core/index.js'
import { stateful } from './host-capability.js'

/**
 * `identity.read {}` gives `{ id, publicKey }`: the identity on whose ledger the package runs, and
 * its first public key, which names it. Keys that it rotated to stand in its receipts.
 */
export const identityRead = stateful({
  name: 'identity.read',
  schema: lazySchema((z) => z.strictObject({})),
  perform: ({ identity }) => ({ id: identity, publicKey: identity })
})
