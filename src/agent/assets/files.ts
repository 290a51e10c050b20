import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** The file system as prompt assets need it. */
export interface AssetFiles {
  /** Names of entries; the order does not matter. Throws when there is no such directory. */
  readDirectory(path: string): Promise<readonly string[]>
  readFile(path: string): Promise<string>
  size(path: string): Promise<number>
}

export const diskFiles: AssetFiles = {
  readDirectory: (path) => readdir(path),
  readFile: (path) => readFile(path, 'utf8'),
  size: async (path) => (await stat(path)).size
}

/** Files in memory, by path with `/` between names; for tests and for documents of a service. */
export function memoryFiles(contents: Readonly<Record<string, string>>): AssetFiles {
  const paths = Object.keys(contents)
  const fileAt = (path: string) => {
    const found = Object.hasOwn(contents, path) ? contents[path] : undefined
    if (found === undefined) throw new Error(`there is no file ${path}`)
    return found
  }
  return {
    readDirectory: async (path) => {
      const prefix = `${path}/`
      const inside = paths.filter((one) => one.startsWith(prefix))
      if (inside.length === 0) throw new Error(`there is no directory ${path}`)
      return [...new Set(inside.map((one) => one.slice(prefix.length).split('/')[0] ?? ''))]
    },
    readFile: async (path) => fileAt(path),
    size: async (path) => Buffer.byteLength(fileAt(path))
  }
}

/** Names in a directory, sorted by code units; empty when there is none. */
export async function namesIn(files: AssetFiles, path: string): Promise<readonly string[]> {
  const names = await files.readDirectory(path).catch((): readonly string[] => [])
  return [...names].sort((a, b) => (a < b ? -1 : 1))
}

export function pathIn(directory: string, ...names: readonly string[]): string {
  return join(directory, ...names)
}
