import type { Provider } from '../../block/index.js'
import { type Block, defineOwnBlock, EffectFailure } from '../../code/index.js'
import { intentError, type Json, lazySchema, limits, Redactor } from '../../core/index.js'
import { checkAnswer } from './answer.js'
import { kernelResolution } from './kernel-patterns.js'
import type { Resolution } from './resolution.js'
import type { IntentResolver, KnownAction } from './resolver.js'

/** Name of the effect by which a provider is asked, and of the block that asks. */
const PARSE_EFFECT = 'ai.parse_intent'
export const RESOLVE_BLOCK = 'intent.resolve'

const input = lazySchema((z) =>
  z.strictObject({
    text: z.string().min(1).max(limits.RAW_INTENT_LENGTH_MAX),
    actions: z
      .array(
        z.strictObject({
          action: z.string(),
          description: z.string().optional(),
          inputs: z.json().optional()
        })
      )
      .max(limits.KNOWN_ACTIONS_MAX),
    /** Null: no provider is asked. */
    provider: z.string().nullable()
  })
)

/**
 * The leaf that resolves a text (semantics.md K11): kernel patterns, then the AI provider, then
 * `ai.chat`. It changes nothing; the provider's answer is sealed, and checked after it was sealed,
 * so that a replay checks it too.
 */
export const resolveBlock: Block = defineOwnBlock({
  name: RESOLVE_BLOCK,
  version: '1.0.0',
  sideEffects: 'none',
  capabilities: [PARSE_EFFECT],
  input,
  codeHash: 'cb18d8a0c1f444a5e6cb9e883b260dc806501d78ba06a31a4999ba9d9a887f4c',
  async run(ctx, { text, actions, provider }): Promise<Resolution & { readonly problem?: string }> {
    const known = kernelResolution(text)
    if (known !== undefined) return known
    if (provider === null) return chat(text)
    let answer: Json
    try {
      const request = { text, actions: actions as unknown as Json, provider }
      const options = { request, sideEffects: 'none', durable: true } as const
      answer = await ctx.effect<Json>(PARSE_EFFECT, options)
    } catch (error) {
      if (!(error instanceof EffectFailure)) throw error
      return { ...chat(text), problem: error.reason }
    }
    const checked = checkAnswer(answer, { text, actions: actions as readonly KnownAction[] })
    switch (checked.kind) {
      case 'intent':
        return { kind: 'intent', by: 'provider', intent: checked.intent }
      case 'none':
        return chat(text)
      case 'unusable':
        return { ...chat(text), problem: checked.problem }
    }
  }
})

/** What answers the block's effect: the registered resolvers, by name. */
export function resolverProvider(resolvers: readonly IntentResolver[]): Provider {
  const byName = new Map(resolvers.map((resolver) => [resolver.name, resolver]))
  if (byName.size < resolvers.length) {
    const names = resolvers.map(({ name }) => name)
    const name = names.find((one, at) => names.indexOf(one) !== at) ?? ''
    throw intentError('intent.duplicate_resolver', { name })
  }
  const redactor = new Redactor()
  for (const resolver of resolvers) {
    if (resolver.redactor !== undefined) redactor.include(resolver.redactor)
  }
  return {
    name: PARSE_EFFECT,
    redactor,
    async perform({ request, signal }) {
      const { text, actions, provider } = input().parse(request)
      const resolver = byName.get(provider ?? '')
      if (resolver === undefined) throw new EffectFailure('unknown_resolver', { definite: true })
      return resolver.resolve({ text, actions: actions as readonly KnownAction[] }, { signal })
    }
  }
}

function chat(text: string): Resolution {
  const intent = { action: 'ai.chat', payload: { message: text }, raw: text }
  return { kind: 'intent', by: 'chat', intent }
}
