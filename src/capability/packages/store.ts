import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DocumentWork, type Hash, inSlices, isHash } from '../../core/index.js'
import { type CapabilityPackage, encodePackage, parsingPackage } from './package.js'

/** Packages by code hash. Whatever comes out was measured again on the way. */
export interface PackageStore {
  /** Throws `capability.malformed_package` when what is stored does not hash to its name. */
  read(codeHash: Hash): Promise<CapabilityPackage | undefined>
  /** Durable when it resolves. Writing what is there already changes nothing. */
  write(capabilityPackage: CapabilityPackage): Promise<void>
  remove(codeHash: Hash): Promise<void>
  /** Code hashes, sorted. */
  list(): Promise<readonly Hash[]>
}

/**
 * One file `<code hash>.json` for each package in a directory of its own. A file appears complete
 * or not at all. Names are hashes only, so nothing that a package says becomes a path.
 */
export function directoryPackageStore(
  directory: string,
  options: { readonly known?: ReadonlySet<string> } = {}
): PackageStore {
  const fileOf = (codeHash: Hash) => {
    if (!isHash(codeHash)) throw new TypeError('a code hash has 64 lower-case hex digits')
    return join(directory, `${codeHash}.json`)
  }
  return {
    async read(codeHash) {
      const text = await unlessMissing(readFile(fileOf(codeHash), 'utf8'))
      if (text === undefined) return undefined
      return inSlices(parsingPackage(text, codeHash, options), new DocumentWork())
    },
    async write(capabilityPackage) {
      const path = fileOf(capabilityPackage.codeHash)
      await mkdir(directory, { recursive: true })
      const file = await open(`${path}.new`, 'w', 0o600)
      try {
        await file.writeFile(encodePackage(capabilityPackage))
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(`${path}.new`, path)
      await syncNames(directory)
    },
    async remove(codeHash) {
      await rm(fileOf(codeHash), { force: true })
    },
    async list() {
      const names = (await unlessMissing(readdir(directory))) ?? []
      return names
        .filter((name) => name.endsWith('.json'))
        .map((name) => name.slice(0, -'.json'.length))
        .filter(isHash)
        .sort()
    }
  }
}

/** A receipt that says what is installed must not outlive a crash that the file does not. */
async function syncNames(directory: string): Promise<void> {
  const names = await open(directory, 'r')
  try {
    await names.sync()
  } finally {
    await names.close()
  }
}

async function unlessMissing<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
