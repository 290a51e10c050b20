/**
 * Names with versions (semantics.md B10). A reference is `pay`, or `pay@1.0.0` for exactly that
 * version; a version is any text, and those that follow semantic versioning 2.0.0 have an order.
 */
export interface VersionedName {
  readonly name: string
  /** Undefined: whichever version the name leads to. */
  readonly version: string | undefined
}

/** Splits `name@version` at its first `@`; names have none. */
export function versionedName(reference: string): VersionedName {
  const at = reference.indexOf('@')
  if (at < 0) return { name: reference, version: undefined }
  return { name: reference.slice(0, at), version: reference.slice(at + 1) }
}

/** `name@version`, or the name alone for what has no version. */
export function referenceTo(name: string, version: string | undefined): string {
  return version === undefined ? name : `${name}@${version}`
}

interface SemanticVersion {
  /** Digits of major, minor and patch: they may be larger than a number holds. */
  readonly core: readonly [string, string, string]
  readonly isPrerelease: boolean
}

const number = '0|[1-9][0-9]*'
const prerelease = `(?:${number}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)`
const pattern = new RegExp(
  `^(${number})\\.(${number})\\.(${number})` +
    `(-${prerelease}(?:\\.${prerelease})*)?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`
)

function semanticVersion(text: string): SemanticVersion | undefined {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [, major = '', minor = '', patch = '', before] = match
  return { core: [major, minor, patch], isPrerelease: before !== undefined }
}

/** Whether a version follows semantic versioning 2.0.0 and is no prerelease. */
export function isRelease(version: string): boolean {
  return semanticVersion(version)?.isPrerelease === false
}

/**
 * The highest release among versions, by the precedence of semantic versioning 2.0.0. Builds of one
 * release have the same precedence there: of those, the text that sorts last. Undefined where
 * nothing is a release.
 */
export function highestRelease(versions: Iterable<string>): string | undefined {
  let highest: string | undefined
  for (const version of versions) {
    if (!isRelease(version)) continue
    if (highest === undefined || compareReleases(version, highest) > 0) highest = version
  }
  return highest
}

function compareReleases(one: string, other: string): number {
  const [left, right] = [semanticVersion(one), semanticVersion(other)]
  for (const place of [0, 1, 2] as const) {
    const order = compareDigits(left?.core[place] ?? '', right?.core[place] ?? '')
    if (order !== 0) return order
  }
  return compareTexts(one, other)
}

// Without leading zeros the longer number is the larger one.
function compareDigits(one: string, other: string): number {
  return one.length === other.length ? compareTexts(one, other) : one.length - other.length
}

function compareTexts(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** What a reference leads to. */
export interface Versioned<Value> {
  readonly name: string
  /** Undefined for what was registered without one. */
  readonly version: string | undefined
  readonly value: Value
}

/**
 * Things by name and version, several versions of a name side by side.
 *
 * A name alone leads to what was registered under it without a version, to the only version that
 * there is, or to the highest release. Everything else is found by its exact version alone.
 */
export class VersionTable<Value> {
  readonly #names = new Map<string, Map<string | undefined, Versioned<Value>>>()
  /** What names alone lead to; a table that is read for every step is changed hardly ever. */
  readonly #chosen = new Map<string, Versioned<Value>>()

  /** False when that version is there already. */
  add(name: string, version: string | undefined, value: Value): boolean {
    const versions = this.#names.get(name) ?? new Map<string | undefined, Versioned<Value>>()
    if (versions.has(version)) return false
    versions.set(version, { name, version, value })
    this.#names.set(name, versions)
    this.#chosen.delete(name)
    return true
  }

  exact(name: string, version: string | undefined): Versioned<Value> | undefined {
    return this.#names.get(name)?.get(version)
  }

  resolve(reference: string): Versioned<Value> | undefined {
    const known = this.#chosen.get(reference)
    if (known !== undefined) return known
    const { name, version } = versionedName(reference)
    if (version !== undefined) return this.exact(name, version)
    const chosen = this.#choose(name)
    if (chosen !== undefined) this.#chosen.set(name, chosen)
    return chosen
  }

  #choose(name: string): Versioned<Value> | undefined {
    const versions = this.#names.get(name)
    if (versions === undefined) return undefined
    const unversioned = versions.get(undefined)
    if (unversioned !== undefined) return unversioned
    const [only, ...others] = versions.values()
    if (others.length === 0) return only
    const texts = [...versions.keys()].filter((version) => version !== undefined)
    const highest = highestRelease(texts)
    return highest === undefined ? undefined : versions.get(highest)
  }

  /** Versions of a name, in the order in which they were added. */
  versions(name: string): readonly (string | undefined)[] {
    return [...(this.#names.get(name)?.keys() ?? [])]
  }

  *values(): Generator<Value> {
    for (const versions of this.#names.values()) {
      for (const { value } of versions.values()) yield value
    }
  }
}
