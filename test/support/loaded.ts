import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

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
    // V8 lists every script of a process, however it was loaded.
    const env = { ...process.env, NODE_V8_COVERAGE: directory }
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`node ${words.join(' ')} ended with ${status}: ${stderr}`)
    const urls = new Set(readdirSync(directory).flatMap((name) => urlsIn(join(directory, name))))
    const packages = [...urls].flatMap((url) => packageIn(url) ?? [])
    return { stdout, packages: [...new Set(packages)].sort(), modules: urls.size, urls: [...urls] }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
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
