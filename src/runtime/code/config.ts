import type { NetworkOptions } from '../../intent/index.js'
import type { Registrations } from './registrations.js'

/** What `tally.config.ts` says: everything that documents may name, and how durable steps are. */
export interface TallyConfig extends Registrations {
  /** As in `createRuntime`; default `output`. */
  readonly durability?: 'output' | 'step'
  /** Directories of capability packages, from the working directory. */
  readonly packages?: readonly string[]
  /** As in `createRuntime`; the configuration itself is closed anyway. */
  readonly closedPaths?: readonly string[]
  /**
   * Where packages may reach by `network.request`, and which servers documents may name (K15): by
   * default public ones over TLS.
   */
  readonly network?: NetworkOptions
}

/**
 * Gives `tally.config.ts` its type.
 *
 * @example
 * export default defineConfig({ blocks: [greet], providers: [bank] })
 */
export function defineConfig(config: TallyConfig): TallyConfig {
  return config
}
