import { access, constants, readdir, readFile, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { type IdentityId, TallyError } from '../core/index.js'
import {
  connectOwner,
  inspectLocation,
  type Marker,
  mainIdentity,
  runtimeDirectoryProblems,
  unfinishedData
} from '../ledger/index.js'
import { findConfig } from './frame/config.js'
import { writerProblem } from './frame/config-owner.js'
import { DEFAULT_DIRECTORY, type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { errorDocument } from './frame/output.js'
import { table } from './frame/render.js'
import { text } from './frame/text.js'
import { type Check, checkHealth, problemOf } from './health.js'

const NODE_MAJOR_MIN = 20
const NODE_MINOR_MIN = 19
const FREE_BYTES_MIN = 256 * 1024 * 1024
const MEBIBYTE = 1024 * 1024

/** Which of several places a setting is taken from, the first one that has it. */
const precedence = [
  ['ledger', '--dir', DEFAULT_DIRECTORY],
  ['configuration', '--config', "tally.config.{ts,js,mjs,json} of the working directory's package"],
  ['passphrase', 'TALLY_PASSPHRASE', 'asked for on a terminal'],
  ['colour', 'NO_COLOR, TERM=dumb', 'on when the output is a terminal'],
  ['socket', 'XDG_RUNTIME_DIR', 'the temporary directory']
] as const

/** `tally doctor`: whether everything is in place, and where settings come from. */
export async function doctor(
  frame: Frame,
  options: { readonly config?: string }
): Promise<ExitCode> {
  const { output } = frame
  const checks = [
    checkNode(),
    await checkConfig(frame, options.config),
    ...(await checkLedger(frame, options.config)),
    await checkDisk(frame),
    checkPassphrase(frame)
  ]
  const isSound = checks.every(({ state }) => state !== 'problem')
  const settings = precedence.map(([setting, first, otherwise]) => ({ setting, first, otherwise }))
  output.document('doctor', { ok: isSound, checks, settings })
  const styles = { ok: 'green', warning: 'yellow', problem: 'red' } as const
  const rows = checks.map(({ name, state, found }) => [
    output.paint(styles[state], state),
    name,
    found
  ])
  for (const line of table(rows)) output.line(line)
  for (const { name, fix } of checks) if (fix !== undefined) output.line(text`fix ${name}: ${fix}`)
  output.line(text`settings, first match:`)
  for (const line of table(settings.map((one) => ['', one.setting, one.first, one.otherwise]))) {
    output.line(line)
  }
  return isSound ? exitCodes.done : exitCodes.failed
}

function checkNode(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const fits = major > NODE_MAJOR_MIN || (major === NODE_MAJOR_MIN && minor >= NODE_MINOR_MIN)
  const found = `Node ${process.version} on ${process.platform} ${process.arch}`
  if (fits) return { name: 'node', state: 'ok', found }
  const fix = `Install Node ${NODE_MAJOR_MIN}.${NODE_MINOR_MIN} or newer.`
  return { name: 'node', state: 'problem', found, fix }
}

// Found, not loaded: it is code, and nothing here runs blocks.
async function checkConfig(frame: Frame, given: string | undefined): Promise<Check> {
  const config = await findConfig(frame, given)
  if (config.path === undefined) {
    const fix = 'Write a tally.config.ts beside package.json, or use --config.'
    return { name: 'config', state: 'warning', found: config.reason, fix }
  }
  const { path } = config
  try {
    const problem = await writerProblem(path)
    if (problem === undefined) return { name: 'config', state: 'ok', found: path }
    return problemOf('config', new TallyError('cli.unsafe_config', { path, problem }))
  } catch {
    return { name: 'config', state: 'problem', found: `${path} is missing`, fix: 'Check it.' }
  }
}

async function checkLedger(frame: Frame, config: string | undefined): Promise<readonly Check[]> {
  try {
    const found = await inspectLocation(frame.directory)
    if (found === undefined) {
      const left = await checkUnfinished(frame.directory)
      if (left !== undefined) return [left]
      const fix = 'Create one with "tally init", or name one with --dir.'
      return [{ name: 'ledger', state: 'warning', found: `none at ${frame.directory}`, fix }]
    }
    const { realPath, marker } = found
    const { identities } = marker
    const isAlone = identities.length === 1
    const keys = identities.map((identity) =>
      checkKey(realPath, identity, isAlone ? 'key' : `key ${identity.slice(0, SHORT_LENGTH)}`)
    )
    const packages = await checkPackages(realPath)
    const checks = [await checkHolder(realPath), ...(await checkHealth(frame, config)), packages]
    const left = [await checkUnfinished(realPath), await checkUnusedKeys(realPath)]
    if (!isAlone) checks.push(identitiesOf(marker))
    return [...checks, ...left.filter((one) => one !== undefined), ...(await Promise.all(keys))]
  } catch (error) {
    return [problemOf('ledger', error)]
  }
}

/** Of several identities, which one commands speak of. */
function identitiesOf(marker: Marker): Check {
  const main = mainIdentity(marker)?.slice(0, SHORT_LENGTH) ?? 'none'
  const found = `${marker.identities.length}, and ${main} unless --identity names another`
  return { name: 'identities', state: 'ok', found }
}

/** Digits that tell an identity apart from the others of a location. */
const SHORT_LENGTH = 12

/** Mode `restoring` of a location (K10): an import that runs, or that was interrupted. */
async function checkUnfinished(directory: string): Promise<Check | undefined> {
  const left = await unfinishedData(directory)
  if (left.length === 0) return undefined
  const found = `restoring: ${left.join(', ')} is being made, or was left by who died making it`
  const fix = 'If no import is under way, run "tally import" again: it removes what is left.'
  return { name: 'import', state: 'warning', found, fix }
}

/** Stored packages. Of one that is installed and damaged the health of the ledger tells (K10). */
async function checkPackages(realPath: string): Promise<Check> {
  const { inspectPackages } = await import('../runtime/index.js')
  const { count, malformed, unusable } = await inspectPackages(realPath)
  const [bad] = malformed
  const name = 'packages'
  if (bad !== undefined) {
    const fix = 'Run "tally recover --remove-packages", and install the package again.'
    return { name, state: 'warning', found: bad.message, fix }
  }
  const [other] = unusable
  if (other !== undefined) {
    return { name, state: 'warning', found: other.message, fix: errorDocument(other).fix }
  }
  return { name, state: 'ok', found: `${count} in the content store` }
}

async function checkHolder(realPath: string): Promise<Check> {
  try {
    const owner = await connectOwner(realPath)
    owner?.close()
    const holder =
      owner === undefined ? 'no process holds it' : 'a service answers at the owner socket'
    const problems = await runtimeDirectoryProblems()
    if (problems.length === 0) return { name: 'holder', state: 'ok', found: holder }
    const found = [holder, ...problems].join('; ')
    const fix =
      'Have that directory removed, or set XDG_RUNTIME_DIR to one that only you can enter.'
    return { name: 'holder', state: 'warning', found, fix }
  } catch (error) {
    return problemOf('holder', error)
  }
}

async function checkKey(realPath: string, identity: IdentityId, name: string): Promise<Check> {
  const path = join(realPath, 'keys', `${identity}.json`)
  try {
    const { mode } = await stat(path)
    const shown = (mode & 0o777).toString(8).padStart(4, '0')
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      const fix = `Run: chmod 600 ${path}`
      return { name, state: 'problem', found: `others can read it (mode ${shown})`, fix }
    }
    const isPlain = (await readFile(path, 'utf8')).includes('"protection":"none"')
    if (!isPlain) return { name, state: 'ok', found: `sealed, mode ${shown}` }
    const fix = 'Use a ledger made without --insecure-plaintext-key for anything real.'
    return { name, state: 'warning', found: `plain text, mode ${shown}`, fix }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      const fix = 'Reading and verifying work without it; signing needs it back from a backup.'
      return { name, state: 'warning', found: `there is no key at ${path}`, fix }
    }
    return problemOf(name, error)
  }
}

/** Private keys that no receipt names: a rotation makes one, or was killed while it did. */
async function checkUnusedKeys(realPath: string): Promise<Check | undefined> {
  const directory = join(realPath, 'keys')
  const names = await readdir(directory).catch(() => [])
  const unused = names.filter((name) => unusedKeyName.test(name)).sort()
  if (unused.length === 0) return undefined
  const found = `${unused.join(', ')} in ${directory}: being made, or left by a killed rotation`
  return { name: 'unused keys', state: 'warning', found, fix: unusedKeysFix }
}

/** Files of keys that are not in force yet, and files whose writing was interrupted. */
const unusedKeyName = /^\.|\.(next|begun)\.json$/

const unusedKeysFix =
  'If no process holds the ledger, open it with its key: that removes what no receipt names. ' +
  'Beside data that "tally recover --cut" has kept the files stay; remove them with that data.'

async function checkDisk(frame: Frame): Promise<Check> {
  const name = 'disk'
  try {
    const directory = await access(frame.directory, constants.F_OK).then(
      () => frame.directory,
      () => frame.cwd
    )
    const { bavail, bsize } = await statfs(directory)
    const free = bavail * bsize
    const found = `${Math.floor(free / MEBIBYTE)} MiB free`
    if (free >= FREE_BYTES_MIN) return { name, state: 'ok', found }
    return { name, state: 'warning', found, fix: 'Make room: a full disk poisons the ledger.' }
  } catch (error) {
    return problemOf(name, error)
  }
}

function checkPassphrase(frame: Frame): Check {
  const isSet = frame.environment['TALLY_PASSPHRASE'] !== undefined
  const found = isSet ? 'TALLY_PASSPHRASE is set' : 'asked for when a sealed key is needed'
  return { name: 'passphrase', state: 'ok', found }
}
