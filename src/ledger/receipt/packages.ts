import { type Hash, isHash, isJsonObject, type Json } from '../../core/index.js'
import { hashInstalledDApps } from '../state/index.js'

/** Installed packages are the state entries under this prefix: `{codeHash, ...}` by package id. */
export const PACKAGE_KEY_PREFIX = 'system/packages/'

/**
 * The installed packages of one state, as its roots commit to them (formats.md §4). A persistent
 * value: `changed` gives a new one, so that each queued commit keeps its own.
 */
export class InstalledPackages {
  static readonly none = new InstalledPackages(new Map())

  /** `installedDApps` of a root. */
  readonly hash: Hash
  readonly #codeHashes: ReadonlyMap<string, Hash>

  private constructor(codeHashes: ReadonlyMap<string, Hash>) {
    this.#codeHashes = codeHashes
    this.hash = hashInstalledDApps([...codeHashes].map(([id, codeHash]) => ({ id, codeHash })))
  }

  /** After one state key got a new text (null: deleted); the same value when it is no package. */
  changed(key: string, text: string | null): InstalledPackages {
    if (!key.startsWith(PACKAGE_KEY_PREFIX)) return this
    const id = key.slice(PACKAGE_KEY_PREFIX.length)
    const codeHashes = new Map(this.#codeHashes)
    const codeHash = text === null ? undefined : codeHashOf(JSON.parse(text) as Json)
    if (codeHash === undefined) codeHashes.delete(id)
    else codeHashes.set(id, codeHash)
    return new InstalledPackages(codeHashes)
  }
}

function codeHashOf(value: Json): Hash | undefined {
  const codeHash = isJsonObject(value) ? value['codeHash'] : undefined
  return isHash(codeHash) ? codeHash : undefined
}
