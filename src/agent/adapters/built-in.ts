import { AdapterRegistry } from './adapter-registry.js'
import { type AiSdkAdapterOptions, aiSdkAdapter } from './ai-sdk.js'
import { type ChatAdapterOptions, deepSeekAdapter } from './deepseek.js'
import { type FakeAdapterOptions, fakeAdapter } from './fake.js'
import { type PiMonoAdapterOptions, piMonoAdapter } from './pi-mono.js'

/** Options of the adapters that come with the library, by kind. */
export interface BuiltInAdapterOptions {
  readonly fake?: FakeAdapterOptions
  readonly deepseek?: ChatAdapterOptions
  readonly piMono?: PiMonoAdapterOptions
  /** Registered only when it is given: the model is the host's to bring. */
  readonly aiSdk?: AiSdkAdapterOptions
}

/**
 * A registry with the adapters that come with tallystick. Nothing is loaded or reached before a
 * session is opened; more kinds are added with `registerAdapter`.
 */
export function builtInAdapters(options: BuiltInAdapterOptions = {}): AdapterRegistry {
  const registry = new AdapterRegistry()
    .registerAdapter('fake', () => fakeAdapter(options.fake))
    .registerAdapter('deepseek', () => deepSeekAdapter(options.deepseek))
    .registerAdapter('pi-mono', () => piMonoAdapter(options.piMono))
  const { aiSdk } = options
  if (aiSdk === undefined) return registry
  return registry.registerAdapter(aiSdk.kind ?? 'ai-sdk', () => aiSdkAdapter(aiSdk))
}
