import type { OpenWait } from '../../block/index.js'
import { isJsonObject, type Json, type RunId, runtimeError } from '../../core/index.js'
import type { Ledger } from '../../ledger/index.js'

/**
 * Programs that ask in their own name, through an entry point that the owner opened for them (K13).
 * The entry point names them; what they send does not.
 */

/** The principal of a program. */
export function agentNamed(id: string): Json {
  return { kind: 'agent', id }
}

/** What an agent may be allowed to answer: questions, never permissions or decisions. */
const answerable: ReadonlySet<string> = new Set(['confirmation', 'external'])

/** A wait as far as it says who may answer it. */
export type Answerable = Pick<OpenWait, 'actions' | 'reason'>

/** One for a signal is none: signals are the owner's, and no answer ends it. */
export function mayAnswer({ actions, reason }: Answerable): boolean {
  return answerable.has(reason) && actions.some((action) => action !== 'signal')
}

/** The runs of a ledger, as far as what each waits for. */
interface OpenWaits {
  waits(id: RunId): readonly OpenWait[]
}

/**
 * Throws `service.agent_refused` unless this agent may answer this wait: one of a kind that agents
 * may answer, of a run that it did not start itself.
 */
export function refuseAgent(
  { ledger, runs }: { readonly ledger: Pick<Ledger, 'run'>; readonly runs: OpenWaits },
  message: { readonly id: RunId; readonly token: string; readonly agent: string }
): void {
  const { id, token, agent } = message
  const refuse = (problem: string) => {
    throw runtimeError('service.agent_refused', { agent, problem })
  }
  const principal = ledger.run(id)?.started['principal']
  if (!isJsonObject(principal)) return refuse('the run names no starter')
  if (principal['kind'] === 'agent' && principal['id'] === agent) {
    return refuse('it started the run itself')
  }
  const wait = runs.waits(id).find((one) => one.token === token)
  if (wait === undefined) return refuse('there is no open wait with this token')
  if (!mayAnswer(wait)) {
    const what = wait.actions.includes('signal') ? 'a signal' : wait.reason
    return refuse(`a wait for ${what} is answered by the owner or an approver`)
  }
}
