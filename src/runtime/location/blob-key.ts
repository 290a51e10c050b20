import { join } from 'node:path'
import { type IdentityId, isError, isTallyError } from '../../core/index.js'

/**
 * The blob key of an identity, for tools that only read. Undefined where its key file is missing,
 * cannot be read or is another identity's, or is sealed and the passphrase does not open it.
 */
export async function blobKeyOf(
  realPath: string,
  identity: IdentityId,
  passphrase: string | undefined
): Promise<Uint8Array | undefined> {
  const { KeyFiles } = await import('../../identity/index.js')
  try {
    const files = new KeyFiles({ directory: join(realPath, 'keys'), identity, passphrase })
    const keys = await files.load()
    return keys.identity === identity ? keys.blobKey : undefined
  } catch (error) {
    if (isTallyError(error) || isClosed(error)) return undefined
    throw error
  }
}

/** The file is another user's. */
function isClosed(error: unknown): boolean {
  const { code } = isError(error) ? (error as NodeJS.ErrnoException) : {}
  return code === 'EACCES' || code === 'EPERM'
}
