import { join } from 'node:path'
import {
  type CapabilityPackage,
  createSandbox,
  declaredCapabilities,
  directoryPackageStore,
  type LoadedPackage,
  openingPackage,
  packDirectory,
  type Sandbox,
  stateOf,
  withInterfaceOf
} from '../../capability/index.js'
import {
  DocumentWork,
  type Hash,
  inSlices,
  isTallyError,
  type TallyError
} from '../../core/index.js'
import {
  codeHashIn,
  INSTALLED_PREFIX,
  memoryPackageStore,
  PackageCache,
  type RefusedPackage
} from '../../intent/index.js'
import type { Ledger } from '../../ledger/index.js'

/** An installed package, as it is shown. */
export interface InstalledPackage {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly codeHash: Hash
  readonly intents: readonly string[]
  /** Capabilities that it declares, each with whether it is granted. */
  readonly capabilities: readonly { readonly name: string; readonly granted: boolean }[]
}

/** Content store of a location, or one in memory. */
export function openPackageCache(realPath: string | undefined): PackageCache {
  return new PackageCache(
    realPath === undefined
      ? memoryPackageStore()
      : directoryPackageStore(join(realPath, 'packages'))
  )
}

/**
 * Packages of one ledger in this process: what is installed by the state, arranged for routing.
 *
 * Owns: the threads of the sandbox, started when the first package runs, and the list of packages
 * that could not be used. Does not own: what is installed, which is state.
 *
 * - K10 Stored bytes that do not hash to their name put the ledger into safe mode. Code at a path
 *   that is not the installed code is not loaded until it is installed.
 */
export class Packages {
  readonly packageCache: PackageCache
  readonly sandbox: Sandbox
  readonly #ledger: Ledger
  #arranging: Promise<unknown> = Promise.resolve()
  #refused: readonly RefusedPackage[] = []
  #missing: readonly RefusedPackage[] = []
  #damage: TallyError | undefined

  constructor(ledger: Ledger, packageCache: PackageCache, sandbox: Sandbox = createSandbox()) {
    this.#ledger = ledger
    this.packageCache = packageCache
    this.sandbox = sandbox
  }

  /** Packages that are not used, and why. */
  get refused(): readonly RefusedPackage[] {
    return [...this.#missing, ...this.#refused]
  }

  /** Why the latest arrangement failed: stored bytes that are not what their name says. */
  get damage(): TallyError | undefined {
    return this.#damage
  }

  /** Code hash of what is installed under an id, queued changes included. */
  installed(id: string): Hash | undefined {
    return codeHashIn(stateOf(this.#ledger).get(INSTALLED_PREFIX + id))
  }

  /** Code hash by package id, as the state says. */
  async installedCode(): Promise<Readonly<Record<string, Hash>>> {
    const installed: Record<string, Hash> = {}
    for (const key of await this.#ledger.list(INSTALLED_PREFIX)) {
      const id = key.slice(INSTALLED_PREFIX.length)
      const codeHash = this.installed(id)
      if (codeHash !== undefined) installed[id] = codeHash
    }
    return installed
  }

  /**
   * Arranges the package cache by the state as it is then, one call after the other: an earlier
   * look at the state must not take the place of a later one. False when stored bytes are not what
   * their name says; the ledger is in safe mode then.
   */
  arrange(): Promise<boolean> {
    const arranged = this.#arranging.then(() => this.#arrange())
    this.#arranging = arranged.catch(() => undefined)
    return arranged
  }

  async #arrange(): Promise<boolean> {
    const installed = new Map(Object.entries(await this.installedCode()))
    try {
      this.#missing = await this.packageCache.arrange(installed)
      this.#damage = undefined
      return true
    } catch (error) {
      if (!isTallyError(error, 'capability.malformed_package')) throw error
      this.#damage = error
      this.#ledger.enterSafeMode({ code: error.code, message: error.message })
      return false
    }
  }

  /**
   * Reads packages from directories into the content store. Gives those that nothing is installed
   * of yet; others are refused with their reason, and the rest is not affected (K3).
   */
  async read(directories: readonly string[]): Promise<readonly CapabilityPackage[]> {
    const fresh = new Map<string, CapabilityPackage>()
    const refused: RefusedPackage[] = []
    for (const directory of directories) {
      const loaded = await packed(directory)
      if (!loaded.ok) {
        const [first] = loaded.refusals
        const { code = 'invalid_manifest', message = 'it is refused' } = first ?? {}
        refused.push({ name: directory, code, message })
        continue
      }
      const { manifest, codeHash } = loaded.package
      const { id } = manifest
      const there = fresh.get(id)?.codeHash ?? this.installed(id)
      // Installed by an earlier program, it keeps its interface and its grants.
      const same = withInterfaceOf(loaded.package, there)
      if (same !== undefined) await this.#putBack(same)
      else if (there === undefined) {
        await this.packageCache.keep(loaded.package)
        fresh.set(id, loaded.package)
      } else {
        const code = fresh.has(id) ? 'duplicate_package' : 'package_changed'
        const message = `its code is ${codeHash}, and ${there} is installed as ${id}`
        refused.push({ name: directory, code, message })
      }
    }
    this.#refused = refused
    return [...fresh.values()]
  }

  /** Puts a packed package into the content store. Throws `capability.malformed_package`. */
  async keep(packed: string): Promise<CapabilityPackage> {
    const one = await inSlices(openingPackage(packed), new DocumentWork())
    await this.packageCache.keep(one)
    return one
  }

  /** An imported ledger names code that its own content store does not have yet. */
  async #putBack(code: CapabilityPackage): Promise<void> {
    if (!this.#missing.some(({ name }) => name === code.manifest.id)) return
    await this.packageCache.keep(code)
    await this.arrange()
  }

  list(isGranted: (codeHash: Hash, capability: string) => boolean): readonly InstalledPackage[] {
    return [...this.packageCache.registry.packages.values()].map(({ manifest, codeHash }) => ({
      id: manifest.id,
      name: manifest.name,
      version: manifest.version,
      codeHash,
      intents: manifest.intents,
      capabilities: declaredCapabilities(manifest).map((name) => ({
        name,
        granted: isGranted(codeHash, name)
      }))
    }))
  }

  /**
   * Names that an installed package does not declare, by its id or code hash; undefined when no
   * such package is installed.
   */
  undeclared(
    subject: string,
    capabilities: readonly string[]
  ): { readonly declared: readonly string[]; readonly unknown: readonly string[] } | undefined {
    const all = [...this.packageCache.registry.packages.values()]
    const found = all.find(({ manifest, codeHash }) => [manifest.id, codeHash].includes(subject))
    if (found === undefined) return undefined
    const declared = declaredCapabilities(found.manifest)
    return { declared, unknown: capabilities.filter((name) => !declared.includes(name)) }
  }

  close(): Promise<void> {
    return this.sandbox.close()
  }
}

/** Has those of these packages at hand that are this code; what cannot be read is left out. */
export async function holdPackages(
  packageCache: PackageCache,
  directories: readonly string[],
  codeHashes: readonly Hash[]
): Promise<void> {
  for (const directory of directories) {
    const loaded = await packed(directory)
    if (!loaded.ok) continue
    for (const codeHash of codeHashes) {
      const same = withInterfaceOf(loaded.package, codeHash)
      if (same !== undefined) packageCache.hold(same)
    }
  }
}

/** Without a bundler only packages that must be bundled are refused (K3). */
async function packed(directory: string): Promise<LoadedPackage> {
  try {
    return await packDirectory(directory)
  } catch (error) {
    if (!isTallyError(error, 'capability.bundler_missing')) throw error
    const { message } = error
    return { ok: false, refusals: [{ code: 'bundle_failed', path: [], message }] }
  }
}
