import { readRegularFile } from '../files/regular-file.js'
import { SECRET_BYTES_MAX } from '../limits.js'

/**
 * Text of a file of at most `SECRET_BYTES_MAX` bytes; undefined when it cannot be read, or is no
 * ordinary file: a device or a pipe may have no end. Which paths exist on this machine is nothing
 * that a document or a package learns.
 */
export async function readSecretFile(path: string): Promise<string | undefined> {
  const read = await readRegularFile(path, { bytesMax: SECRET_BYTES_MAX })
  return read.ok ? read.bytes.toString('utf8') : undefined
}
