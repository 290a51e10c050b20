import { type Json, withoutUndefined } from '../../core/index.js'
import { builtInEffects, type Call } from './calls.js'
import type { BlockContext } from './context.js'
import { signalReceiver } from './receiving.js'

/** What runs publish under; no effect of a block's may have it at the root of a run. */
export const PUBLISH_EFFECT = 'run.publish'

/** Makes a call of the code: its effect, its request, and what the pump is given. */
type MakeCall = (
  effect: string,
  request: Json,
  build: (call: Omit<Call, 'kind'>) => Call
) => Promise<Json>

/** What code exchanges with those outside who know its run: signals, and what it publishes. */
export function exchangeBy(call: MakeCall): Pick<BlockContext, 'publish' | 'signal'> {
  return {
    signal: signalReceiver((asked, build) => call(builtInEffects.signal, asked, build)),
    publish: (key, value) => publishBy(call, key, value)
  }
}

/** Publishes a value: sealed, so that readers of the journal have it, and a replay too. */
export async function publishBy(call: MakeCall, key: string, value: unknown): Promise<void> {
  const published = { key, value: withoutUndefined(value ?? null) as Json }
  await call(PUBLISH_EFFECT, published, (one) => ({
    kind: 'effect',
    sideEffects: 'none',
    durable: false,
    perform: () => published,
    locate: undefined,
    ...one
  }))
}

/** What a sealed call has published. */
export interface Published {
  readonly key: string
  readonly value: Json
}
