import { join, relative, sep } from 'node:path'
import { type FileProblem, type FileRoot, limits } from '../../core/index.js'

/** The file system as prompt assets need it. */
export interface AssetFiles {
  /** Names of entries; the order does not matter. Throws when there is no such directory. */
  readDirectory(path: string): Promise<readonly string[]>
  readFile(path: string): Promise<string>
  /** Bytes of a file. Absent: `readFile` reads no file over `PROMPT_FILE_BYTES_MAX`. */
  size?(path: string): Promise<number>
}

/** Why a file of prompt assets is not read, for people. */
export class AssetProblem extends Error {
  override readonly name = 'AssetProblem'
}

/** Files below a directory: links that lead out of it, pipes and devices are not read. */
export function filesBelow(root: FileRoot, directory: string): AssetFiles {
  const pathOf = (path: string) => relative(directory, path).split(sep).join('/') || '.'
  return {
    readDirectory: async (path) => {
      const listed = await root.names(pathOf(path))
      if (!listed.ok) throw new AssetProblem(problemText(listed.problem))
      return listed.names.map((name) => name.replace(/\/$/, ''))
    },
    readFile: async (path) => {
      const bytesMax = limits.PROMPT_FILE_BYTES_MAX
      const read = await root.readText(pathOf(path), { bytesMax })
      if (!read.ok) throw new AssetProblem(problemText(read.problem))
      return read.text
    }
  }
}

/** A refusal, for people. */
export function problemText(problem: FileProblem): string {
  switch (problem) {
    case 'too_many_bytes':
      return `it is over ${limits.PROMPT_FILE_BYTES_MAX} bytes`
    case 'outside_root':
      return 'it leads outside its directory'
    case 'not_regular':
      return 'it is no regular file'
    case 'credentials':
      return 'it looks like credentials'
    case 'hidden':
    case 'closed':
      return 'it leads to what is not to be read'
    default:
      return 'it cannot be read'
  }
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
