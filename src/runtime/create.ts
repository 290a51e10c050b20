import type { IdentityKeys, Signer } from '../identity/index.js'
import { openLedger, type Store } from '../ledger/index.js'
import type { Sharing } from './code/prepared-documents.js'
import type { Registrations } from './code/registrations.js'
import type { LocationOptions, LocationRuntime } from './location-api.js'
import type { WiredRuntime } from './runtime.js'
import type { RuntimeOptions, WiredOptions } from './runtime-api.js'

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

/**
 * Opens a location for many of its identities, each with a chain and a key of its own, on one store
 * (docs/tenants.md). Rejects with the codes of opening, and `runtime.invalid_location`.
 */
export async function openLocation(options: LocationOptions): Promise<LocationRuntime> {
  const { openLocationRuntime } = await import('./open-location.js')
  return openLocationRuntime(options)
}

export interface RuntimeOnOptions extends Registrations, WiredOptions, Sharing {
  /** `close` of the runtime closes it too. */
  readonly store: Store
  readonly keys: Pick<IdentityKeys, 'identity' | 'blobKey'>
  readonly signer: Signer
}

/**
 * A runtime on a store and keys of its caller's own: what simulations run on. The store stays open
 * where it rejects.
 */
export async function runtimeOn(options: RuntimeOnOptions): Promise<WiredRuntime> {
  const { store, keys, signer } = options
  const { identity, blobKey } = keys
  // As opening does: reading a ledger needs none of this.
  const { Registry } = await import('./code/registry.js')
  const { WiredRuntime } = await import('./runtime.js')
  // Before the ledger: what is registered may be refused.
  const registry = await Registry.open(options)
  const ledger = await openLedger({ store, identity, signer, blobKey, create: 'if-absent' })
  const close = async () => {
    try {
      await ledger.close()
    } finally {
      await store.close()
    }
  }
  return new WiredRuntime({ ledger, store, realPath: undefined, close }, registry, options)
}
