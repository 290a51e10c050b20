import { open } from 'node:fs/promises'
import { SECRET_BYTES_MAX } from '../limits.js'

/**
 * Text of a file of at most `SECRET_BYTES_MAX` bytes; undefined when it cannot be read, or is no
 * ordinary file: a device or a pipe may have no end.
 */
export async function readSecretFile(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, 'r')
    try {
      const stat = await file.stat()
      if (!stat.isFile() || stat.size > SECRET_BYTES_MAX) return undefined
      return await file.readFile('utf8')
    } finally {
      await file.close()
    }
  } catch {
    // Which paths exist on this machine is nothing that a document or a package learns.
    return undefined
  }
}
