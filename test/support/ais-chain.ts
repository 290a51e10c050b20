import type { Provider } from '../../src/block/index.js'
import { EffectFailure } from '../../src/code/index.js'
import { canonicalize, type Json, type JsonObject, sha256Hex } from '../../src/core/index.js'
import { chainEffects } from '../../src/executor/index.js'

/** What one read or write of a test is answered with. */
export type Answer = JsonObject | { readonly fails: JsonObject }
export type AnswerTo = (request: {
  readonly chain: string
  readonly execution: JsonObject
  /** How often this execution was asked before. */
  readonly before: number
}) => Answer

/**
 * Chains of a test, in memory, behind the effects of executors: each write takes effect at most
 * once for its bytes, and what was sent is counted.
 */
export class TestChain {
  /** Effective transactions by hash. */
  readonly sent = new Map<string, { readonly execution: JsonObject; readonly chain: string }>()
  readonly reads: string[] = []
  readonly #read: AnswerTo
  readonly #write: AnswerTo
  readonly #asked = new Map<string, number>()

  constructor(answers: { readonly read?: AnswerTo; readonly write?: AnswerTo } = {}) {
    this.#read = answers.read ?? (() => ({}))
    this.#write = answers.write ?? (() => ({}))
  }

  /** Names of the functions of what was sent, in order. */
  get functions(): readonly string[] {
    return [...this.sent.values()].map(({ execution }) => nameOf(execution))
  }

  get providers(): readonly Provider[] {
    const parts = (request: Json) => request as { chain: string; execution: JsonObject }
    return [
      {
        name: chainEffects.account,
        perform: () => ({ address: `0x${'1'.repeat(40)}`, canSign: true })
      },
      {
        name: chainEffects.read,
        perform: ({ request }) => {
          this.reads.push(nameOf(parts(request).execution))
          return this.#answer(this.#read, parts(request))
        }
      },
      {
        name: chainEffects.simulate,
        perform: ({ request }) => ({
          ok: true,
          outputs: this.#answer(this.#write, parts(request))
        })
      },
      {
        name: chainEffects.prepare,
        perform: ({ request, key }) => {
          const { chain, execution } = parts(request)
          const raw = canonicalize({ key, execution })
          const hash = `0x${sha256Hex(raw)}`
          return {
            kind: 'signed',
            terms: { confirmations: 1, pollMs: 10, timeoutMs: 1_000 },
            transaction: { chain, from: '0x1', hash, nonce: 0, validUntil: null, raw }
          }
        }
      },
      {
        name: chainEffects.broadcast,
        perform: ({ request }) => {
          const { transaction } = request as { readonly transaction: JsonObject }
          const { execution } = JSON.parse(String(transaction['raw']))
          const chain = String(transaction['chain'])
          this.sent.set(String(transaction['hash']), { execution, chain })
          return { hash: transaction['hash'] ?? null, answer: 'accepted' }
        }
      },
      {
        name: chainEffects.look,
        perform: ({ request }) => {
          const { hash, chain, execution } = request as {
            readonly hash: string
            readonly chain: string
            readonly execution: JsonObject
          }
          if (!this.sent.has(hash)) return { status: 'unknown' }
          const outputs = this.#answer(this.#write, { chain, execution })
          return {
            status: 'included',
            success: true,
            blockNumber: 1,
            blockHash: `0x${'b'.repeat(64)}`,
            confirmations: 1,
            outputs: { tx_hash: hash, ...outputs },
            revert: null
          }
        }
      }
    ]
  }

  #answer(answer: AnswerTo, asked: { chain: string; execution: JsonObject }): JsonObject {
    const { chain, execution } = asked
    const text = canonicalize({ chain, execution })
    const before = this.#asked.get(text) ?? 0
    this.#asked.set(text, before + 1)
    const found = answer({ ...asked, before })
    if (!('fails' in found)) return found
    const details = found.fails as JsonObject
    throw new EffectFailure(String(details['code']), { definite: true, details })
  }
}

/** The function or instruction or method that an execution calls. */
export function nameOf(execution: JsonObject): string {
  const { abi, instruction, method } = execution
  if (typeof abi === 'object' && abi !== null) return String((abi as JsonObject)['name'])
  return String(instruction ?? method ?? execution['type'])
}
