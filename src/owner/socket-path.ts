import { lstat, mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { errorNumber, ledgerError, limits, sha256Hex, type TallyError } from '../core/index.js'
import { namedSocket } from './holder.js'

/** Where the private runtime directories are taken from. */
export interface RuntimeEnvironment {
  /** `$XDG_RUNTIME_DIR`, when there is one. */
  readonly runtimeDirectory?: string | undefined
  readonly temporaryDirectory: string
  /** For where another user has made the directory in the temporary one. */
  readonly homeDirectory?: string
  readonly userId: number
  /** On Windows, where pipes take the place of sockets: what their names begin with. */
  readonly pipes?: string | undefined
}

export function systemEnvironment(): RuntimeEnvironment {
  return {
    runtimeDirectory: process.env['XDG_RUNTIME_DIR'],
    temporaryDirectory: tmpdir(),
    homeDirectory: homedir(),
    userId: currentUser(),
    pipes: process.platform === 'win32' ? '\\\\.\\pipe\\' : undefined
  }
}

function currentUser(): number {
  return process.getuid?.() ?? -1
}

/**
 * What this process was started as, for people: its script and, of a command line, the command.
 * Without further arguments, which may be secrets.
 */
export function processCommand(): string {
  const [program = '', script = '', word = ''] = process.argv
  const words = [basename(program), script, /^[a-z][a-z-]*$/.test(word) ? word : '']
  return words
    .filter((one) => one !== '')
    .join(' ')
    .replace(/\p{C}/gu, ' ')
    .slice(0, limits.OWNER_COMMAND_LENGTH_MAX)
}

/** A place where the owner of a ledger may listen. */
export interface SocketAddress {
  /** It has to be private; undefined for a pipe, whose name stands in none. */
  readonly directory: string | undefined
  readonly path: string
}

/** The place that was chosen, and what is wrong with those before it, for people. */
export interface PreparedAddress extends SocketAddress {
  readonly passedOver: readonly string[]
}

/**
 * The places where the owner of the location may listen, the preferred one first. An owner without
 * `XDG_RUNTIME_DIR` listens in the temporary directory, and in that of its user where another user
 * has been there first, so a client looks at all of them. On Windows it is one named pipe.
 */
export function socketAddresses(
  realPath: string,
  environment: RuntimeEnvironment
): readonly SocketAddress[] {
  const { runtimeDirectory, temporaryDirectory, homeDirectory, userId, pipes } = environment
  const place = `tally-${sha256Hex(realPath).slice(0, 16)}`
  if (pipes !== undefined) return [{ directory: undefined, path: `${pipes}${place}` }]
  const name = `${place}.sock`
  const directories = [join(temporaryDirectory, `tallystick-${userId}`)]
  if (runtimeDirectory) directories.unshift(join(runtimeDirectory, 'tallystick'))
  if (homeDirectory) directories.push(join(homeDirectory, '.tallystick'))
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
  if (environment.pipes !== undefined) return places
  const named = await namedSocket(realPath)
  if (named === undefined || places.some(({ path }) => path === named)) return places
  if (!isAbsolute(named) || !places.some(({ path }) => basename(path) === basename(named))) {
    return places
  }
  return [...places, { directory: dirname(named), path: named }]
}

/**
 * Chooses the first place that is private or can be made so: a directory of another user keeps this
 * one from nothing. Throws `owner.unsafe_directory` with what was found at each, and
 * `owner.path_too_long` where every path is.
 */
export async function prepareSocketAddress(
  places: readonly SocketAddress[],
  { userId }: Pick<RuntimeEnvironment, 'userId'>
): Promise<PreparedAddress> {
  const passedOver: string[] = []
  const refused: { readonly path: string; readonly problem: string }[] = []
  let tooLong: TallyError | undefined
  for (const place of places) {
    const { directory, path } = place
    const actual = Buffer.byteLength(path)
    if (actual > limits.SOCKET_PATH_BYTES_MAX) {
      const limit = limits.SOCKET_PATH_BYTES_MAX
      tooLong ??= ledgerError('owner.path_too_long', { path, actual, limit })
      continue
    }
    if (directory === undefined) return { ...place, passedOver }
    const problem = await problemOfMaking(directory, userId)
    if (problem === undefined) return { ...place, passedOver }
    refused.push({ path: directory, problem })
    passedOver.push(`the runtime directory ${directory} is not used: ${problem}`)
  }
  const [first, ...others] = refused
  if (first === undefined) throw tooLong
  const more = others.map(({ path, problem }) => `; ${path}: ${problem}`).join('')
  const { path, problem } = first
  throw ledgerError('owner.unsafe_directory', { path, problem: problem + more })
}

async function problemOfMaking(directory: string, userId: number): Promise<string | undefined> {
  try {
    await mkdir(directory, { mode: PRIVATE_MODE })
    return undefined
  } catch (error) {
    if (errorNumber(error) === 'EEXIST') return unsafety(directory, userId)
    return `it cannot be made (${errorNumber(error)})`
  }
}

const PRIVATE_MODE = 0o700
const OTHERS_MASK = 0o077

/** What is wrong with a directory, unless only this user can enter it; for people. */
export async function unsafety(path: string, userId: number): Promise<string | undefined> {
  try {
    const status = await lstat(path)
    const mode = `mode ${(status.mode & 0o7777).toString(8).padStart(4, '0')}`
    if (status.uid !== userId) return `it belongs to user ${status.uid} (${mode})`
    if (!status.isDirectory()) return 'it is not a directory'
    if ((status.mode & OTHERS_MASK) !== 0) return `other users can enter it (${mode})`
    return undefined
  } catch (error) {
    return `it cannot be looked at (${errorNumber(error)})`
  }
}

/** What keeps an owner of this user from its runtime directories, for people. */
export async function runtimeDirectoryProblems(
  environment: RuntimeEnvironment = systemEnvironment()
): Promise<readonly string[]> {
  const found: string[] = []
  for (const { directory } of socketAddresses('', environment)) {
    if (directory === undefined) continue
    const isThere = await lstat(directory).then(
      () => true,
      () => false
    )
    const problem = isThere ? await unsafety(directory, environment.userId) : undefined
    if (problem !== undefined) found.push(`${directory} is not used: ${problem}`)
  }
  return found
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
 * another thread of the owner's process would give up the owner's lock. Only directories are looked
 * into that an owner would listen in: what another user put elsewhere is no owner.
 */
export async function hasOwner(
  realPath: string,
  environment: RuntimeEnvironment = systemEnvironment()
): Promise<boolean> {
  for (const address of await ownerAddresses(realPath, environment)) {
    if ((await mayHaveOwner(address, environment)) && (await isListening(address.path))) return true
  }
  return false
}

/**
 * Whether an owner of this user may listen there: nobody else can enter its directory, or it is a
 * pipe, of which that cannot be told.
 */
export async function mayHaveOwner(
  { directory, path }: SocketAddress,
  { userId }: Pick<RuntimeEnvironment, 'userId'>
): Promise<boolean> {
  if (Buffer.byteLength(path) > limits.SOCKET_PATH_BYTES_MAX) return false
  return directory === undefined || (await unsafety(directory, userId)) === undefined
}
