import { readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { limits } from '../../core/index.js'
import type { Refusal } from '../manifest/manifest.js'

/**
 * What a bundler reads before anybody can look at it: settings that it looks for by itself, in the
 * package's directories and in all around it. A pipe in their place would be waited for for ever.
 */
const settingsFiles: ReadonlySet<string> = new Set([
  'package.json',
  'tsconfig.json',
  'jsconfig.json'
])

/** Why a bundler must not be let into a directory (a real path), or undefined. */
export async function settingsProblem(directory: string): Promise<Refusal | undefined> {
  let around = directory
  while (around !== dirname(around)) {
    around = dirname(around)
    for (const name of settingsFiles) {
      const path = join(around, name)
      if (await isSpecial(path)) return refusal(path)
    }
  }
  const open = [directory]
  let entries = 0
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const entry of await readdir(at, { withFileTypes: true })) {
      entries += 1
      if (entries > limits.PACKAGE_DIRECTORY_ENTRIES_MAX) return tooMany
      const path = join(at, entry.name)
      // Links to directories are not followed: whatever is imported through them is looked at then.
      if (entry.isDirectory()) open.push(path)
      else if (settingsFiles.has(entry.name) && (await isSpecial(path))) {
        return refusal(relative(directory, path))
      }
    }
  }
  return undefined
}

/**
 * Whether a bundler that follows this import would look outside the directory: through a symbolic
 * link, or for a package that the directory does not bring along.
 */
export async function leadsOutside(
  directory: string,
  { path, resolveDir }: { readonly path: string; readonly resolveDir: string }
): Promise<boolean> {
  if (/^\.{1,2}(?:\/|$)/.test(path)) return !(await isInside(directory, resolve(resolveDir, path)))
  const [scope = '', name = ''] = path.split('/')
  const asked = scope.startsWith('@') ? join(scope, name) : scope
  for (let at = resolveDir; ; at = dirname(at)) {
    const found = join(at, 'node_modules', asked)
    if (await exists(found)) return !(await isInside(directory, found))
    if (at === directory || at === dirname(at)) return true
  }
}

/** Whether a path, or the nearest directory around it that is there, lies inside. */
async function isInside(directory: string, path: string): Promise<boolean> {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    const real = await realpath(at).catch(() => undefined)
    if (real !== undefined) return real === directory || real.startsWith(directory + sep)
  }
  return false
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false
  )
}

async function isSpecial(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => !found.isFile() && !found.isDirectory(),
    () => false
  )
}

function refusal(name: string): Refusal {
  const message = `${JSON.stringify(name)} is no regular file`
  return { code: 'unreadable', path: [name], message }
}

const tooMany: Refusal = {
  code: 'too_large',
  path: [],
  message: `more than ${limits.PACKAGE_DIRECTORY_ENTRIES_MAX} entries`
}
