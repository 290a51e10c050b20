import { type BlockContext, EffectFailure } from '../../code/index.js'
import type { Json, JsonObject } from '../../core/index.js'
import { askCall, type ChainCall, resolveAccount } from '../../executor/index.js'
import { isPlugin, policyVerdict, type Verdict } from '../policy/gate.js'
import type { PolicyHit } from '../policy/hit.js'
import { policyHash } from '../policy/policy.js'
import type { ReadyNode } from '../readiness/readiness.js'
import { nodeFailure, type Occasion, rethrown } from './failure.js'
import { accountOf } from './gather.js'
import { hasRules, nodeHash } from './node-spec.js'
import type { NodeInput } from './spec.js'

/** What holds a write that was let go when it is sent. */
export interface Allowance extends Pick<Verdict, 'budget' | 'maxFee'> {
  readonly judging: Judging
}

/** What a policy judges by, beside the node itself. */
export interface Judging {
  /** Whether what plugins send is asked of them, and fees of Solana are held. */
  readonly looksBehind: boolean
  /** What is sent for an execution of a plugin; absent: it is not known. */
  readonly call?: ChainCall
}

/** Asks the executor of a plugin what it would send, so that this is judged. */
export async function judgingOf(
  ctx: BlockContext,
  { spec }: NodeInput,
  { execution }: ReadyNode,
  about: { readonly occasion: Occasion; readonly looksBehind: boolean }
): Promise<Judging> {
  const { looksBehind, occasion } = about
  const { chain, risk } = spec.node
  if (!looksBehind || risk === null || !isPlugin(execution.type)) return { looksBehind }
  try {
    const call = await askCall(ctx, { chain, execution })
    return call === null ? { looksBehind } : { looksBehind, call }
  } catch (error) {
    // A program may answer the effects of chains without this one.
    const isUnanswered = error instanceof EffectFailure && error.reason === 'no_provider'
    return isUnanswered ? { looksBehind } : rethrown(error, occasion, 'policy')
  }
}

/**
 * Holds a write to the policy and, where it asks, waits for a person (W7, W12). What they are shown
 * is what is executed: the wait's digest covers chain, signer, arguments, the node as it was
 * planned and the policy, besides run and step. Gives what holds it when it is sent.
 */
export async function approve(
  ctx: BlockContext,
  input: NodeInput,
  ready: ReadyNode,
  occasion: Occasion,
  judging: Judging,
  verdict: Verdict = judged(input, ready, occasion, { judging, times: 1 })
): Promise<Allowance> {
  const { node, policy, mode } = input.spec
  if (mode.writes === 'simulate' || node.risk === null) return { judging }
  const hits = reasonsToAsk(verdict, input)
  const { call } = judging
  if (hits.length === 0) return { ...verdict, judging }
  const signer = await signerOf(ctx, input, occasion)
  const request: JsonObject = {
    kind: 'confirm',
    nodeId: node.id,
    actionRef: `${node.source.protocol}/${node.source.name}`,
    step: node.source.step,
    chain: node.chain,
    executionType: node.execution.type,
    signer,
    arguments: ready.params,
    execution: ready.execution,
    ...(call === undefined ? {} : { call: call.execution }),
    // What was judged is what is shown, and what the answer's digest covers.
    ...shownEffects(verdict),
    riskLevel: verdict.riskLevel,
    hitReasons: hits.map(({ reason, message }) => ({ reason, message })),
    packs: policy.packs,
    nodeHash: nodeHash(node),
    policyHash: policyHash(policy)
  }
  ctx.log('need_user_confirm', { node: node.id, reasons: hits.map(({ reason }) => reason) })
  // Where only the run's mode asks, its owner answers without approvers.
  const approvers = verdict.hits.length === 0 ? undefined : policy.approvers
  const signed = approvers === undefined ? {} : { approvers }
  const answer = await ctx.wait({ reason: 'confirmation', request, ...signed })
  if (answer.action === 'approve' || answer.action === 'resume') return { ...verdict, judging }
  throw nodeFailure(occasion, {
    code: 'denied',
    message: 'a person has refused it',
    phase: 'confirm'
  })
}

/** Refuses what an action sends again while it polls, where all of it is beyond a bound. */
export function refuseAgain(
  input: NodeInput,
  ready: ReadyNode,
  occasion: Occasion,
  how: { readonly times: number; readonly judging: Judging }
): void {
  if (how.times > 1 && hasRules(input.spec, 3)) judged(input, ready, occasion, how)
}

/** What the policy says of an execution; throws where it refuses it. */
export function judged(
  input: NodeInput,
  ready: ReadyNode,
  occasion: Occasion,
  { times, judging }: { readonly times: number; readonly judging: Judging }
): Verdict {
  const { node, policy } = input.spec
  const isMeasured = hasRules(input.spec, 3)
  const { call, looksBehind: holdsSolana } = judging
  const verdict = policyVerdict(node, ready, policy, { isMeasured, times, call, holdsSolana })
  if (verdict.kind !== 'block') return verdict
  throw nodeFailure(occasion, {
    code: 'policy_blocked',
    message: verdict.hits.map(({ message }) => message).join('; '),
    phase: 'policy',
    values: verdict.hits.map(({ reason, message }) => ({ place: reason, message }))
  })
}

function shownEffects({ measured, maxFee }: Verdict): JsonObject {
  if (measured === undefined) return {}
  const { effects, undecoded } = measured
  const fee = maxFee === undefined ? {} : { maxFee }
  return { effects: effects as unknown as Json, undecoded, ...fee }
}

function reasonsToAsk(verdict: Verdict, { spec }: NodeInput): readonly Ask[] {
  const { mode, policy } = spec
  // What approvers have to sign counts as given by nothing else.
  const isGiven = mode.yes && policy.approvers === undefined
  const asked: readonly Ask[] = isGiven ? [] : verdict.hits
  if (mode.writes !== 'ask') return asked
  const message = 'this run may not send by itself; approving sends this one transaction'
  return [...asked, { reason: 'not_broadcast', message }]
}

interface Ask {
  readonly reason: PolicyHit['reason'] | 'not_broadcast'
  readonly message: string
}

async function signerOf(ctx: BlockContext, input: NodeInput, occasion: Occasion): Promise<Json> {
  try {
    const request = { chain: input.spec.node.chain, ...accountOf(input.given) }
    const { address, canSign } = await resolveAccount(ctx, request)
    return { address, canSign }
  } catch (error) {
    return rethrown(error, occasion, 'confirm')
  }
}
