import { fileURLToPath } from 'node:url'
import {
  type CapabilityPackage,
  createSandbox,
  type Manifest,
  openPackage,
  packDirectory
} from '../../capability/index.js'
import {
  isJsonObject,
  isTallyError,
  type Json,
  type JsonObject,
  ManualClock,
  type TallyError,
  testingError
} from '../../core/index.js'
import { intentBlocks } from '../../intent/index.js'
import type { HostedPackages } from './guests.js'
import { NETWORK_EFFECT, networkAnswers } from './network-world.js'
import type { EffectOptionsOfWorld } from './options.js'

/** A package by itself. The input of a run is an intent: `{ action, payload }`. */
export interface PackageTarget {
  /** Its directory, or the text that `tally package pack` writes. */
  readonly package: PackageSource
  /** The intent to verify; default: each that it serves. */
  readonly action?: string
}

/** Directory, or the text of a packed package. */
export type PackageSource = string | URL

export const OF_PACKAGES =
  'packages: what servers keep, redirects, secrets, network policies, and grants taken back'

/** Reads packages. Throws `testing.target_invalid`, and `capability.bundler_missing`. */
export async function hostPackages(sources: readonly PackageSource[]): Promise<HostedPackages> {
  const packages: CapabilityPackage[] = []
  for (const source of sources) packages.push(await packageOf(source))
  // One thread: guests compute one at a time. Its clock never moves: gas ends what does not end.
  const sandbox = createSandbox({ threads: 1, clock: new ManualClock() })
  return { packages, sandbox }
}

async function packageOf(source: PackageSource): Promise<CapabilityPackage> {
  if (typeof source === 'string' && source.trimStart().startsWith('{')) return opened(source)
  const directory = typeof source === 'string' ? source : fileURLToPath(source)
  const loaded = await packDirectory(directory)
  if (loaded.ok) return loaded.package
  const [first] = loaded.refusals
  const at = first === undefined || first.path.length === 0 ? '' : ` (${first.path.join('.')})`
  throw invalid(`${directory}: ${first?.message ?? 'it is refused'}${at}`)
}

function opened(text: string): CapabilityPackage {
  try {
    return openPackage(text)
  } catch (error) {
    if (isTallyError(error, 'capability.malformed_package')) throw invalid(error.message)
    throw error
  }
}

function invalid(problem: string): TallyError {
  return testingError('testing.target_invalid', { problem })
}

/** The document whose only node does the intent that a run is given. */
export function packageDocument({ manifest: { id } }: CapabilityPackage): Json {
  const node = id.split('.').at(-1) ?? id
  return {
    schema: 'tally-composite/1',
    name: id,
    version: '1.0.0',
    entry_point: node,
    nodes: { [node]: { block: intentBlocks.non_idempotent } }
  }
}

/** What a package takes, as its manifest declares it. */
export interface DeclaredInputs {
  readonly schema: Json
  /** What the manifest leaves open; absent: nothing. */
  readonly open?: string
}

/** Intents of a package. Throws `testing.target_invalid` for one that it does not serve. */
export function declaredInputs(
  { manifest }: CapabilityPackage,
  action: string | undefined
): DeclaredInputs {
  const { intents } = manifest
  const serves = (name: string) => intents.some((one) => `${name}.`.startsWith(`${one}.`))
  if (action !== undefined && !serves(action)) {
    throw invalid(`${manifest.id} serves ${intents.join(', ')}, and not ${action}`)
  }
  const open: string[] = []
  const intentsOf = (action === undefined ? intents : [action]).map((name) => {
    const payload = payloadSchema(manifest, name)
    if (payload === undefined) open.push(name)
    const properties = { action: { const: name }, payload: payload ?? { type: 'object' } }
    return { type: 'object', properties, required: ['action', 'payload'] }
  })
  const schema = { anyOf: intentsOf }
  if (open.length === 0) return { schema }
  return { schema, open: `its manifest declares no input of ${open.join(', ')}` }
}

function payloadSchema(manifest: Manifest, action: string): Json | undefined {
  const { input } = offerOf(manifest, action) ?? {}
  if (!isJsonObject(input ?? null)) return undefined
  const declared = input as JsonObject
  return isJsonSchema(declared) ? declared : describedSchema(declared)
}

function offerOf(
  manifest: Manifest,
  action: string
): Manifest['capabilitySchemas'][number] | undefined {
  return manifest.capabilitySchemas.find(
    ({ id, canonical }) => id === action || canonical === action
  )
}

/** The JSON Schema of what an intent gives, where the manifest declares one. */
export function outputSchema(manifest: Manifest, action: string): JsonObject | undefined {
  const { output } = offerOf(manifest, action) ?? {}
  return isJsonObject(output ?? null) && isJsonSchema(output as JsonObject)
    ? (output as JsonObject)
    : undefined
}

/** Manifests may describe members in words instead. */
function isJsonSchema(declared: JsonObject): boolean {
  const { type } = declared
  if (['$schema', '$ref', 'anyOf', 'oneOf', 'allOf'].some((key) => key in declared)) return true
  return type === 'object' && isJsonObject(declared['properties'] ?? {})
}

/** Members that are described in words: each may be absent, and hold anything. */
function describedSchema(described: JsonObject): Json {
  const members = Object.entries(described).filter(
    ([, about]) => !(isJsonObject(about) && 'from' in about)
  )
  const value = { anyOf: [{ enum: ['', 'a', 'text', '0', '1', '10'] }, {}] }
  return { type: 'object', properties: Object.fromEntries(members.map(([name]) => [name, value])) }
}

/** What packages ask of the world. */
export function packageEffects({
  packages
}: HostedPackages): Readonly<Record<string, EffectOptionsOfWorld>> {
  const asks = packages.some(({ manifest }) =>
    manifest.capabilities.some(({ name }) => name === NETWORK_EFFECT)
  )
  return asks ? { [NETWORK_EFFECT]: { answer: networkAnswers as JsonObject } } : {}
}
