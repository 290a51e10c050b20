import type { SideEffectClass } from '../../code/index.js'
import {
  atOnce,
  checkingSchema,
  isTallyError,
  type Json,
  type Pieces,
  reading,
  reporting
} from '../../core/index.js'
import { capabilitySet } from './capabilities.js'
import { type ManifestDocument, manifestSchema, packageId } from './schema.js'

/** A manifest in its one form, from which its canonical text and so its code hash are made. */
export interface Manifest {
  readonly id: string
  readonly name: string
  readonly version: string
  /** Actions the package serves, sorted; `a` also serves `a.b`. */
  readonly intents: readonly string[]
  /** What the package may ask for once granted, sorted by name. */
  readonly capabilities: readonly CapabilityEntry[]
  /** What the package offers under its own or a canonical name, sorted by id. */
  readonly capabilitySchemas: readonly OfferEntry[]
  readonly widgets?: readonly Json[]
}

/**
 * Scores are decimal text or numbers of zero or more; absent means cost 0, latency 0, reliability
 * 1.
 */
export interface Score {
  readonly cost?: number | string
  readonly latency?: number | string
  readonly reliability?: number | string
}

export interface CapabilityEntry extends Score {
  readonly name: string
  /** Present where the package also *offers* this capability to others under that name. */
  readonly canonical?: string
  readonly category?: string
  readonly inputs?: Json
  readonly outputs?: Json
  readonly semantics?: string
  readonly sideEffectClass?: SideEffectClass
}

export interface OfferEntry extends Score {
  readonly id: string
  /** Defaults to the id. */
  readonly canonical: string
  readonly type: string
  readonly category?: string
  readonly description?: string
  readonly input?: Json
  readonly output?: Json
  readonly examples?: readonly Json[]
  readonly locality?: string
  readonly computeCapability?: string
  readonly sideEffectClass?: SideEffectClass
}

/** Why a package is refused; stable codes. */
export interface Refusal {
  readonly code: RefusalCode
  /** Where in the manifest, or the file concerned. */
  readonly path: readonly (string | number)[]
  readonly message: string
  /** With `more_findings`, the last of a report: how many it leaves out. */
  readonly more?: number
}

export type RefusalCode =
  | 'malformed_json'
  | 'invalid_manifest'
  | 'more_findings'
  | 'unknown_capability'
  | 'duplicate_entry'
  | 'path_outside'
  | 'missing_file'
  | 'unreadable'
  | 'too_large'
  | 'bundle_failed'

export type ParsedManifest =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly refusals: readonly Refusal[] }

/**
 * Reads a manifest (K3). Strings and objects in `capabilities` come out alike. Never throws for bad
 * data.
 *
 * @param options.fallbackId  used when the manifest names no id: the name of its directory
 * @param options.known       capabilities the host can serve; default `capabilitySet`
 */
export function parseManifest(document: Json, options: ManifestOptions = {}): ParsedManifest {
  return atOnce(parsingManifest(document, options))
}

interface ManifestOptions {
  readonly fallbackId?: string
  readonly known?: ReadonlySet<string>
}

/** {@link parseManifest} in pieces: other work may be done wherever it yields. */
export function* parsingManifest(
  document: Json,
  options: ManifestOptions = {}
): Pieces<ParsedManifest> {
  const { fallbackId, known = capabilitySet } = options
  const parsed = yield* checkingSchema(manifestSchema(), document)
  if (!parsed.success) {
    const refusals = parsed.issues.map(
      ({ path, message }): Refusal => ({
        code: 'invalid_manifest',
        path: path.map((key) => (typeof key === 'number' ? key : String(key))),
        message
      })
    )
    const { hidden } = parsed
    const all = hidden === 0 ? refusals : [...refusals, moreRefusals(hidden)]
    return { ok: false, refusals: yield* reportingRefusals(all) }
  }
  const id = packageId().safeParse(parsed.data.id ?? fallbackId)
  if (!id.success) {
    const message = id.error.issues[0]?.message ?? 'an id is missing'
    return { ok: false, refusals: [{ code: 'invalid_manifest', path: ['id'], message }] }
  }
  const manifest = normalised(parsed.data, id.data)
  const refusals = [...duplicates(manifest), ...unknownNames(manifest, known)]
  if (refusals.length === 0) return { ok: true, manifest }
  return { ok: false, refusals: yield* reportingRefusals(refusals) }
}

/** {@link parsingManifest} of the text of a package's `manifest.json`. */
export function* readingManifest(text: string, options: ManifestOptions): Pieces<ParsedManifest> {
  try {
    return yield* parsingManifest(yield* reading(text), options)
  } catch (error) {
    if (!isTallyError(error, 'core.malformed_json')) throw error
    const { message } = error
    return {
      ok: false,
      refusals: [{ code: 'malformed_json', path: ['manifest.json'], message }]
    }
  }
}

function reportingRefusals(found: readonly Refusal[]): Pieces<readonly Refusal[]> {
  return reporting(found, { isError: () => true, more: ({ more }) => moreRefusals(more) })
}

function moreRefusals(more: number): Refusal {
  const message = `${more} more findings are not shown`
  return { code: 'more_findings', path: [], message, more }
}

/** Names of all capabilities that must be granted before the package runs (K5), sorted. */
export function declaredCapabilities(manifest: Manifest): readonly string[] {
  return manifest.capabilities.map(({ name }) => name)
}

function normalised(document: ManifestDocument, id: string): Manifest {
  const { name, version, intents, capabilities, capabilitySchemas, widgets } = document
  return {
    id,
    name,
    version,
    intents: [...intents].sort(),
    capabilities: capabilities
      .map((entry) => (typeof entry === 'string' ? { name: entry } : present(entry)))
      .sort((left, right) => order(left.name, right.name)),
    capabilitySchemas: capabilitySchemas
      .map(offerOf)
      .sort((left, right) => order(left.id, right.id)),
    ...(widgets === undefined ? {} : { widgets })
  }
}

function offerOf(entry: ManifestDocument['capabilitySchemas'][number]): OfferEntry {
  const { trust_score, compute_capability, semantics, description, reliability, ...rest } = entry
  return present({
    ...rest,
    canonical: rest.canonical ?? rest.id,
    description: description ?? semantics,
    reliability: reliability ?? trust_score,
    computeCapability: rest.computeCapability ?? compute_capability
  })
}

type Present<Entry> = {
  [Key in keyof Entry as undefined extends Entry[Key] ? never : Key]: Entry[Key]
} & {
  [Key in keyof Entry as undefined extends Entry[Key] ? Key : never]?: Exclude<
    Entry[Key],
    undefined
  >
}

// An absent member and an undefined one must hash alike.
function present<Entry extends object>(entry: Entry): Present<Entry> {
  const members = Object.entries(entry).filter(([, value]) => value !== undefined)
  return Object.fromEntries(members) as Present<Entry>
}

function duplicates(manifest: Manifest): readonly Refusal[] {
  const twice = (path: string, names: readonly string[]) =>
    names
      .filter((name, index) => name === names[index - 1])
      .map(
        (name): Refusal => ({
          code: 'duplicate_entry',
          path: [path],
          message: `${name} stands twice`
        })
      )
  const names = declaredCapabilities(manifest)
  // `a.b` would be both a function and a namespace of the scoped API.
  const namespaces = new Set(names.flatMap(namespacesOf))
  const nested = names
    .filter((name) => namespaces.has(name))
    .map(
      (name): Refusal => ({
        code: 'invalid_manifest',
        path: ['capabilities'],
        message: `${name} is the namespace of another capability`
      })
    )
  return [
    ...twice('intents', manifest.intents),
    ...twice('capabilities', names),
    ...twice(
      'capabilitySchemas',
      manifest.capabilitySchemas.map(({ id }) => id)
    ),
    ...nested
  ]
}

/** `a` and `a.b` of `a.b.c`. */
function namespacesOf(name: string): readonly string[] {
  const parts = name.split('.')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'))
}

function unknownNames(manifest: Manifest, known: ReadonlySet<string>): readonly Refusal[] {
  return declaredCapabilities(manifest)
    .filter((name) => !known.has(name))
    .map((name) => ({
      code: 'unknown_capability',
      path: ['capabilities'],
      message: `${name} is not a capability of this version`
    }))
}

function order(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
