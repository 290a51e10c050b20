import { access, constants, readdir, readFile, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { type IdentityId, isTallyError } from '../../core/index.js'
import { inspectLocation, type Marker, mainIdentity, unfinishedData } from '../../ledger/index.js'
import { connectOwner, runtimeDirectoryProblems } from '../../owner/index.js'
import { inspectPackages } from '../opening/package-bytes.js'
import type { HealthCheck } from './query-types.js'

/**
 * Whether everything is in place around a ledger: what the command line and the service check
 * alike.
 */

const NODE_MAJOR_MIN = 20
const NODE_MINOR_MIN = 19
const FREE_BYTES_MIN = 256 * 1024 * 1024
const MEBIBYTE = 1024 * 1024
const GIBIBYTE = 1024 * MEBIBYTE

/** The files of a location, with how its ledger is, as `health` says. */
export async function checkPlace(
  directory: string,
  {
    health,
    isHeldHere = false
  }: {
    readonly health: () => Promise<readonly HealthCheck[]>
    /** This process has it open. */
    readonly isHeldHere?: boolean
  }
): Promise<readonly HealthCheck[]> {
  try {
    const found = await inspectLocation(directory)
    if (found === undefined) {
      const left = await checkUnfinished(directory)
      if (left !== undefined) return [left]
      const fix = 'Create one with "tally init", or name one with --dir.'
      return [{ name: 'ledger', status: 'warning', message: `none at ${directory}`, fix }]
    }
    const { realPath, marker } = found
    const { identities } = marker
    const isAlone = identities.length === 1
    const keys = identities.map((identity) =>
      checkKey(realPath, identity, isAlone ? 'key' : `key ${identity.slice(0, SHORT_LENGTH)}`)
    )
    const packages = await checkPackages(realPath)
    const checks = [await checkHolder(realPath, isHeldHere), ...(await health()), packages]
    const left = [await checkUnfinished(realPath), await checkUnusedKeys(realPath)]
    if (!isAlone) checks.push(identitiesOf(marker))
    return [...checks, ...left.filter((one) => one !== undefined), ...(await Promise.all(keys))]
  } catch (error) {
    return [problemOf('ledger', error)]
  }
}

/** What a check that threw found. */
export function problemOf(name: string, error: unknown): HealthCheck {
  const message = error instanceof Error ? error.message : String(error)
  const fix = isTallyError(error) ? error.fix : null
  const status = isTallyError(error, 'ledger.locked') ? 'warning' : 'failed'
  return { name, status, message, fix }
}

export function checkNode(): HealthCheck {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const fits = major > NODE_MAJOR_MIN || (major === NODE_MAJOR_MIN && minor >= NODE_MINOR_MIN)
  const found = `Node ${process.version} on ${process.platform} ${process.arch}`
  if (fits) return { name: 'node', status: 'ok', message: found, fix: null }
  const fix = `Install Node ${NODE_MAJOR_MIN}.${NODE_MINOR_MIN} or newer.`
  return { name: 'node', status: 'failed', message: found, fix }
}

/** Of several identities, which one commands speak of. */
function identitiesOf(marker: Marker): HealthCheck {
  const main = mainIdentity(marker)?.slice(0, SHORT_LENGTH) ?? 'none'
  const found = `${marker.identities.length}, and ${main} unless --identity names another`
  return { name: 'identities', status: 'ok', message: found, fix: null }
}

/** Digits that tell an identity apart from the others of a location. */
const SHORT_LENGTH = 12

/** Mode `restoring` of a location (K10): an import that runs, or that was interrupted. */
async function checkUnfinished(directory: string): Promise<HealthCheck | undefined> {
  const left = await unfinishedData(directory)
  if (left.length === 0) return undefined
  const found = `restoring: ${left.join(', ')} is being made, or was left by who died making it`
  const fix = 'If no import is under way, run "tally import" again: it removes what is left.'
  return { name: 'import', status: 'warning', message: found, fix }
}

/** Stored packages. Of one that is installed and damaged the health of the ledger tells (K10). */
async function checkPackages(realPath: string): Promise<HealthCheck> {
  const { count, malformed, unusable } = await inspectPackages(realPath)
  const [bad] = malformed
  const name = 'packages'
  if (bad !== undefined) {
    const fix = 'Run "tally recover --remove-packages", and install the package again.'
    return { name, status: 'warning', message: bad.message, fix }
  }
  const [other] = unusable
  if (other !== undefined) {
    return { name, status: 'warning', message: other.message, fix: other.fix }
  }
  return { name, status: 'ok', message: `${count} in the content store`, fix: null }
}

async function checkHolder(realPath: string, isHere: boolean): Promise<HealthCheck> {
  try {
    const holder = isHere ? 'this process holds it' : await holderOf(realPath)
    const problems = await runtimeDirectoryProblems()
    if (problems.length === 0) return { name: 'holder', status: 'ok', message: holder, fix: null }
    const found = [holder, ...problems].join('; ')
    const fix =
      'Have that directory removed, or set XDG_RUNTIME_DIR to one that only you can enter.'
    return { name: 'holder', status: 'warning', message: found, fix }
  } catch (error) {
    return problemOf('holder', error)
  }
}

async function holderOf(realPath: string): Promise<string> {
  const owner = await connectOwner(realPath)
  owner?.close()
  return owner === undefined ? 'no process holds it' : 'a service answers at the owner socket'
}

async function checkKey(
  realPath: string,
  identity: IdentityId,
  name: string
): Promise<HealthCheck> {
  const path = join(realPath, 'keys', `${identity}.json`)
  try {
    const { mode } = await stat(path)
    const shown = (mode & 0o777).toString(8).padStart(4, '0')
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      const fix = `Run: chmod 600 ${path}`
      return { name, status: 'failed', message: `others can read it (mode ${shown})`, fix }
    }
    const isPlain = (await readFile(path, 'utf8')).includes('"protection":"none"')
    if (!isPlain) return { name, status: 'ok', message: `sealed, mode ${shown}`, fix: null }
    const fix = 'Use a ledger made without --insecure-plaintext-key for anything real.'
    return { name, status: 'warning', message: `plain text, mode ${shown}`, fix }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      const fix = 'Reading and verifying work without it; signing needs it back from a backup.'
      return { name, status: 'warning', message: `there is no key at ${path}`, fix }
    }
    return problemOf(name, error)
  }
}

/** Private keys that no receipt names: a rotation makes one, or was killed while it did. */
async function checkUnusedKeys(realPath: string): Promise<HealthCheck | undefined> {
  const directory = join(realPath, 'keys')
  const names = await readdir(directory).catch(() => [])
  const unused = names.filter((name) => unusedKeyName.test(name)).sort()
  if (unused.length === 0) return undefined
  const found = `${unused.join(', ')} in ${directory}: being made, or left by a killed rotation`
  return { name: 'unused keys', status: 'warning', message: found, fix: unusedKeysFix }
}

/** Files of keys that are not in force yet, and files whose writing was interrupted. */
const unusedKeyName = /^\.|\.(next|begun)\.json$/

const unusedKeysFix =
  'If no process holds the ledger, open it with its key: that removes what no receipt names. ' +
  'Beside data that "tally recover --cut" has kept the files stay; remove them with that data.'

export async function checkDisk(place: string, otherwise: string): Promise<HealthCheck> {
  const name = 'disk'
  try {
    const directory = await access(place, constants.F_OK).then(
      () => place,
      () => otherwise
    )
    const { bavail, bsize } = await statfs(directory)
    const free = bavail * bsize
    const found = `${shownBytes(free)} free`
    if (free >= FREE_BYTES_MIN) return { name, status: 'ok', message: found, fix: null }
    return {
      name,
      status: 'warning',
      message: found,
      fix: 'Make room: a full disk poisons the ledger.'
    }
  } catch (error) {
    return problemOf(name, error)
  }
}

function shownBytes(bytes: number): string {
  const isLarge = bytes >= 10 * GIBIBYTE
  return isLarge ? `${Math.floor(bytes / GIBIBYTE)} GiB` : `${Math.floor(bytes / MEBIBYTE)} MiB`
}
