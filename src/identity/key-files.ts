import { link, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { IdentityId, PublicKey, Random } from '../core/index.js'
import { hasCode, syncDirectory } from './files.js'
import { type IdentityKeys, newKeyFor } from './identity-keys.js'
import { createKeyFile, loadKeyFile, readKeyFile } from './key-store.js'

/**
 * The key files of one identity in one directory:
 *
 *     <identity>.json               the key that is taken for the one in force
 *     <identity>.<public key>.json  a key that is to come into force, or was replaced
 *
 * Owns: which of them is which. Does not own: which key is in force, which the ledger says, or what
 * a file holds (`key-store`).
 *
 * Invariants:
 * - I8 The key in force always has a file, under one of the two names, whatever is killed when: a
 *   new one is there before any receipt names it, and a file changes its name only afterwards.
 * - I9 No key is destroyed but by {@link KeyFiles.destroy}.
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
  load(publicKey?: PublicKey): Promise<IdentityKeys> {
    const path = publicKey === undefined ? this.#current() : this.#named(publicKey)
    return loadKeyFile({ path, passphrase: this.#passphrase })
  }

  /**
   * Makes the identity's next key; its file is durable when this resolves, and protected as the
   * current one is. It is used by nobody before {@link KeyFiles.use}.
   */
  async prepare(keys: IdentityKeys, random: Random): Promise<IdentityKeys> {
    const next = newKeyFor(keys, random)
    const path = this.#named(next.publicKey)
    const { protection } = await readKeyFile(this.#current())
    await createKeyFile(
      protection === 'none'
        ? { path, keys: next, random, insecurePlaintext: true }
        : { path, keys: next, random, passphrase: this.#passphrase ?? '' }
    )
    return next
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
    await rename(this.#named(publicKey), this.#current())
    await syncDirectory(this.#directory)
  }

  /** Removes the file of a key that is not the current one; false when there is none. */
  async destroy(publicKey: PublicKey): Promise<boolean> {
    try {
      await rm(this.#named(publicKey))
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return false
      throw error
    }
    await syncDirectory(this.#directory)
    return true
  }

  #current(): string {
    return keyFileIn(this.#directory, this.#identity)
  }

  #named(publicKey: PublicKey): string {
    return join(this.#directory, `${this.#identity}.${publicKey}.json`)
  }
}

/** Path of the current key file of an identity. */
export function keyFileIn(directory: string, identity: IdentityId): string {
  return join(directory, `${identity}.json`)
}
