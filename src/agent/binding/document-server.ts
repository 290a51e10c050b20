import { allowedAddresses, type NetworkOptions, serverNotAllowed } from '../../intent/index.js'
import type { AdapterSettings } from '../adapters/adapter.js'
import { baseUrlProblem } from '../transports/endpoint.js'

/**
 * Where documents may have turns sent: the network policy of packages bounds the servers that they
 * name, too (semantics.md K15). `any` is for settings that the program wrote itself. A server that
 * the host named (an adapter's defaults, the environment) is the host's affair.
 */
export type DocumentNetwork = NetworkOptions | 'any'

/** Throws a definite `EffectFailure` `server_not_allowed` before anything is sent or read. */
export async function checkDocumentServer(
  { baseUrl }: AdapterSettings,
  network: DocumentNetwork
): Promise<void> {
  // What is no URL is refused with all other problems of the settings.
  if (network === 'any' || baseUrl === undefined || baseUrlProblem(baseUrl) !== undefined) return
  const url = new URL(baseUrl)
  const allowed = await allowedAddresses(url, network)
  if (!allowed.ok) throw serverNotAllowed(url, allowed.reason)
}
