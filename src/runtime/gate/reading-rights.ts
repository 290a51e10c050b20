import { isSamePrincipal, principalIn, principalLacks, stateOf } from '../../capability/index.js'
import { type Json, runtimeError } from '../../core/index.js'
import type { Ledger } from '../../ledger/index.js'
import { type Answerable, agentNamed, mayAnswer } from './agents.js'
import { ledgerReading } from './principal-grants.js'

/** In whose name something is read. */
export interface ReadingAs {
  readonly agent: string
  /** It may answer waits, so it sees the runs that wait for what it may answer. */
  readonly answers: boolean
}

/**
 * What an agent is shown of a ledger (K14): its own runs and their receipts, and those of others
 * once the owner has granted it `ledger.read`.
 */
export class ReadingRights {
  readonly #agent: string
  readonly #answers: boolean
  readonly #principal: Json
  readonly #readsAll: boolean

  constructor(ledger: Pick<Ledger, 'identity' | 'read'>, { agent, answers }: ReadingAs) {
    this.#agent = agent
    this.#answers = answers
    this.#principal = agentNamed(agent)
    this.#readsAll = readsAll(ledger, this.#principal)
  }

  /** Whether it is shown what this principal has done. */
  sees(principal: Json | undefined, waits: readonly Answerable[] = []): boolean {
    if (this.#readsAll) return true
    if (this.#answers && waits.some(mayAnswer)) return true
    return principal !== undefined && isSamePrincipal(principal, this.#principal)
  }

  /** Throws `service.agent_reads_own`. */
  check(principal: Json | undefined, waits: readonly Answerable[] = []): void {
    if (this.sees(principal, waits)) return
    throw runtimeError('service.agent_reads_own', { agent: this.#agent })
  }
}

/** Whether a principal reads what others have run. */
export function readsAll(ledger: Pick<Ledger, 'identity' | 'read'>, reader: Json): boolean {
  const principal = principalIn(reader)
  const { identity } = ledger
  return principalLacks(stateOf(ledger), { identity, principal, ...ledgerReading }).length === 0
}
