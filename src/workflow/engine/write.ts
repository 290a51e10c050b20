import { canonicalize, type Json, type JsonObject } from '../../core/index.js'
import {
  sendNew,
  sendRepeated,
  sendTransaction,
  simulateTransaction,
  type TransactionOutcome
} from '../../executor/index.js'
import { takeBudget } from './budget.js'
import { nodeFailure, type Occasion } from './failure.js'
import { accountOf } from './gather.js'
import { anew, type Executed, type NodeRun, type Sending } from './node-run.js'
import { type SealedWrite, sealWrite } from './sealed-write.js'
import type { NodeInput } from './spec.js'

/** Executes an action once: simulated, taken from the budget of its run, sealed, and sent. */
export async function write(
  execution: NodeRun,
  occasion: Occasion,
  times: number
): Promise<Executed> {
  const { ctx, input, ready, allowance, sending } = execution
  const { node, mode } = input.spec
  const request = {
    chain: node.chain,
    execution: ready.execution,
    ...accountOf(input.given)
  }
  const isSent = (sending?.sent ?? null) !== null
  if (mode.writes === 'simulate' || (node.simulate && !isSent)) {
    const simulation = await simulateTransaction(ctx, { ...request, ...anew(ctx, input) })
    if (!simulation.ok) {
      const { name, reason } = simulation.revert
      throw nodeFailure(occasion, {
        code: 'reverted',
        message: reason ?? name ?? 'the contract would refuse it',
        phase: 'simulate'
      })
    }
    if (mode.writes === 'simulate') {
      return { outputs: objectOf(simulation.outputs), status: 'simulated' }
    }
  }
  const { budget, maxFee } = allowance
  const refused = budget === undefined ? undefined : await takeBudget(ctx, budget, times)
  if (refused !== undefined) {
    throw nodeFailure(occasion, { code: 'policy_blocked', message: refused, phase: 'policy' })
  }
  if (sending !== undefined) {
    if (!sending.isSealed && times === 1) await sealed(execution, sending.write, occasion)
    return doneWith(execution, await sendSealed(execution, sending))
  }
  const { call } = allowance.judging
  const outcome = await sendTransaction(ctx, {
    ...request,
    ...(call === undefined ? {} : { call: call.execution }),
    ...(maxFee === undefined ? {} : { maxFee }),
    ...decidedOf(input)
  })
  return doneWith(execution, outcome)
}

/** Seals what is about to be sent, where it was not known when the attempt began. */
async function sealed({ ctx }: NodeRun, planned: SealedWrite, occasion: Occasion): Promise<void> {
  checkSealed(planned, await sealWrite(ctx, planned), occasion)
}

/**
 * What was sealed is what is sent: a secret of this program in it would be left out of the journal,
 * and a later attempt would not know what was sent.
 */
export function checkSealed(
  planned: SealedWrite,
  kept: SealedWrite | null,
  occasion: Occasion
): void {
  const [one, other] = [planned.request, kept?.request ?? null]
  if (canonicalize(one as unknown as Json) === canonicalize(other as unknown as Json)) return
  throw nodeFailure(occasion, {
    code: 'invalid_value',
    message: 'what it would send holds a secret of this program, which no ledger may keep',
    phase: 'arguments'
  })
}

function sendSealed({ ctx, input }: NodeRun, { write: planned, sent }: Sending) {
  const { request, generation: from } = planned
  const options = { ...request, ...decidedOf(input), from }
  if (input.spec.node.until === null) return sendNew(ctx, options)
  return sendRepeated(ctx, { ...options, handed: sent?.handed ?? [] })
}

/** What persons have decided about what was sent. */
export function decidedOf({ replace, transaction_hash: corrected }: NodeInput) {
  return {
    ...(replace === undefined ? {} : { replacing: replace }),
    ...(corrected === undefined ? {} : { corrected })
  }
}

/** What an action gives whose transaction is confirmed. */
export function doneWith(
  { ctx, input }: Pick<NodeRun, 'ctx' | 'input'>,
  { hash, outputs, confirmations }: TransactionOutcome
): Executed {
  ctx.log('tx_confirmed', { node: input.spec.node.id, hash, confirmations })
  return { outputs, status: 'done' }
}

function objectOf(value: Json): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : {}
}
