import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type IdentityId, type Random, TallyError } from '../core/index.js'
import {
  createKeyFile,
  generateIdentity,
  type IdentityKeys,
  loadKeyFile
} from '../identity/index.js'
import {
  holdStore,
  inspectLocation,
  type Ledger,
  openLedger,
  openMemoryStore,
  type Store
} from '../ledger/index.js'

export interface OpenOptions {
  /** Directory of the ledger; `memory:` keeps everything in memory, for tests. */
  readonly location: string
  /** Makes a ledger with a new identity where there is none. */
  readonly create?: 'if-absent'
  /** Which identity of the ledger; the first one by default. */
  readonly identity?: IdentityId
  /** Opens the key file. Not needed for key files in plain text. */
  readonly passphrase?: string
  /** With `create`: keeps the new key in plain text. For demonstrations only. */
  readonly insecurePlaintextKey?: boolean
  /** Keys to use instead of the key file (a KMS, a test). */
  readonly keys?: IdentityKeys
}

export interface OpenedLedger {
  readonly ledger: Ledger
  /** For verification, which looks at bytes. */
  readonly store: Store
  /** Where it lies, without symbolic links; undefined in memory. */
  readonly realPath: string | undefined
  close(): Promise<void>
}

export const MEMORY_LOCATION = 'memory:'

/** Path of an identity's key file. */
export function keyFilePath(location: string, identity: IdentityId): string {
  return join(resolve(location), 'keys', `${identity}.json`)
}

/** Opens the ledger of a location with its key (L4): registry, lock, checks. */
export async function openForRuntime(
  options: OpenOptions,
  { random }: { readonly random: Random }
): Promise<OpenedLedger> {
  if (options.location === MEMORY_LOCATION) return openInMemory(options, random)
  const { location } = options
  const keys = await keysOf(options, random)
  const held = await holdStore(
    location,
    options.create === undefined ? {} : { create: { identities: [keys.identity] } }
  )
  const signer = keys.signer()
  try {
    const ledger = await openLedger({
      store: held.store,
      identity: keys.identity,
      signer,
      blobKey: keys.blobKey,
      create: 'if-absent'
    })
    return {
      ledger,
      store: held.store,
      realPath: held.location.realPath,
      close: async () => {
        await ledger.close()
        await signer.close()
        await held.close()
      }
    }
  } catch (error) {
    await signer.close()
    await held.close()
    throw error
  }
}

async function openInMemory(options: OpenOptions, random: Random): Promise<OpenedLedger> {
  const keys = options.keys ?? generateIdentity(random)
  const signer = keys.signer()
  const store = openMemoryStore()
  const ledger = await openLedger({
    store,
    identity: keys.identity,
    signer,
    blobKey: keys.blobKey,
    create: 'if-absent'
  })
  return {
    ledger,
    store,
    realPath: undefined,
    close: async () => {
      await ledger.close()
      await signer.close()
      await store.close()
    }
  }
}

async function keysOf(options: OpenOptions, random: Random): Promise<IdentityKeys> {
  if (options.keys !== undefined) return options.keys
  const { location, passphrase } = options
  const identity = options.identity ?? (await firstIdentity(location, options.create))
  if (identity === undefined) return createKeys(options, random)
  return loadKeyFile({ path: keyFilePath(location, identity), passphrase })
}

async function firstIdentity(
  location: string,
  create: OpenOptions['create']
): Promise<IdentityId | undefined> {
  const found = await inspectLocation(location)
  if (found !== undefined) return found.marker.identities[0]
  if (create !== undefined) return undefined
  throw new TallyError('ledger.not_found', { path: location })
}

async function createKeys(options: OpenOptions, random: Random): Promise<IdentityKeys> {
  const { location, passphrase, insecurePlaintextKey } = options
  if (passphrase === undefined && insecurePlaintextKey !== true) {
    throw new TallyError('identity.passphrase_missing', { path: resolve(location) })
  }
  const keys = generateIdentity(random)
  await mkdir(join(resolve(location), 'keys'), { recursive: true, mode: 0o700 })
  const path = keyFilePath(location, keys.identity)
  await createKeyFile(
    passphrase === undefined
      ? { path, keys, random, insecurePlaintext: true }
      : { path, keys, random, passphrase }
  )
  return keys
}
