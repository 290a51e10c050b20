import { join } from 'node:path'
import { type Hash, isTallyError, type TallyError } from '../../core/index.js'

/** What the content store of a location holds (K10). */
export interface StoredPackages {
  readonly count: number
  /** Whose bytes are not what its name says: that is safe mode. */
  readonly malformed: readonly TallyError[]
  /** Whole, and made for another program: such a package is not used, and no more. */
  readonly unusable: readonly TallyError[]
}

/** Reads every stored package of a location as opening the ledger does. */
export async function inspectPackages(realPath: string): Promise<StoredPackages> {
  // A reader of a ledger loads this file, and nothing that runs packages.
  const { directoryPackageStore } = await import('../../capability/index.js')
  const store = directoryPackageStore(join(realPath, 'packages'))
  const names = await store.list()
  const malformed: TallyError[] = []
  const unusable: TallyError[] = []
  for (const name of names) {
    try {
      await store.read(name)
    } catch (error) {
      if (isTallyError(error, 'capability.malformed_package')) malformed.push(error)
      else if (isTallyError(error, 'capability.other_interface')) unusable.push(error)
      else throw error
    }
  }
  return { count: names.length, malformed, unusable }
}

/** Removes stored packages whose bytes are not what their names say; returns their code hashes. */
export async function removeMalformed(realPath: string): Promise<readonly Hash[]> {
  const { directoryPackageStore } = await import('../../capability/index.js')
  const store = directoryPackageStore(join(realPath, 'packages'))
  const removed: Hash[] = []
  for (const name of await store.list()) {
    try {
      await store.read(name)
    } catch (error) {
      if (!isTallyError(error, 'capability.malformed_package')) {
        if (isTallyError(error, 'capability.other_interface')) continue
        throw error
      }
      await store.remove(name)
      removed.push(name)
    }
  }
  return removed
}
