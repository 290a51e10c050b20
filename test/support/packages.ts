import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { Json } from '../../src/core/index.js'

/** A capability package as a test writes it. */
export interface WrittenPackage {
  readonly id: string
  readonly version?: string
  readonly intents: readonly string[]
  readonly capabilities?: readonly Json[]
  readonly capabilitySchemas?: readonly Json[]
  /** Text of the module, which exports `run(intent, api)`. */
  readonly code: string
}

/** A folder of package directories that is thrown away afterwards. */
export class PackageFolder {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  static async create(): Promise<PackageFolder> {
    return new PackageFolder(await mkdtemp(join(tmpdir(), 'tally-packages-')))
  }

  /** Writes a package, over what was there; returns its directory. */
  async write(written: WrittenPackage, directory = written.id): Promise<string> {
    const { id, version = '1.0.0', intents, capabilities = [], code } = written
    const { capabilitySchemas = [] } = written
    const path = join(this.path, directory)
    await mkdir(path, { recursive: true })
    const manifest = { id, name: id, version, intents, capabilities, capabilitySchemas }
    await writeFile(join(path, 'manifest.json'), JSON.stringify(manifest))
    await writeFile(join(path, 'bundle.mjs'), code)
    return path
  }

  remove(): Promise<void> {
    return rm(this.path, { recursive: true, force: true })
  }
}

/** Gives all tests of a file one folder of packages, which is removed after them. */
export function packagesForAllTests(give: (folder: PackageFolder) => void): void {
  let folder: PackageFolder | undefined
  beforeAll(async () => {
    folder = await PackageFolder.create()
    give(folder)
  })
  afterAll(() => folder?.remove())
}

/** Counts under its own key, and says what it was asked. */
export const counterPackage: WrittenPackage = {
  id: 'counter',
  intents: ['count.up'],
  capabilities: ['storage.read', 'storage.write'],
  code: `export async function run(intent, api) {
    const count = (api.storage.get('count') ?? 0) + (intent.payload.by ?? 1)
    api.storage.set('count', count)
    return { count, action: intent.action, at: api.now(), chance: api.random() }
  }`
}
