import { type Json, withoutUndefined } from '../core/index.js'
import { builtInEffects, type Call, effectCall, PUBLISH_EFFECT, TAGS_EFFECT } from './calls.js'
import type { BlockContext } from './context.js'
import { signalReceiver } from './receiving.js'
import { tagsOf } from './tags.js'

/** Makes a call of the code: its effect, its request, and what the pump is given. */
type MakeCall = (
  effect: string,
  request: Json,
  build: (call: Omit<Call, 'kind'>) => Call
) => Promise<Json>

/** What code exchanges with those outside who know its run: signals, and what it makes known. */
export function exchangeBy(call: MakeCall): Pick<BlockContext, 'publish' | 'setTags' | 'signal'> {
  return {
    signal: signalReceiver((asked, build) => call(builtInEffects.signal, asked, build)),
    publish: (key, value) => publishBy(call, key, value),
    setTags: (tags) => setTagsBy(call, tags)
  }
}

/** Publishes a value: sealed, so that readers of the journal have it, and a replay too. */
export async function publishBy(call: MakeCall, key: string, value: unknown): Promise<void> {
  const published = { key, value: withoutUndefined(value ?? null) as Json }
  await makeKnown(call, PUBLISH_EFFECT, published)
}

/** Sets the tags of the run: sealed, so that lists have them, and a replay too. */
export async function setTagsBy(call: MakeCall, tags: readonly string[]): Promise<void> {
  await makeKnown(call, TAGS_EFFECT, { tags: tagsOf(tags) })
}

async function makeKnown(call: MakeCall, effect: string, known: Json): Promise<void> {
  const perform = () => known
  const build = effectCall({ sideEffects: 'none', durable: false, perform, locate: undefined })
  await call(effect, known, build)
}

/** What a sealed call has published. */
export interface Published {
  readonly key: string
  readonly value: Json
}
