import {
  type CapabilityPackage,
  type CapabilityRegistry,
  createRegistry,
  type PackageStore
} from '../capability/index.js'
import { type Hash, isHash, isJsonObject, isTallyError, type Json } from '../core/index.js'

/** State entries `system/packages/<id>`: what is installed, committed to by every root. */
export const INSTALLED_PREFIX = 'system/packages/'

export function installedKey(packageId: string): string {
  return `${INSTALLED_PREFIX}${packageId}`
}

/** Code hash in an entry of the table of installed packages. */
export function codeHashIn(entry: Json | undefined): Hash | undefined {
  const codeHash = isJsonObject(entry) ? entry['codeHash'] : undefined
  return isHash(codeHash) ? codeHash : undefined
}

/** A package that cannot be used, and why; the others are not affected (K3). */
export interface RefusedPackage {
  /** Package id, directory or code hash: what is known of it. */
  readonly name: string
  readonly code: string
  readonly message: string
}

/**
 * Packages in memory: those that the state says are installed, arranged for routing, and any other
 * whose bytes the content store has.
 *
 * Owns: packages by code hash, as measured when they were read. Does not own: what is installed,
 * which is state, or the bytes.
 */
export class PackageCache {
  readonly #store: PackageStore
  readonly #byHash = new Map<Hash, CapabilityPackage>()
  #registry: CapabilityRegistry = createRegistry([])

  constructor(store: PackageStore) {
    this.#store = store
  }

  /** Installed packages that can run. */
  get registry(): CapabilityRegistry {
    return this.#registry
  }

  /** A package that is in memory already. */
  known(codeHash: Hash): CapabilityPackage | undefined {
    return this.#byHash.get(codeHash)
  }

  /**
   * A package by its code, if it is there and can run here. Throws `capability.malformed_package`
   * for bytes of another hash.
   */
  async load(codeHash: Hash): Promise<CapabilityPackage | undefined> {
    const found = await this.#find(codeHash)
    return 'manifest' in found ? found : undefined
  }

  async #find(codeHash: Hash): Promise<CapabilityPackage | Omit<RefusedPackage, 'name'>> {
    const known = this.#byHash.get(codeHash)
    if (known !== undefined) return known
    try {
      const stored = await this.#store.read(codeHash)
      const message = `the content store does not have its code ${codeHash}`
      if (stored === undefined) return { code: 'missing_code', message }
      this.#byHash.set(codeHash, stored)
      return stored
    } catch (error) {
      if (!isTallyError(error, 'capability.other_interface')) throw error
      return { code: 'other_interface', message: error.message }
    }
  }

  /** Has a package at hand as long as the process lasts, and not in the content store. */
  hold(one: CapabilityPackage): void {
    this.#byHash.set(one.codeHash, one)
  }

  /** Puts a package into the content store; it is not installed by that. */
  async keep(one: CapabilityPackage): Promise<void> {
    await this.#store.write(one)
    this.#byHash.set(one.codeHash, one)
  }

  /**
   * Arranges what the state says is installed. Throws `capability.malformed_package`; reports
   * packages whose bytes are not there, or were packed for another program (K3).
   */
  async arrange(installed: ReadonlyMap<string, Hash>): Promise<readonly RefusedPackage[]> {
    const refused: RefusedPackage[] = []
    const there: CapabilityPackage[] = []
    for (const [id, codeHash] of installed) {
      const found = await this.#find(codeHash)
      if (!('manifest' in found)) refused.push({ name: id, ...found })
      else if (found.manifest.id === id) there.push(found)
      else {
        const message = `its code ${codeHash} is that of ${found.manifest.id}`
        refused.push({ name: id, code: 'package_changed', message })
      }
    }
    this.#registry = createRegistry(there)
    return refused
  }
}

/** A content store that lasts as long as the process. */
export function memoryPackageStore(): PackageStore {
  const kept = new Map<Hash, CapabilityPackage>()
  return {
    read: async (codeHash) => kept.get(codeHash),
    write: async (one) => void kept.set(one.codeHash, one),
    remove: async (codeHash) => void kept.delete(codeHash),
    list: async () => [...kept.keys()].sort()
  }
}
