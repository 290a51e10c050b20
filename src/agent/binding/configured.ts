import type { AdapterSettings } from '../adapters/adapter.js'
import type { AgentDef, FlowDocument } from '../flow/schema.js'
import type { ConfiguredSettings, SettingName } from './settings.js'

/** Flow and agent, merged; the model's profile before either's adapter settings (A3). */
export function configuredSettings(definition: AgentDef, flow: FlowDocument): ConfiguredSettings {
  const { model, temperature, maxTokens } = definition.modelProfile
  const profile = given({ model, temperature, maxTokens })
  const own = given(definition.adapterConfig)
  const ofFlow = given(flow.runtime.adapterConfig)
  const sources: Partial<Record<SettingName, 'agent' | 'flow'>> = {}
  for (const name of Object.keys(ofFlow)) sources[name as SettingName] = 'flow'
  for (const name of Object.keys({ ...own, ...profile })) sources[name as SettingName] = 'agent'
  const options = { ...ofFlow.options, ...own.options }
  const settings = { ...ofFlow, ...own, ...profile }
  return {
    settings: Object.keys(options).length === 0 ? settings : { ...settings, options },
    sources
  }
}

function given(settings: Readonly<Record<string, unknown>>): AdapterSettings {
  const known = Object.entries(settings).filter(([, value]) => value !== undefined)
  return Object.fromEntries(known)
}
