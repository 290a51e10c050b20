import { Redactor } from '../../core/index.js'
import type { ScopedApi } from './answer-calls.js'
import { contactCapabilities } from './contacts.js'
import type { HostCapability } from './host-capability.js'
import { identityRead } from './identity.js'
import { messageCapabilities } from './messages.js'
import { type NetworkOptions, networkCapability } from './network/network.js'
import { storageList } from './storage.js'
import { walletCapabilities } from './wallet.js'

/**
 * Everything a package may be granted beside `storage.read`, `storage.write`, `now`, `random` and
 * `uuid`, which the sandbox answers itself (semantics.md K6). `display.timerTick` has no host
 * yet: a call of it is refused as `not_available`.
 */
export function createScopedApi(
  options: {
    readonly network?: NetworkOptions
    /** Learns the secrets that are sent; what seals an answer takes them out with it. */
    readonly redactor?: Redactor
  } = {}
): ScopedApi {
  const { network = {}, redactor = new Redactor() } = options
  const all: readonly HostCapability[] = [
    ...walletCapabilities,
    ...contactCapabilities,
    ...messageCapabilities,
    identityRead,
    storageList,
    networkCapability({ ...network, redactor })
  ]
  return new Map(all.map((capability) => [capability.name, capability]))
}
