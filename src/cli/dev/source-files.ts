import { readdir, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { limits } from '../../core/index.js'

const extensions = new Set(['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json'])

/**
 * How the modules of a project stand: another text whenever one has come, gone or changed. They are
 * the files of code in the directory of the configuration and below, without dependencies and
 * hidden ones: the configuration may import any of them.
 */
export async function sourceMark(directory: string): Promise<string> {
  const marks: string[] = []
  const directories = [directory]
  for (let next = directories.shift(); next !== undefined; next = directories.shift()) {
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      const { name } = entry
      if (name === 'node_modules' || name.startsWith('.')) continue
      const path = join(next, name)
      if (entry.isDirectory()) directories.push(path)
      if (!entry.isFile() || !extensions.has(extname(name))) continue
      const found = await stat(path, { bigint: true }).catch(() => undefined)
      if (found !== undefined) marks.push(`${path} ${found.ino} ${found.size} ${found.mtimeNs}`)
    }
    if (marks.length + directories.length > limits.DEV_FILES_MAX) break
  }
  return marks.sort().join('\n')
}
