/**
 * The capabilities that a package may ask for by name (semantics.md K3, K6). Names of the scoped
 * API: `wallet.send` is `api.wallet.send(request)` for the package. `storage.read` gives `get` and
 * `has`, `storage.write` gives `set` and `delete`; all others are effects.
 *
 * Version 2 of the set. Adding a name is free; a rename or a change of meaning is a new version.
 */
export const capabilitySet: ReadonlySet<string> = new Set([
  'bridge.burn',
  'bridge.mint',
  'contacts.import',
  'contacts.read',
  'display.timerTick',
  'identity.read',
  'messages.list',
  'messages.send',
  'network.request',
  'storage.list',
  'storage.read',
  'storage.write',
  'wallet.balance',
  'wallet.read',
  'wallet.release',
  'wallet.reserve',
  'wallet.send'
])

/** Capabilities that the sandbox answers while the code runs: no call of them can wait. */
export const immediateCapabilities: ReadonlySet<string> = new Set(['storage.read', 'storage.write'])

/** Capabilities by which nothing changes; a policy may grant them without asking (K5). */
export const readOnlyCapabilities: ReadonlySet<string> = new Set([
  'contacts.read',
  'identity.read',
  'messages.list',
  'storage.list',
  'storage.read',
  'wallet.balance',
  'wallet.read'
])
