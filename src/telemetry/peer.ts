import { inspectError } from '../core/index.js'
import type { Api } from './port.js'

/** Throws `telemetry.missing_library`. */
export async function loadApi(): Promise<Api> {
  try {
    return await import('@opentelemetry/api')
  } catch (cause) {
    throw inspectError('telemetry.missing_library', { library: '@opentelemetry/api' }, { cause })
  }
}
