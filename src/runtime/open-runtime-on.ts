import type { IdentityKeys, Signer } from '../identity/index.js'
import { openLedger, type Store } from '../ledger/index.js'
import type { Sharing } from './code/prepared-documents.js'
import type { Registrations } from './code/registrations.js'
import { Registry } from './code/registry.js'
import { WiredRuntime } from './runtime.js'
import type { WiredOptions } from './runtime-api.js'

export interface RuntimeOnOptions extends Registrations, WiredOptions, Sharing {
  /** `close` of the runtime closes it too. */
  readonly store: Store
  readonly keys: Pick<IdentityKeys, 'identity' | 'blobKey'>
  readonly signer: Signer
}

/** What `runtimeOn` does once it is loaded. */
export async function openRuntimeOn(options: RuntimeOnOptions): Promise<WiredRuntime> {
  const { store, keys, signer } = options
  const { identity, blobKey } = keys
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
