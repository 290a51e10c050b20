import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface Loaded {
  readonly stdout: string
  /** Names of the packages of others, sorted. */
  readonly packages: readonly string[]
  /** The files of code that were loaded. */
  readonly urls: readonly string[]
  /** How many files of code were loaded, of this package and of others. */
  readonly modules: number
}

/** Runs `node` with these words, and says which files of code the process has loaded. */
export function loadedBy(words: readonly string[]): Loaded {
  const directory = mkdtempSync(join(tmpdir(), 'tally-loaded-'))
  try {
    const { status, stdout, stderr } = spawnSync(process.execPath, words, {
      env: listingScripts(directory),
      encoding: 'utf8'
    })
    if (status !== 0) throw new Error(`node ${words.join(' ')} ended with ${status}: ${stderr}`)
    return loadedIn(directory, stdout)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** {@link loadedBy} of a process that this one answers meanwhile. */
export async function loadedBeside(words: readonly string[]): Promise<Loaded> {
  const directory = mkdtempSync(join(tmpdir(), 'tally-loaded-'))
  try {
    const env = listingScripts(directory)
    const { stdout } = await promisify(execFile)(process.execPath, words, { env })
    return loadedIn(directory, stdout)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

// V8 lists every script of a process, however it was loaded.
function listingScripts(directory: string): NodeJS.ProcessEnv {
  return { ...process.env, NODE_V8_COVERAGE: directory }
}

function loadedIn(directory: string, stdout: string): Loaded {
  const urls = new Set(readdirSync(directory).flatMap((name) => urlsIn(join(directory, name))))
  const packages = [...urls].flatMap((url) => packageIn(url) ?? [])
  return { stdout, packages: [...new Set(packages)].sort(), modules: urls.size, urls: [...urls] }
}

function urlsIn(path: string): readonly string[] {
  const { result }: { readonly result: readonly { readonly url: string }[] } = JSON.parse(
    readFileSync(path, 'utf8')
  )
  return result.map(({ url }) => url).filter((url) => url.startsWith('file:'))
}

function packageIn(url: string): string | undefined {
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]
}
