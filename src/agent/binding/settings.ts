import { EffectFailure } from '../../code/index.js'
import type { Environment, Json, Redactor } from '../../core/index.js'
import type { AdapterSettings, AgentAdapter } from '../adapters/adapter.js'
import { type DocumentSecrets, secretProblem } from './document-secrets.js'
import { checkDocumentServer, type DocumentNetwork } from './document-server.js'
import { secretBehind } from './secret.js'

/**
 * Where each setting of an adapter comes from (semantics.md A3): flow or agent, then the adapter's
 * constructor, then the environment of the kind (`*_PI_MONO_*`), then that of all (`*_LLM_*`).
 */

export type SettingName = Exclude<keyof AdapterSettings, 'options'>

export interface ResolvedSetting {
  readonly name: SettingName
  /** For a secret, its reference. */
  readonly value: string | number
  /** `agent`, `flow`, `adapter`, or `env:NAME`. */
  readonly source: string
}

/** Settings as documents give them, with what gave each. */
export interface ConfiguredSettings {
  readonly settings: AdapterSettings
  readonly sources: Readonly<Partial<Record<SettingName, 'agent' | 'flow'>>>
}

const names = [
  'transport',
  'baseUrl',
  'apiKey',
  'model',
  'temperature',
  'maxTokens'
] as const satisfies readonly SettingName[]

const prefixes = ['TALLY_', 'VITE_AGENTSFLOW_', 'AGENTSFLOW_']

/** Every setting that anything gives, with its source. Secrets stay references. */
export function resolveSettings(options: {
  readonly configured: ConfiguredSettings
  readonly adapter: AgentAdapter
  readonly environment: Environment
}): readonly ResolvedSetting[] {
  const { configured, adapter, environment } = options
  const found = names.flatMap((name): readonly ResolvedSetting[] => {
    const own = configured.settings[name]
    if (own !== undefined) {
      return [{ name, value: own, source: configured.sources[name] ?? 'flow' }]
    }
    const given = adapter.defaults?.[name]
    if (given !== undefined) return [{ name, value: given, source: 'adapter' }]
    const variable = variablesOf(adapter.kind, name).find((one) => isSet(environment, one))
    if (variable === undefined) return []
    const value = fromEnvironment(name, variable, environment)
    return value === undefined ? [] : [{ name, value, source: `env:${variable}` }]
  })
  return found.filter((setting) => setting.name !== 'apiKey' || mayBeSent(setting, found))
}

/** The settings by name, as far as they are known before a run. Secrets stay references. */
export function knownSettings(
  configured: ConfiguredSettings,
  adapter: AgentAdapter,
  environment: Environment = {}
): AdapterSettings {
  const resolved = resolveSettings({ configured, adapter, environment })
  return Object.fromEntries(resolved.map(({ name, value }) => [name, value]))
}

/** What a turn with these settings would lack, for people; empty when nothing is known to. */
export function lackingSettings(
  settings: AdapterSettings,
  adapter: AgentAdapter,
  environment: Environment = {}
): readonly string[] {
  const { apiKey = '' } = settings
  const variable = /^env:(.+)$/.exec(apiKey)?.[1]
  const isMissing = variable !== undefined && !isSet(environment, variable)
  const missing = isMissing ? [`apiKey is ${apiKey}, which is not set`] : []
  return [...(adapter.validate?.(settings) ?? []), ...missing]
}

/**
 * Settings for a session: merged, secrets read. Throws a definite `EffectFailure`, of which
 * `secret_not_allowed` and `server_not_allowed` come before anything is read.
 */
export async function sessionSettings(options: {
  readonly adapterConfig: AdapterSettings
  readonly adapter: AgentAdapter
  readonly environment: Environment
  readonly documentSecrets: DocumentSecrets
  readonly network: DocumentNetwork
  /** Learns what is read. */
  readonly redactor: Redactor
}): Promise<AdapterSettings> {
  const { adapterConfig, adapter, environment, documentSecrets: allowed, redactor } = options
  const problem = secretProblem(adapterConfig, { allowed, usual: usualSecrets(adapter.kind) })
  if (problem !== undefined) {
    throw new EffectFailure('secret_not_allowed', { definite: true, details: { problem } })
  }
  await checkDocumentServer(adapterConfig, options.network)
  const configured: ConfiguredSettings = { settings: adapterConfig, sources: {} }
  const resolved = resolveSettings({ configured, adapter, environment })
  const entries: [string, Json][] = []
  for (const { name, value } of resolved) {
    const isSecret = name === 'apiKey' && typeof value === 'string'
    entries.push([name, isSecret ? await secretBehind(value, { environment, redactor }) : value])
  }
  const extra = { ...adapter.defaults?.options, ...adapterConfig.options }
  return { ...Object.fromEntries(entries), options: extra }
}

/**
 * A key that the host gave goes only where the host said: a document that names another server must
 * name its key too, or its author could have the host's key sent to them.
 */
function mayBeSent(key: ResolvedSetting, found: readonly ResolvedSetting[]): boolean {
  const server = found.find(({ name }) => name === 'baseUrl')
  return isOfDocument(key) || server === undefined || !isOfDocument(server)
}

function isOfDocument({ source }: ResolvedSetting): boolean {
  return source === 'agent' || source === 'flow'
}

/** References to the keys that an adapter of this kind takes from the environment (A3). */
export function usualSecrets(kind: string): readonly string[] {
  return variablesOf(kind, 'apiKey').map((variable) => `env:${variable}`)
}

function variablesOf(kind: string, name: SettingName): readonly string[] {
  const suffix = name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
  const own = kind.replace(/[^A-Za-z0-9]/g, '_').toUpperCase()
  return [own, 'LLM'].flatMap((family) => prefixes.map((prefix) => `${prefix}${family}_${suffix}`))
}

function isSet(environment: Environment, variable: string): boolean {
  return (environment[variable] ?? '') !== ''
}

function fromEnvironment(
  name: SettingName,
  variable: string,
  environment: Environment
): string | number | undefined {
  if (name === 'apiKey') return `env:${variable}`
  const text = environment[variable] ?? ''
  if (name !== 'temperature' && name !== 'maxTokens') return text
  const value = Number(text)
  return Number.isFinite(value) ? value : undefined
}
