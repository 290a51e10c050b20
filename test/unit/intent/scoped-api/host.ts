import {
  parseManifest,
  type SandboxCall,
  type SealedAnswer
} from '../../../../src/capability/index.js'
import { EffectFailure, type EffectOptions } from '../../../../src/code/index.js'
import {
  canonicalize,
  hashJson,
  type IdentityId,
  type Json,
  parse
} from '../../../../src/core/index.js'
import {
  answerCalls,
  createScopedApi,
  type HostState,
  type ScopedApi
} from '../../../../src/intent/index.js'
import type { UnitContext } from '../../../../src/intent/scoped-api/answer-calls.js'

export const NOW_MS = 1_700_000_000_123
export const OWNER = 'a'.repeat(64) as IdentityId

/** State in memory, in its canonical texts, so that two states can be compared. */
export class MemoryState implements HostState {
  readonly entries = new Map<string, string>()

  get(key: string): Json | undefined {
    const text = this.entries.get(key)
    return text === undefined ? undefined : parse(text)
  }

  set(key: string, value: Json): void {
    this.entries.set(key, canonicalize(value))
  }

  delete(key: string): void {
    this.entries.delete(key)
  }

  async list(prefix: string): Promise<readonly string[]> {
    return [...this.entries.keys()].filter((key) => key.startsWith(prefix)).sort()
  }
}

export interface Answer {
  readonly ok: boolean
  readonly result?: Json
  readonly reason?: string
  readonly details?: Json
}

/** A package that makes calls one by one on one state; each call is a unit of work of its own. */
export class Guest {
  readonly state: MemoryState
  /** What went to `ctx.effect`, with its class. */
  readonly effects: { readonly name: string; readonly options: EffectOptions<Json> }[] = []
  readonly #api: ScopedApi
  readonly #id: string
  readonly #capabilities: Json
  #units = 0

  constructor(
    options: {
      readonly state?: MemoryState
      readonly id?: string
      readonly api?: ScopedApi
      readonly capabilities?: Json
    } = {}
  ) {
    this.state = options.state ?? new MemoryState()
    this.#id = options.id ?? 'guest'
    this.#api = options.api ?? createScopedApi()
    this.#capabilities = options.capabilities ?? []
  }

  async ask(capability: string, request: Json = {}): Promise<Answer> {
    const [answer] = await this.askAll([[capability, request]])
    if (answer === undefined) throw new Error('a call was not answered')
    return answer
  }

  async result(capability: string, request: Json = {}): Promise<Record<string, Json>> {
    const answer = await this.ask(capability, request)
    if (!answer.ok) throw new Error(`${answer.reason}: ${JSON.stringify(answer.details)}`)
    return answer.result as Record<string, Json>
  }

  /** Makes calls that are open together, in one unit. */
  async askAll(asked: readonly (readonly [string, Json])[]): Promise<readonly Answer[]> {
    this.#units += 1
    const calls = asked.map(([capability, request], seq): SandboxCall => {
      const requestText = canonicalize(request)
      return { seq, capability, requestText, requestHash: hashJson(request) }
    })
    const manifest = parseManifest({
      name: 'Guest',
      id: this.#id,
      intents: ['guest.try'],
      capabilities: this.#capabilities
    })
    if (!manifest.ok) throw new Error(JSON.stringify(manifest.refusals))
    const entries = await answerCalls({
      api: this.#api,
      ctx: this.#context(`unit-${this.#id}-${this.#units}`),
      state: this.state,
      caller: { identity: OWNER, manifest: manifest.manifest },
      calls
    })
    return [...entries].sort((left, right) => left.seq - right.seq).map(answerOf)
  }

  #context(unitId: string): UnitContext {
    const context = {
      unitId,
      obligedFirst: async () => undefined,
      now: () => NOW_MS,
      effect: async (name: string, options: EffectOptions<Json>) => {
        this.effects.push({ name, options })
        const { request = null, perform } = options
        const { signal } = new AbortController()
        if (perform === undefined) throw new EffectFailure('no_provider')
        return perform({ key: hashJson({ unitId, request }), request, signal })
      }
    }
    // What answers calls needs no more of it.
    return context as unknown as UnitContext
  }
}

function answerOf(entry: SealedAnswer): Answer {
  if (entry.ok) return { ok: true, result: parse(entry.resultText) }
  const { reason, details } = entry
  return { ok: false, reason, details }
}
