import { link, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type IdentityId,
  isIdentityId,
  isPublicKey,
  isTallyError,
  type PublicKey,
  type Random
} from '../core/index.js'
import { hasCode, syncDirectory } from './files.js'
import { generateIdentity, type IdentityKeys, newKeyFor } from './identity-keys.js'
import { createKeyFile, loadKeyFile, readKeyFile } from './key-store.js'

/**
 * The key files of one identity in one directory:
 *
 *     <identity>.json               the key that is taken for the one in force
 *     <identity>.<public key>.json  a key that was replaced
 *     <identity>.<public key>.next.json  a key that is to come into force
 *     <identity>.begun.json         the key of another identity that is being made
 *
 * Owns: which of them is which. Does not own: which key is in force, which the ledger says, or what
 * a file holds (`key-store`).
 *
 * Invariants:
 * - I8 The key in force always has a file, under one of these names, whatever is killed when: a
 *   new one is there before any receipt names it, and a file changes its name only afterwards.
 * - I9 No key is destroyed but by {@link KeyFiles.destroy}, and by {@link KeyFiles.dropIdentity}
 *   and {@link removeTemporary} one that nothing was ever signed with.
 */
export class KeyFiles {
  readonly #directory: string
  readonly #identity: IdentityId
  readonly #passphrase: string | undefined

  constructor(options: {
    readonly directory: string
    readonly identity: IdentityId
    /** Opens sealed files, and seals new ones where the current one is sealed. */
    readonly passphrase?: string | undefined
  }) {
    this.#directory = options.directory
    this.#identity = options.identity
    this.#passphrase = options.passphrase
  }

  /** The current key, or another one that has a file. Throws the codes of {@link loadKeyFile}. */
  async load(publicKey?: PublicKey): Promise<IdentityKeys> {
    if (publicKey === undefined) return this.#load(this.#current())
    return this.#load(this.#named(publicKey)).catch((error: unknown) => {
      if (!isTallyError(error, 'identity.key_file_missing')) throw error
      return this.#load(this.#next(publicKey))
    })
  }

  #load(path: string): Promise<IdentityKeys> {
    return loadKeyFile({ path, passphrase: this.#passphrase })
  }

  /**
   * Makes the identity's next key; its file is durable when this resolves, and protected as the
   * current one is. Nothing uses it before {@link KeyFiles.use}.
   */
  async prepare(keys: IdentityKeys, random: Random): Promise<IdentityKeys> {
    const next = newKeyFor(keys, random)
    await this.#create(this.#next(next.publicKey), next, random)
    return next
  }

  /** Keys that were prepared and not used: of a rotation that is under way, or that was killed. */
  async prepared(): Promise<readonly PublicKey[]> {
    const names = await namesIn(this.#directory)
    const start = `${this.#identity}.`
    return names
      .filter((name) => name.startsWith(start) && name.endsWith(NEXT_SUFFIX))
      .map((name) => name.slice(start.length, -NEXT_SUFFIX.length))
      .filter(isPublicKey)
  }

  /** {@link removeTemporary} in the directory of these files: not those of one identity alone. */
  removeTemporary(): Promise<void> {
    return removeTemporary(this.#directory)
  }

  /**
   * Makes another identity; its file is durable when this resolves, and protected as the current
   * one of this identity is. It becomes current by {@link finishIdentity}.
   */
  async beginIdentity(random: Random): Promise<IdentityId> {
    const keys = generateIdentity(random)
    await this.#create(begunFileIn(this.#directory, keys.identity), keys, random)
    return keys.identity
  }

  /** Lets an identity that was begun have its current file. */
  finishIdentity(identity: IdentityId): Promise<void> {
    return finishIdentity(this.#directory, identity)
  }

  /** Removes what {@link beginIdentity} has made, when nothing names it. */
  async dropIdentity(identity: IdentityId): Promise<void> {
    await rm(begunFileIn(this.#directory, identity), { force: true })
    await syncDirectory(this.#directory)
  }

  async #create(path: string, keys: IdentityKeys, random: Random): Promise<void> {
    const { protection } = await readKeyFile(this.#current())
    await createKeyFile(
      protection === 'none'
        ? { path, keys, random, insecurePlaintext: true }
        : { path, keys, random, passphrase: this.#passphrase ?? '' }
    )
  }

  /**
   * Makes another key the current one; the one before keeps a file under its own name. May be done
   * again after a death at any point.
   */
  async use(publicKey: PublicKey): Promise<void> {
    const before = await readKeyFile(this.#current())
    try {
      await link(this.#current(), this.#named(before.publicKey))
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
    }
    await syncDirectory(this.#directory)
    try {
      await rename(this.#next(publicKey), this.#current())
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
      await rename(this.#named(publicKey), this.#current())
    }
    await syncDirectory(this.#directory)
  }

  /** Removes the file of a key that is not the current one; false when there is none. */
  async destroy(publicKey: PublicKey): Promise<boolean> {
    let isRemoved = false
    for (const path of [this.#named(publicKey), this.#next(publicKey)]) {
      try {
        await rm(path)
        isRemoved = true
      } catch (error) {
        if (!hasCode(error, 'ENOENT')) throw error
      }
    }
    if (isRemoved) await syncDirectory(this.#directory)
    return isRemoved
  }

  #current(): string {
    return keyFileIn(this.#directory, this.#identity)
  }

  #named(publicKey: PublicKey): string {
    return join(this.#directory, `${this.#identity}.${publicKey}.json`)
  }

  #next(publicKey: PublicKey): string {
    return join(this.#directory, `${this.#identity}.${publicKey}${NEXT_SUFFIX}`)
  }
}

/** Path of the current key file of an identity. */
export function keyFileIn(directory: string, identity: IdentityId): string {
  return join(directory, `${identity}.json`)
}

/**
 * Lets an identity that was begun in a directory have its current file; nothing where there is none
 * of it. May be done again after a death at any point.
 */
export function finishIdentity(directory: string, identity: IdentityId): Promise<void> {
  return finishIdentities(directory, [identity])
}

/** {@link finishIdentity} of many: what makes names durable is done once for all of them. */
export async function finishIdentities(
  directory: string,
  identities: readonly IdentityId[]
): Promise<void> {
  const linked: string[] = []
  for (const identity of identities) {
    const begun = begunFileIn(directory, identity)
    if (await isLinked(begun, keyFileIn(directory, identity))) linked.push(begun)
  }
  if (linked.length === 0) return
  await syncDirectory(directory)
  for (const begun of linked) await rm(begun, { force: true })
  await syncDirectory(directory)
}

async function isLinked(begun: string, current: string): Promise<boolean> {
  try {
    await link(begun, current)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    if (!hasCode(error, 'EEXIST')) throw error
    // A current file with another key is not to be replaced, nor is the first one to be lost.
    return isSame(begun, current)
  }
}

/** What killed processes have left among the key files of a directory. */
export interface KeyLeftovers {
  /** Identities that were begun and have no current file yet. */
  readonly begun: readonly IdentityId[]
  /** Identities with a key that was prepared and not used. */
  readonly rotating: ReadonlySet<string>
}

/** Looks through a directory of key files once, for all of its identities. */
export async function keyLeftovers(directory: string): Promise<KeyLeftovers> {
  const names = await namesIn(directory)
  const prepared = names.filter((name) => name.endsWith(NEXT_SUFFIX) && !name.startsWith('.'))
  const rotating = new Set(prepared.map((name) => name.slice(0, name.indexOf('.'))))
  return { begun: begunIn(names), rotating }
}

/** Identities that were begun in a directory and have no current file yet. */
export async function begunIdentities(directory: string): Promise<readonly IdentityId[]> {
  return begunIn(await namesIn(directory))
}

function begunIn(names: readonly string[]): readonly IdentityId[] {
  return names
    .filter((name) => name.endsWith(BEGUN_SUFFIX))
    .map((name) => name.slice(0, -BEGUN_SUFFIX.length))
    .filter(isIdentityId)
}

/**
 * Removes what was left of key files that were being written when their process was killed; only
 * while no key is made in this directory. Such a file never had a name that anybody opens.
 */
export async function removeTemporary(directory: string): Promise<void> {
  for (const name of await namesIn(directory)) {
    if (temporaryName.test(name)) await rm(join(directory, name), { force: true })
  }
}

async function isSame(path: string, other: string): Promise<boolean> {
  return (await readFile(path)).equals(await readFile(other))
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch(() => [])
}

const BEGUN_SUFFIX = '.begun.json'
const NEXT_SUFFIX = '.next.json'
/** As {@link createKeyFile} names a file until it is whole. */
const temporaryName = /^\.[0-9a-f]{64}(\.[0-9a-f]{64}(\.next)?|\.begun)?\.json\.[0-9a-f-]{36}$/

function begunFileIn(directory: string, identity: IdentityId): string {
  return join(directory, `${identity}${BEGUN_SUFFIX}`)
}
