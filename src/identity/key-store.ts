import { constants } from 'node:fs'
import { type FileHandle, link, open, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { identityError, limits, type Random, systemRandom, type TallyError } from '../core/index.js'
import { hasCode, syncDirectory } from './files.js'
import { IdentityKeys } from './identity-keys.js'
import {
  encodeKeyFile,
  type KeyFile,
  openSealed,
  parseKeyFile,
  plainKeys,
  sealKeys
} from './key-file.js'

/**
 * Key files on disk (reliability: key theft at rest).
 *
 * Owns: the bytes of one key file at a time. Does not own: where key files lie, which of them is in
 * force, where a passphrase comes from (the command line reads TALLY_PASSPHRASE).
 *
 * Invariants:
 * - I5 A key file appears whole or not at all, and its content never changes.
 * - I6 A key file that another user could read is not used.
 * - I7 No error, message or cause carries a seed, a blob key or a passphrase.
 */

const PRIVATE_MODE = 0o600
const OTHERS_MASK = 0o077

export type CreateKeyFile = {
  readonly path: string
  readonly keys: IdentityKeys
  readonly random?: Random
} & ({ readonly passphrase: string } | { readonly insecurePlaintext: true })

export interface LoadKeyFile {
  readonly path: string
  /** Needed unless the file is of the plain-text kind. */
  readonly passphrase?: string | undefined
}

/**
 * Writes a key file (mode 0600, synced, its directory too). The directory must exist.
 * @throws `identity.passphrase_missing` for an empty passphrase, `identity.key_file_exists`.
 */
export async function createKeyFile(options: CreateKeyFile): Promise<void> {
  const { path, keys, random = systemRandom } = options
  const file = await protect(options, keys, random)
  const temporary = join(dirname(path), `.${basename(path)}.${random.uuid()}`)
  try {
    await writeSynced(temporary, encodeKeyFile(file))
    // A hard link is atomic and, unlike a rename, fails when the name is taken.
    await link(temporary, path)
  } catch (error) {
    throw hasCode(error, 'EEXIST') ? identityError('identity.key_file_exists', { path }) : error
  } finally {
    await rm(temporary, { force: true })
  }
  await syncDirectory(dirname(path))
}

/**
 * Reads a key file and checks that the seed in it belongs to its public key.
 * @throws `identity.key_file_missing`, `identity.key_file_permissions`,
 * `identity.malformed_key_file`, `identity.passphrase_missing`, `identity.wrong_passphrase`.
 */
export async function loadKeyFile({ path, passphrase }: LoadKeyFile): Promise<IdentityKeys> {
  const file = await readKeyFile(path)
  const secret = await unprotect(file, path, passphrase)
  const keys = new IdentityKeys({
    identity: file.identity,
    seed: secret.subarray(0, 32),
    blobKey: secret.subarray(32)
  })
  secret.fill(0)
  if (keys.publicKey !== file.publicKey) {
    throw malformed(path, 'its seed does not belong to its public key')
  }
  return keys
}

/** What a key file says without its secret; throws as {@link loadKeyFile} does. */
export async function readKeyFile(path: string): Promise<KeyFile> {
  const file = parseKeyFile(await readPrivate(path))
  if (file === undefined) throw malformed(path, 'it is not a key file of format tally-key/1')
  return file
}

async function protect(
  options: CreateKeyFile,
  keys: IdentityKeys,
  random: Random
): Promise<KeyFile> {
  if ('insecurePlaintext' in options) return plainKeys(keys)
  if (options.passphrase === '') {
    throw identityError('identity.passphrase_missing', { path: options.path })
  }
  return sealKeys(keys, options.passphrase, random)
}

async function unprotect(
  file: KeyFile,
  path: string,
  passphrase: string | undefined
): Promise<Uint8Array> {
  if (file.protection === 'none') return Buffer.from(file.secret, 'hex')
  if (passphrase === undefined || passphrase === '') {
    throw identityError('identity.passphrase_missing', { path })
  }
  const secret = await openSealed(file, passphrase)
  if (secret === undefined) throw identityError('identity.wrong_passphrase', { path })
  return secret
}

async function readPrivate(path: string): Promise<string> {
  const handle = await openExisting(path)
  try {
    const status = await handle.stat()
    if (!status.isFile()) throw malformed(path, 'it is not a regular file')
    if (process.platform !== 'win32' && (status.mode & OTHERS_MASK) !== 0) {
      const mode = (status.mode & 0o777).toString(8).padStart(4, '0')
      throw identityError('identity.key_file_permissions', { path, mode })
    }
    if (status.size > limits.KEY_FILE_BYTES_MAX) throw malformed(path, 'it is too large')
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}

async function openExisting(path: string): Promise<FileHandle> {
  try {
    // Without O_NONBLOCK a named pipe in place of the file would hang here.
    return await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) throw identityError('identity.key_file_missing', { path })
    throw error
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  const handle = await open(path, 'wx', PRIVATE_MODE)
  try {
    await handle.chmod(PRIVATE_MODE)
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function malformed(path: string, problem: string): TallyError {
  return identityError('identity.malformed_key_file', { path, problem })
}
