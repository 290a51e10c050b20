import type { CapabilityPackage } from '../../capability/index.js'
import { EffectFailure } from '../../code/index.js'
import { isJsonObject, type Json } from '../../core/index.js'
import { hostOf, mayAsk } from '../../intent/index.js'

/** The effect by which packages reach the outside. */
export const NETWORK_EFFECT = 'network.request'

/** What servers may say where options say nothing of them. */
export const networkAnswers: Json = {
  type: 'object',
  properties: {
    status: { enum: [200, 204, 404, 429, 500] },
    body: { enum: ['', '{}', '[]', 'null', 'text', '{"ok":true}'] }
  },
  required: ['status', 'body']
}

/** Whether no manifest names the host of a request: then the real network refuses it unasked. */
export function isHostRefused(request: Json, packages: readonly CapabilityPackage[]): boolean {
  const text = isJsonObject(request) ? request['url'] : undefined
  if (typeof text !== 'string' || !URL.canParse(text)) return true
  const host = hostOf(new URL(text))
  const entries = packages.flatMap(({ manifest }) => manifest.capabilities)
  return !entries.some((one) => one.name === NETWORK_EFFECT && mayAsk(host, one, {}))
}

/** What a case says of a response, with what it leaves out. Throws `EffectFailure`. */
export function networkResult(request: Json, said: Json): Json {
  const { url = '', okOnly = false } = isJsonObject(request) ? request : {}
  const own = isJsonObject(said) ? said : { body: String(said) }
  const response = { status: 200, url, headers: {}, body: '', encoding: 'utf8', ...own }
  const status = Number(response.status)
  if (okOnly === true && (status < 200 || status > 299)) {
    throw new EffectFailure('bad_status', { details: { status } })
  }
  return response
}

/** As the real network calls a failure that a case asks for. */
export function networkReason(reason: string): string {
  if (reason === 'refused') return 'not_connected'
  return reason === 'lost' ? 'broken_off' : reason
}
