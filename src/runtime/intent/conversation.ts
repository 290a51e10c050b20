import { missing, preferred, stateOf } from '../../capability/index.js'
import { intentError, type Json, type JsonObject } from '../../core/index.js'
import {
  graphDocument,
  type Intent,
  type IntentPlan,
  kernelResolution,
  knownActions,
  planIntent,
  RESOLVE_BLOCK,
  type Resolution
} from '../../intent/index.js'
import type { Ledger } from '../../ledger/index.js'
import type { Packages } from '../code/packages.js'
import type { Registry } from '../code/registry.js'
import type { RunHandle } from '../run/handle.js'
import type { StartOptions } from '../run/start-options.js'

/** Who is asked what a text means, and under which id. */
export interface ResolveOptions {
  /** Name of the resolver to ask; default: the first one registered. */
  readonly provider?: string
  /** Names the run in which a provider is asked; the same id is not asked twice. */
  readonly id?: string
}

/** A text resolved; `problem` says why the answer of a provider was not used. */
export type ResolvedText = Resolution & { readonly problem?: string }

/** How an intent would be done. With several steps, `document` runs them; nothing has run yet. */
export interface PlannedText {
  readonly resolution: ResolvedText
  /** Null when the text was refused. */
  readonly plan: IntentPlan | null
  /** `tally-graph/1`, or null when the plan is one intent. */
  readonly document: Json | null
}

export interface ConversationParts {
  readonly ledger: Ledger
  readonly registry: Registry
  readonly packages: Packages
  start(document: Json, options: StartOptions): RunHandle
}

/**
 * From text to what would be done (semantics.md K11).
 *
 * Owns: nothing. What comes out is a proposal; only the caller that runs it has a say (K13).
 */
export class Conversation {
  readonly #parts: ConversationParts

  constructor(parts: ConversationParts) {
    this.#parts = parts
  }

  /** What a text means: kernel patterns, then an AI provider, then `ai.chat`. */
  async resolve(text: string, options: ResolveOptions = {}): Promise<ResolvedText> {
    const known = kernelResolution(text)
    if (known !== undefined) return known
    const { registry, packages, start } = this.#parts
    const resolvers = registry.resolvers()
    const provider = options.provider ?? resolvers[0] ?? null
    if (provider !== null && !resolvers.includes(provider)) {
      throw intentError('intent.unknown_resolver', { name: provider })
    }
    const actions = knownActions({
      registry: packages.packageCache.registry,
      trusted: registry.blocks().flatMap(({ intents }) => intents)
    })
    const inputs = { text, actions: actions as unknown as Json, provider }
    const { id } = options
    const run = start(resolveDocument, { inputs, ...(id === undefined ? {} : { id }) })
    const { response } = await run.result
    if (response.success) return response.data as unknown as ResolvedText
    const intent = { action: 'ai.chat', payload: { message: text }, raw: text }
    return { kind: 'intent', by: 'chat', intent, problem: response.reason ?? 'failed' }
  }

  /** The steps of an intent by what is installed and granted now. */
  plan(intent: Intent): IntentPlan {
    const { ledger, packages } = this.#parts
    const state = stateOf(ledger)
    const { identity } = ledger
    const planned = planIntent(intent, {
      registry: packages.packageCache.registry,
      isGranted: ({ codeHash, declared }) =>
        missing(state, { identity, codeHash, capabilities: declared }).length === 0,
      preferred: (subject) => preferred(state, subject)
    })
    if (planned.ok) return planned.plan
    // A manifest that cannot be followed does not stop the intent from being tried as it is.
    const { action, payload } = intent
    return { intent, steps: [{ id: 'intent', canonical: action, args: payload, dependsOn: [] }] }
  }

  /** Both, as it is shown before anything runs. */
  async propose(text: string, options: ResolveOptions = {}): Promise<PlannedText> {
    const resolution = await this.resolve(text, options)
    if (resolution.kind === 'refused') return { resolution, plan: null, document: null }
    const plan = this.plan(resolution.intent)
    return { resolution, plan, document: plan.steps.length > 1 ? graphDocument(plan) : null }
  }
}

const resolveDocument: JsonObject = {
  schema: 'tally-composite/1',
  name: 'resolve-intent',
  version: '1.0.0',
  entry_point: 'resolve',
  nodes: { resolve: { block: RESOLVE_BLOCK } },
  transitions: {}
}
