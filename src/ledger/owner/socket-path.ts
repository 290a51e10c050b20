import { lstat, mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { limits, sha256Hex, TallyError } from '../../core/index.js'
import { errorNumber } from '../location/durable-file.js'
import { namedSocket } from './owner-file.js'

/** Where the private runtime directories are taken from. */
export interface RuntimeEnvironment {
  /** `$XDG_RUNTIME_DIR`, when there is one. */
  readonly runtimeDirectory?: string | undefined
  readonly temporaryDirectory: string
  readonly userId: number
}

export function systemEnvironment(): RuntimeEnvironment {
  return {
    runtimeDirectory: process.env['XDG_RUNTIME_DIR'],
    temporaryDirectory: tmpdir(),
    userId: currentUser()
  }
}

function currentUser(): number {
  return process.getuid?.() ?? -1
}

/** A place where the owner of a ledger may listen. */
export interface SocketAddress {
  readonly directory: string
  readonly path: string
}

/**
 * The places where the owner of the location may listen, the preferred one first. An owner without
 * `XDG_RUNTIME_DIR` listens in the temporary directory, so a client looks at both.
 */
export function socketAddresses(
  realPath: string,
  environment: RuntimeEnvironment
): readonly SocketAddress[] {
  const { runtimeDirectory, temporaryDirectory, userId } = environment
  const name = `tally-${sha256Hex(realPath).slice(0, 16)}.sock`
  const directories = [join(temporaryDirectory, `tallystick-${userId}`)]
  if (runtimeDirectory) directories.unshift(join(runtimeDirectory, 'tallystick'))
  return directories.map((directory) => ({ directory, path: join(directory, name) }))
}

/**
 * {@link socketAddresses}, and the one that the owner file names: an owner with another
 * `XDG_RUNTIME_DIR` than ours is found by it. The name must be that of this location, so that a
 * location that someone made leads to no other socket.
 */
export async function ownerAddresses(
  realPath: string,
  environment: RuntimeEnvironment
): Promise<readonly SocketAddress[]> {
  const places = socketAddresses(realPath, environment)
  const named = await namedSocket(realPath)
  if (named === undefined || places.some(({ path }) => path === named)) return places
  if (!isAbsolute(named) || !places.some(({ path }) => basename(path) === basename(named))) {
    return places
  }
  return [...places, { directory: dirname(named), path: named }]
}

/**
 * Chooses the first place whose parent directory is there, and makes its directory private.
 * Throws `owner.unsafe_directory`, `owner.path_too_long`.
 */
export async function prepareSocketAddress(
  places: readonly SocketAddress[]
): Promise<SocketAddress> {
  let refusal: unknown
  for (const place of places) {
    const actual = Buffer.byteLength(place.path)
    if (actual > limits.SOCKET_PATH_BYTES_MAX) {
      const limit = limits.SOCKET_PATH_BYTES_MAX
      refusal ??= new TallyError('owner.path_too_long', { path: place.path, actual, limit })
      continue
    }
    try {
      await mkdir(place.directory, { mode: 0o700 })
      return place
    } catch (error) {
      if (errorNumber(error) === 'EEXIST') {
        await checkPrivate(place.directory)
        return place
      }
      const { directory: path } = place
      const problem = `it cannot be made (${errorNumber(error)})`
      refusal ??= new TallyError('owner.unsafe_directory', { path, problem }, { cause: error })
    }
  }
  throw refusal
}

/** Throws `owner.unsafe_directory` unless only this user can enter the directory. */
export async function checkPrivate(path: string): Promise<void> {
  const unsafe = (problem: string) => new TallyError('owner.unsafe_directory', { path, problem })
  const status = await lstat(path)
  if (!status.isDirectory()) throw unsafe('it is not a directory')
  if (status.uid !== currentUser()) throw unsafe('it belongs to another user')
  if ((status.mode & 0o077) !== 0) throw unsafe('other users can enter it')
}

/** Whether a process listens at a socket path. A socket file without a process refuses. */
export function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (error) => {
      const kind = errorNumber(error)
      resolve(kind !== 'ENOENT' && kind !== 'ECONNREFUSED' && kind !== 'ENOTDIR')
    })
  })
}

/**
 * Whether a process owns the location, by its socket. Asked before LevelDB is: a refused open in
 * another thread of the owner's process would give up the owner's lock.
 */
export async function hasOwner(
  realPath: string,
  environment: RuntimeEnvironment = systemEnvironment()
): Promise<boolean> {
  for (const { path } of await ownerAddresses(realPath, environment)) {
    if (Buffer.byteLength(path) > limits.SOCKET_PATH_BYTES_MAX) continue
    if (await isListening(path)) return true
  }
  return false
}
