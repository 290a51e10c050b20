import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import {
  type IdentityId,
  identityError,
  isTallyError,
  ledgerError,
  type PublicKey,
  type Random
} from '../core/index.js'
import {
  createKeyFile,
  finishIdentity,
  generateIdentity,
  type IdentityKeys,
  KeyFiles,
  keyFileIn,
  removeTemporary
} from '../identity/index.js'
import {
  type HeldStore,
  holdStore,
  inspectLocation,
  type Ledger,
  type Location,
  mainIdentity,
  type OwnerSocket,
  openLedger,
  openMemoryStore,
  type Store,
  SubjectKeyFiles,
  type SubjectKeys,
  SubjectKeysInMemory
} from '../ledger/index.js'
import type { HandOver } from './opening/hand-over.js'
import { type OutsideSigner, OwnKeys, outsideKeys } from './system/own-keys.js'
import type { ReadOnlyReplica } from './system/taking-over.js'

export interface OpenOptions {
  /** Directory of the ledger; `memory:` keeps everything in memory, for tests. */
  readonly location: string
  /** Makes a ledger with a new identity where there is none. */
  readonly create?: 'if-absent'
  /** Which identity of the ledger; the one it was made with by default. */
  readonly identity?: IdentityId
  /** Opens the key file. Not needed for key files in plain text. */
  readonly passphrase?: string
  /** With `create`: keeps the new key in plain text. For demonstrations only. */
  readonly insecurePlaintextKey?: boolean
  /**
   * Takes an imported ledger over: its first receipt here says so, and then it runs (formats.md
   * §8). Only once nothing else runs the identity: two that act make two histories.
   */
  readonly takeOver?: true
  /** Keys to use instead of the key file, for tests. */
  readonly keys?: IdentityKeys
  /**
   * Signs instead of a key file: a key service, a hardware key. Such a runtime makes no key: a
   * rotation and other identities need key files.
   */
  readonly signer?: OutsideSigner
  /**
   * For deploys: takes the ledger over from the process that holds it, and hands it to the next one
   * that asks. A process that was opened without it is waited for, and keeps the ledger until it
   * ends. Rejects with `ledger.locked` only after `waitMs`, 10 s by default.
   */
  readonly handOver?: true | HandOver
}

export interface OpenedLedger {
  readonly ledger: Ledger
  /** For verification, which looks at bytes. */
  readonly store: Store
  /** Where it lies, without symbolic links; undefined in memory. */
  readonly realPath: string | undefined
  /** The same place, held; absent in memory. */
  readonly location?: Location
  /** Bound where it lies on disk; absent in memory. */
  readonly socket?: OwnerSocket
  /** Absent where a test holds them. */
  readonly keys?: OwnKeys
  /** Present while the ledger is an imported one that is being taken over. */
  readonly follower?: ReadOnlyReplica
  /** Present where the location is opened for many identities. */
  readonly shared?: SharedOpening
  close(): Promise<void>
}

/** What an identity of a location that is opened for many need not look for itself. */
export interface SharedOpening {
  /** Identities that a killed process has begun, and that are not made whole yet. */
  begun(): readonly IdentityId[]
  /** Whether a killed process may have left a key that it had prepared. */
  isRotating(identity: IdentityId): boolean
}

export const MEMORY_LOCATION = 'memory:'

/** Path of an identity's key file. */
export function keyFilePath(location: string, identity: IdentityId): string {
  return keyFileIn(keyDirectory(location), identity)
}

/** Where the key files of a location lie. */
export function keyDirectory(location: string): string {
  return join(resolve(location), 'keys')
}

/** Opens the ledger of a location with its key (L4): registry, lock, checks. */
export async function openForRuntime(
  options: OpenOptions,
  { random }: { readonly random: Random }
): Promise<OpenedLedger> {
  if (options.location === MEMORY_LOCATION) return openInMemory(options, random)
  const { held, keys } = await holdForRuntime(options, { random })
  await noteAwake(held.location, keys.keys.identity)
  return openHeld({ ...held, keys, random, close: () => held.close() })
}

/** Takes hold of a location, with the key of the identity that is to be opened. */
export async function holdForRuntime(
  options: OpenOptions,
  { random }: { readonly random: Random }
): Promise<{ readonly held: HeldStore; readonly keys: OwnKeys }> {
  const found = identityToOpen(options, await inspectLocation(options.location))
  const keys = await keysOf(options, found, random)
  const held = await holdOf(options, keys.keys.identity)
  await removeTemporary(keyDirectory(held.location.realPath)).catch(() => undefined)
  return { held, keys }
}

/** The key of an identity at a location that is held already. */
export function keysAtHeld(
  options: Pick<OpenOptions, 'location' | 'passphrase'>,
  identity: IdentityId,
  random: Random
): Promise<OwnKeys> {
  return keysOf(options, identity, random)
}

/** What an identity is opened on; `close` lets go of what is held for it. */
export interface HeldForRuntime extends Pick<HeldStore, 'location' | 'store'> {
  readonly keys: OwnKeys
  readonly random: Random
  /** Absent where the location is opened for many: then the socket is not one identity's. */
  readonly socket?: OwnerSocket
  readonly shared?: SharedOpening
  close(): Promise<void>
}

/** Opens the ledger of an identity on a store that is held. Where it rejects, all is let go of. */
export async function openHeld(held: HeldForRuntime): Promise<OpenedLedger> {
  const { location, store, keys, random, socket, shared } = held
  const { identity } = keys.keys
  const close = async () => {
    await keys.close()
    await held.close()
  }
  try {
    if (!location.marker.identities.includes(identity)) {
      throw ledgerError('ledger.identity_missing', { identity })
    }
    const subjects = new SubjectKeyFiles(location.realPath, identity, random)
    const ledger = await openSigned(store, keys, subjects)
    if (shared?.isRotating(identity) !== false) await clearUpKeys(ledger, location, keys)
    const { realPath } = location
    const place = { realPath, location, ...(socket === undefined ? {} : { socket }) }
    const opened = { ledger, store, ...place, keys, close: closing(ledger, close) }
    const of = shared === undefined ? opened : { ...opened, shared }
    if (location.marker.followers?.includes(identity) !== true) return of
    return { ...of, follower: { end: () => location.endFollowing(identity) } }
  } catch (error) {
    await close()
    throw error
  }
}

async function holdOf(options: OpenOptions, identity: IdentityId): Promise<HeldStore> {
  const { location, create, handOver } = options
  const hold = () =>
    holdStore(location, create === undefined ? {} : { create: { identities: [identity] } })
  if (handOver === undefined) return hold()
  const { holdAfterOwner } = await import('./opening/hand-over.js')
  return holdAfterOwner(location, hold, handOver === true ? {} : handOver)
}

/**
 * The next one who opens the location for many is to look at this identity; the main one is always
 * open there. Where it cannot be noted, its timers wait until it is asked for.
 */
async function noteAwake(location: Location, identity: IdentityId): Promise<void> {
  if (mainIdentity(location.marker) === identity) return
  const { markAwake } = await import('./identities/awake-marks.js')
  await markAwake(location.realPath, identity).catch(() => undefined)
}

/**
 * A key that a killed rotation has prepared came into force only if a chain names it: this one, as
 * long as it is whole, or one that was cut and is kept beside it.
 */
async function clearUpKeys(ledger: Ledger, location: Location, keys: OwnKeys): Promise<void> {
  if (ledger.state().mode !== 'ready' || (await location.keepsData())) return
  // Reading a ledger does not need that room, and loads this file.
  const { replacedKey } = await import('../intent/index.js')
  const isNamed = (publicKey: PublicKey) => ledger.read(replacedKey(publicKey)) !== undefined
  // What cannot be removed now is removed by the next opening.
  await keys.clearUp(isNamed).catch(() => undefined)
}

type Found = Awaited<ReturnType<typeof inspectLocation>>

/**
 * The identity that is asked for; undefined where one is to be made. What is wrong is said before
 * anybody is asked for a passphrase.
 */
function identityToOpen(options: OpenOptions, found: Found): IdentityId | undefined {
  const { location, create, takeOver } = options
  const asked = options.keys?.identity ?? options.identity
  if (found === undefined) {
    if (create === undefined) throw ledgerError('ledger.not_found', { path: location })
    return asked
  }
  const { marker, realPath } = found
  const identity = asked ?? mainIdentity(marker)
  if (identity === undefined) throw ledgerError('ledger.not_found', { path: location })
  if (!marker.identities.includes(identity)) {
    throw ledgerError('ledger.identity_missing', { identity })
  }
  if (takeOver !== true && marker.followers?.includes(identity) === true) {
    throw ledgerError('ledger.follower', { path: realPath })
  }
  return identity
}

async function openInMemory(options: OpenOptions, random: Random): Promise<OpenedLedger> {
  const { identity, signer, keys: given = generateIdentity(random) } = options
  const held = signer === undefined ? given : outsideKeys(signer, identity)
  const keys = new OwnKeys({ keys: held, isKept: true })
  const store = openMemoryStore()
  const subjects = new SubjectKeysInMemory(() => random.bytes(32))
  const ledger = await openSigned(store, keys, subjects)
  const close = async () => {
    await keys.close()
    await store.close()
  }
  return { ledger, store, realPath: undefined, keys, close: closing(ledger, close) }
}

function closing(ledger: Ledger, close: () => Promise<void>): () => Promise<void> {
  return async () => {
    await ledger.close()
    await close()
  }
}

/** Opens with the key in force, which another process may have put there and died. */
async function openSigned(store: Store, own: OwnKeys, subjects: SubjectKeys): Promise<Ledger> {
  const open = () => {
    const { identity, blobKey } = own.keys
    const keys = { signer: own.signer(), blobKey, subjects }
    return openLedger({ store, identity, ...keys, create: 'if-absent' })
  }
  try {
    return await open()
  } catch (error) {
    if (!isTallyError(error, 'ledger.wrong_signer')) throw error
    if (!(await own.adopt(error.context.expected as PublicKey))) throw error
    return open()
  }
}

async function keysOf(
  options: OpenOptions,
  found: IdentityId | undefined,
  random: Random
): Promise<OwnKeys> {
  const { location, passphrase, signer } = options
  const held = signer === undefined ? options.keys : outsideKeys(signer, found)
  if (held !== undefined) return new OwnKeys({ keys: held, isKept: false })
  const created = found === undefined ? await createKeys(options, random) : undefined
  const identity = found ?? created?.identity
  if (identity === undefined) throw ledgerError('ledger.not_found', { path: location })
  const directory = keyDirectory(location)
  const files = new KeyFiles({ directory, identity, passphrase })
  // Its maker may have died between its marker and its key file.
  if (created === undefined) await finishIdentity(directory, identity)
  return new OwnKeys({ keys: created ?? (await files.load()), files, isKept: true })
}

async function createKeys(options: OpenOptions, random: Random): Promise<IdentityKeys> {
  const { location, passphrase, insecurePlaintextKey } = options
  if (passphrase === undefined && insecurePlaintextKey !== true) {
    throw identityError('identity.passphrase_missing', { path: resolve(location) })
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
