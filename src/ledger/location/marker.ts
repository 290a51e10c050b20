/**
 * `marker.json` of a location (formats.md §6), one line of canonical JSON and a newline:
 *
 *   {"format":"tally-ledger","formatVersion":1,"identities":["<64 hex>"],"live":"data-1"}
 *
 * After an import it has `"followers":["<64 hex>"]` in front, until the identity is taken over.
 * Once there are several, it has `"main":"<64 hex>"` unless that is the first of them.
 */
import {
  canonicalize,
  type IdentityId,
  isIdentityId,
  isJsonObject,
  isTallyError,
  type Json,
  ledgerError,
  parse,
  type TallyError
} from '../../core/index.js'

export const MARKER_FORMAT = 'tally-ledger'
/** Version of the layout of a location and of everything in its store. */
export const LEDGER_FORMAT_VERSION = 1

export interface Marker {
  readonly format: typeof MARKER_FORMAT
  readonly formatVersion: typeof LEDGER_FORMAT_VERSION
  /** Name of the directory that holds the store. */
  readonly live: DataDirectory
  /** Identities that the store holds, sorted. */
  readonly identities: readonly IdentityId[]
  /** Those of them that were imported and not taken over: they are only read. Absent, or sorted. */
  readonly followers?: readonly IdentityId[]
  /**
   * The identity that the location was made with, which is opened when none is named. Absent where
   * that is the first of them: an identity that comes later changes nothing for who names none.
   */
  readonly main?: IdentityId
}

/** The identity that is opened when none is named. */
export function mainIdentity({ main, identities }: Marker): IdentityId | undefined {
  return main ?? identities[0]
}

/** `data-` and a number from 1, without leading zeros. */
export type DataDirectory = `data-${number}`

const dataDirectory = /^data-[1-9][0-9]{0,8}$/

export function isDataDirectory(name: unknown): name is DataDirectory {
  return typeof name === 'string' && dataDirectory.test(name)
}

export function encodeMarker(marker: Marker): string {
  return `${canonicalize(marker)}\n`
}

/**
 * Reads the text of a marker; `path` is for the errors.
 * Throws `ledger.malformed_marker`, or `ledger.newer_version` for a version that is not known yet.
 */
export function parseMarker(text: string, path: string): Marker {
  const malformed = (problem: string) => ledgerError('ledger.malformed_marker', { path, problem })
  const value = strictJson(text, malformed)
  if (!isJsonObject(value) || value['format'] !== MARKER_FORMAT) {
    throw malformed(`it is not of the format ${MARKER_FORMAT}`)
  }
  const version = value['formatVersion']
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1) {
    throw malformed('formatVersion is not a positive integer')
  }
  if (version > LEDGER_FORMAT_VERSION) {
    throw ledgerError('ledger.newer_version', {
      path,
      found: version,
      known: LEDGER_FORMAT_VERSION
    })
  }
  const { live, identities } = value
  if (!isDataDirectory(live)) throw malformed('live does not name a data directory')
  if (!Array.isArray(identities) || !identities.every(isIdentityId)) {
    throw malformed('identities is not a list of identity ids')
  }
  if (!isSorted(identities)) throw malformed('identities are not sorted, or one is there twice')
  const followers = followersIn(value['followers'], identities)
  if (followers === undefined) throw malformed('followers is not a list of its identities')
  const { main } = value
  if (main !== undefined && !identities.some((id) => id === main)) {
    throw malformed('main is none of its identities')
  }
  const marker = newMarker(live, { identities, followers, main: main as IdentityId | undefined })
  if (encodeMarker(marker) !== text) throw malformed('it is not written as this program writes it')
  return marker
}

/** A marker of this version. */
export function newMarker(
  live: DataDirectory,
  of: {
    readonly identities: readonly IdentityId[]
    readonly followers?: readonly IdentityId[] | undefined
    readonly main?: IdentityId | undefined
  }
): Marker {
  const { followers = [] } = of
  const identities = [...new Set(of.identities)].sort()
  const main = identities.slice(1).find((identity) => identity === of.main)
  return {
    format: MARKER_FORMAT,
    formatVersion: LEDGER_FORMAT_VERSION,
    live,
    identities,
    ...(followers.length === 0 ? {} : { followers: [...new Set(followers)].sort() }),
    ...(main === undefined ? {} : { main })
  }
}

function followersIn(
  value: Json | undefined,
  identities: readonly IdentityId[]
): readonly IdentityId[] | undefined {
  if (value === undefined) return []
  if (!Array.isArray(value) || value.length === 0 || !value.every(isIdentityId)) return undefined
  const known = new Set(identities)
  return isSorted(value) && value.every((id) => known.has(id)) ? value : undefined
}

function isSorted(identities: readonly IdentityId[]): boolean {
  return identities.every((id, at) => at === 0 || id > (identities[at - 1] ?? ''))
}

function strictJson(text: string, malformed: (problem: string) => TallyError): unknown {
  try {
    return parse(text)
  } catch (error) {
    if (isTallyError(error, 'core.malformed_json'))
      throw malformed(error.context.problem.toString())
    throw error
  }
}
