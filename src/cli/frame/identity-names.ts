import { type IdentityId, ledgerError } from '../../core/index.js'
import { inspectLocation, mainIdentity } from '../../ledger/index.js'
import type { Frame } from './frame.js'
import { showSafeMode } from './render.js'
import { openSession, type Session } from './session.js'

/** What identities of a location are called: state of the main one, which is asked for it. */

/**
 * The identity of a name. Throws `ledger.not_found`, `ledger.identity_missing`, what asking throws,
 * and `ledger.safe_mode` where the main ledger is damaged: a name could be made to mean another.
 */
export async function identityNamed(frame: Frame, name: string): Promise<IdentityId> {
  const { IDENTITY_NAMES_PREFIX, namedIdentity } = await import('../../intent/index.js')
  const session = await openMain(frame)
  try {
    const { mode, cause } = await session.client.request('status', {})
    if (mode === 'safe') {
      const problem = `no name is taken from that of the main identity: ${cause?.message}`
      throw ledgerError('ledger.safe_mode', { problem })
    }
    const key = IDENTITY_NAMES_PREFIX + name
    const { value } = await session.client.request('stateValue', { key })
    const identity = namedIdentity(value)
    if (identity === undefined) throw ledgerError('ledger.identity_missing', { identity: name })
    return identity
  } finally {
    await session.close()
  }
}

/** Names by their identities. Throws as {@link identityNamed} does. */
export async function identityNames(frame: Frame): Promise<ReadonlyMap<IdentityId, string>> {
  const { IDENTITY_NAMES_PREFIX: prefix, namedIdentity } = await import('../../intent/index.js')
  const names = new Map<IdentityId, string>()
  const session = await openMain(frame)
  try {
    await showSafeMode(frame, session.client)
    for (let after: string | null | undefined; after !== null; ) {
      const more = after === undefined ? {} : { after }
      const page = await session.client.request('stateValues', { prefix, ...more })
      for (const { key, value } of page.items) {
        const identity = namedIdentity(value)
        if (identity !== undefined) names.set(identity, key.slice(prefix.length))
      }
      after = page.next
    }
    return names
  } finally {
    await session.close()
  }
}

async function openMain(frame: Frame): Promise<Session> {
  const found = await inspectLocation(frame.directory)
  const identity = found && mainIdentity(found.marker)
  if (identity === undefined) throw ledgerError('ledger.not_found', { path: frame.directory })
  return openSession({ ...frame, identity }, 'read')
}
