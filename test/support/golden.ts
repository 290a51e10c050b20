import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import * as agent from '../../src/agent/index.js'
import * as blockCode from '../../src/code/index.js'
import * as executor from '../../src/executor/index.js'
import type { Registrations, RunHandle, RunResult } from '../../src/runtime/index.js'
import * as testing from '../../src/testing/index.js'

/** The golden ledgers of `test/vectors/ledgers/`, and the code that they were made with. */

const folder = new URL('../vectors/ledgers/', import.meta.url)

/** What `ledgers.json` says of one. */
export interface GoldenLedger {
  readonly title: string
  readonly receipts: number
  readonly evidence: number
  /** Receipts that are not executed again: of erased runs, and of those that read their state. */
  readonly closed?: number
  readonly runs: Readonly<Record<string, string>>
  /** What it fails with under the version that made it. */
  readonly failure?: { readonly field: string }
}

interface Scene {
  readonly workflow?: string
}

interface GoldenModules {
  codeOf(lib: object, world: object): Registrations
  worldOf(scene: Scene): object
  readonly scenes: Readonly<Record<string, Scene>>
  driven(run: RunHandle, options: { readonly tick: () => void }): Promise<RunResult>
}

async function load(): Promise<GoldenModules> {
  const modules = ['code', 'scenes', 'drive'].map(
    (name) => import(new URL(`${name}.mjs`, folder).href)
  )
  return Object.assign({}, ...(await Promise.all(modules)))
}

const modules = await load()

export async function goldenLedgers(): Promise<Readonly<Record<string, GoldenLedger>>> {
  const text = await readFile(new URL('ledgers.json', folder), 'utf8')
  return (JSON.parse(text) as { readonly ledgers: Readonly<Record<string, GoldenLedger>> }).ledgers
}

/** The code of a ledger, with a world in which everything answers. */
export function goldenCode(name: string): Registrations {
  const { codeOf, worldOf, scenes } = modules
  const scene = scenes[name]
  if (scene === undefined) throw new Error(`there is no golden ledger ${name}`)
  const code = codeOf({ ...blockCode, ...agent, ...executor, ...testing }, worldOf(scene))
  return Object.fromEntries(Object.entries(code).filter(([, value]) => value !== undefined))
}

/** Drives an open run to its end; `tick` lets time pass. */
export function drivenToEnd(run: RunHandle, tick: () => void): Promise<RunResult> {
  return modules.driven(run, { tick })
}

/** A golden ledger, unpacked into a directory of the test's own. */
export class UnpackedLedger {
  readonly location: string
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
    this.location = join(directory, 'ledger')
  }

  static async of(name: string): Promise<UnpackedLedger> {
    const packed = await readFile(new URL(`${name}.json.gz`, folder))
    const files = JSON.parse(gunzipSync(packed).toString('utf8')) as Record<string, string>
    const unpacked = new UnpackedLedger(await mkdtemp(join(tmpdir(), 'tally-golden-')))
    for (const [path, text] of Object.entries(files)) {
      const target = join(unpacked.location, path)
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      await writeFile(target, Buffer.from(text, 'base64'), { mode: 0o600 })
    }
    return unpacked
  }

  /** Copies what is in no snapshot to a ledger that was imported: packages, keys of subjects. */
  async copyBeside(location: string): Promise<void> {
    for (const name of ['packages', 'subjects']) {
      const from = join(this.location, name)
      await cp(from, join(location, name), { recursive: true }).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      })
    }
  }

  path(name: string): string {
    return join(this.#directory, name)
  }

  async remove(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true })
  }
}

/** The snapshot of a golden ledger. */
export function snapshotPath(name: string): URL {
  return new URL(`${name}.snapshot.gz`, folder)
}
