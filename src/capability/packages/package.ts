import {
  atOnce,
  canonicalize,
  canonicalizing,
  capabilityError,
  type Hash,
  hashingOwn,
  isJsonObject,
  isTallyError,
  type Json,
  type Pieces,
  reading,
  sha256Hex,
  shownText
} from '../../core/index.js'
import { type Manifest, parsingManifest } from '../manifest/manifest.js'
import {
  ABI_VERSION,
  ABI_VERSIONS,
  type AbiVersion,
  ENGINE_WASM_SHA256,
  isAbiVersion
} from '../sandbox/abi.js'

/** A package as it runs: these very texts were hashed (semantics.md K8). */
export interface CapabilityPackage {
  readonly manifest: Manifest
  /** One ES module without imports that exports `run(intent, api)`. */
  readonly bundle: string
  /** Interface that it was packed for; it keeps that one. */
  readonly abi: AbiVersion
  /** sha256(JCS({abi, bundleSha256, engine, manifest})). */
  readonly codeHash: Hash
}

/** What a package is made of. */
export interface PackageParts {
  readonly manifest: Manifest
  readonly bundle: string
  /** {@link ABI_VERSION} where absent. */
  readonly abi?: AbiVersion
}

/** Measures a manifest and a module. */
export function makePackage({
  manifest,
  bundle,
  abi = ABI_VERSION
}: PackageParts): CapabilityPackage {
  return atOnce(making({ manifest, bundle, abi }))
}

function* making({ manifest, bundle, abi }: Required<PackageParts>): Pieces<CapabilityPackage> {
  return { manifest, bundle, abi, codeHash: yield* hashingParts({ abi, bundle, manifest }) }
}

/**
 * The same manifest and module with the interface under which they have a code hash; undefined
 * where there is none: that is other code.
 */
export function withInterfaceOf(
  { manifest, bundle }: PackageParts,
  codeHash: Hash | undefined
): CapabilityPackage | undefined {
  const abi = ABI_VERSIONS.find((one) => codeHashOf({ manifest, bundle, abi: one }) === codeHash)
  return abi && makePackage({ manifest, bundle, abi })
}

/**
 * What a package is addressed by: other code, another manifest, another interface or another engine
 * is another package, which needs its own grants (K5).
 */
export function codeHashOf({ manifest, bundle, abi = ABI_VERSION }: PackageParts): Hash {
  return atOnce(hashingParts({ abi, bundle, manifest }))
}

function hashingParts(stored: {
  readonly abi: Json
  readonly bundle: string
  readonly engine?: Json
  readonly manifest: Manifest | Json
}): Pieces<Hash> {
  const { abi, bundle, engine = ENGINE_WASM_SHA256, manifest } = stored
  return hashingOwn({ abi, bundleSha256: sha256Hex(bundle), engine, manifest })
}

/**
 * Canonical JSON of a package as it is stored:
 *
 * ```
 * {"abi":"tally-abi/2","bundle":"export ...","engine":"105c..","manifest":{..}}
 * ```
 */
export function encodePackage({ manifest, bundle, abi }: CapabilityPackage): string {
  return canonicalize({ abi, bundle, engine: ENGINE_WASM_SHA256, manifest })
}

/**
 * Reads a stored package and measures it again. Throws `capability.malformed_package` when it is
 * not canonical or does not hash to its name, and `capability.other_interface` when it does and was
 * made for an unknown interface or engine: such a package is whole, and cannot run here.
 */
export function parsePackage(
  text: string,
  codeHash: Hash,
  options: PackageOptions = {}
): CapabilityPackage {
  return atOnce(parsingPackage(text, codeHash, options))
}

interface PackageOptions {
  readonly known?: ReadonlySet<string>
}

/** {@link parsePackage} in pieces: other work may be done wherever it yields. */
export function* parsingPackage(
  text: string,
  codeHash: Hash,
  options: PackageOptions = {}
): Pieces<CapabilityPackage> {
  return yield* checking({ stored: yield* readingJson(text), text, codeHash }, options)
}

/** A package's text, as a value too, and what it is to hash to. */
interface StoredText {
  readonly text: string
  readonly stored: Json | undefined
  readonly codeHash: Hash
}

function* checking(
  { text, stored, codeHash }: StoredText,
  options: PackageOptions
): Pieces<CapabilityPackage> {
  const refuse = (problem: string) =>
    capabilityError('capability.malformed_package', { codeHash, problem })
  if (!isJsonObject(stored) || (yield* canonicalizing(stored)) !== text) {
    throw refuse('it is not canonical JSON')
  }
  const { abi, bundle, engine, manifest = null } = stored
  if (Object.keys(stored).length !== 4 || typeof bundle !== 'string') {
    throw refuse('its members are not those of a package')
  }
  if (!isAbiVersion(abi) || engine !== ENGINE_WASM_SHA256) {
    const parts = { abi: abi ?? null, bundle, engine: engine ?? null, manifest }
    if ((yield* hashingParts(parts)) !== codeHash) {
      throw refuse('its content does not hash to its name')
    }
    const theirs = interfaceText(abi, engine)
    const ours = interfaceText(ABI_VERSION, ENGINE_WASM_SHA256)
    throw capabilityError('capability.other_interface', { codeHash, theirs, ours })
  }
  const parsed = yield* parsingManifest(manifest, options)
  if (!parsed.ok) throw refuse(parsed.refusals[0]?.message ?? 'its manifest is refused')
  const measured = yield* making({ manifest: parsed.manifest, bundle, abi })
  if (measured.codeHash !== codeHash) throw refuse('its content does not hash to its name')
  return measured
}

/**
 * {@link parsePackage} of a file that says itself what it holds, as `tally package pack` writes.
 */
export function openPackage(text: string, options: PackageOptions = {}): CapabilityPackage {
  return atOnce(openingPackage(text, options))
}

/** {@link openPackage} in pieces: other work may be done wherever it yields. */
export function* openingPackage(
  text: string,
  options: PackageOptions = {}
): Pieces<CapabilityPackage> {
  const stored = yield* readingJson(text)
  const { abi, bundle, engine, manifest } = isJsonObject(stored) ? stored : {}
  const codeHash = yield* hashingParts({
    abi: abi ?? null,
    bundle: typeof bundle === 'string' ? bundle : '',
    engine: engine ?? null,
    manifest: manifest ?? null
  })
  return yield* checking({ text, stored, codeHash }, options)
}

function interfaceText(abi: Json | undefined, engine: Json | undefined): string {
  return `${shownText(abi)} (engine ${shownText(engine).slice(0, 12)})`
}

function* readingJson(text: string): Pieces<Json | undefined> {
  try {
    return yield* reading(text)
  } catch (error) {
    if (isTallyError(error, 'core.malformed_json')) return undefined
    throw error
  }
}
