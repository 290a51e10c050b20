import type { LocationOptions, LocationRuntime } from './location-api.js'
import type { RuntimeOnOptions } from './open-runtime-on.js'
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

/**
 * Opens a location for many of its identities, each with a chain and a key of its own, on one store
 * (docs/tenants.md). Rejects with the codes of opening, and `runtime.invalid_location`.
 */
export async function openLocation(options: LocationOptions): Promise<LocationRuntime> {
  const { openLocationRuntime } = await import('./open-location.js')
  return openLocationRuntime(options)
}

/**
 * A runtime on a store and keys of its caller's own: what simulations run on. The store stays open
 * where it rejects.
 */
export async function runtimeOn(options: RuntimeOnOptions): Promise<WiredRuntime> {
  const { openRuntimeOn } = await import('./open-runtime-on.js')
  return openRuntimeOn(options)
}
