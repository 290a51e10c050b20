import {
  canonicalize,
  type Hash,
  hashJson,
  isJsonObject,
  isTallyError,
  type Json,
  parse,
  sha256Hex,
  shownText,
  TallyError
} from '../../core/index.js'
import { type Manifest, parseManifest } from '../manifest/manifest.js'
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
  return { manifest, bundle, abi, codeHash: codeHashOf({ manifest, bundle, abi }) }
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
  return hashJson({ abi, bundleSha256: sha256Hex(bundle), engine: ENGINE_WASM_SHA256, manifest })
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
  options: { readonly known?: ReadonlySet<string> } = {}
): CapabilityPackage {
  const refuse = (problem: string) =>
    new TallyError('capability.malformed_package', { codeHash, problem })
  const stored = readJson(text)
  if (!isJsonObject(stored) || canonicalize(stored) !== text) {
    throw refuse('it is not canonical JSON')
  }
  const { abi, bundle, engine, manifest = null } = stored
  if (Object.keys(stored).length !== 4 || typeof bundle !== 'string') {
    throw refuse('its members are not those of a package')
  }
  if (!isAbiVersion(abi) || engine !== ENGINE_WASM_SHA256) {
    const bundleSha256 = sha256Hex(bundle)
    if (
      hashJson({ abi: abi ?? null, bundleSha256, engine: engine ?? null, manifest }) !== codeHash
    ) {
      throw refuse('its content does not hash to its name')
    }
    const theirs = interfaceText(abi, engine)
    const ours = interfaceText(ABI_VERSION, ENGINE_WASM_SHA256)
    throw new TallyError('capability.other_interface', { codeHash, theirs, ours })
  }
  const parsed = parseManifest(manifest, options)
  if (!parsed.ok) throw refuse(parsed.refusals[0]?.message ?? 'its manifest is refused')
  const measured = makePackage({ manifest: parsed.manifest, bundle, abi })
  if (measured.codeHash !== codeHash) throw refuse('its content does not hash to its name')
  return measured
}

/**
 * {@link parsePackage} of a file that says itself what it holds, as `tally package pack` writes.
 */
export function openPackage(
  text: string,
  options: { readonly known?: ReadonlySet<string> } = {}
): CapabilityPackage {
  const stored = readJson(text)
  const { abi, bundle, engine, manifest } = isJsonObject(stored) ? stored : {}
  const measured = hashJson({
    abi: abi ?? null,
    bundleSha256: sha256Hex(typeof bundle === 'string' ? bundle : ''),
    engine: engine ?? null,
    manifest: manifest ?? null
  })
  return parsePackage(text, measured, options)
}

function interfaceText(abi: Json | undefined, engine: Json | undefined): string {
  return `${shownText(abi)} (engine ${shownText(engine).slice(0, 12)})`
}

function readJson(text: string): Json | undefined {
  try {
    return parse(text)
  } catch (error) {
    if (isTallyError(error, 'core.malformed_json')) return undefined
    throw error
  }
}
