import { finishSent } from '../../executor/index.js'
import { isPlugin, type Verdict } from '../policy/gate.js'
import type { Readiness, ReadyNode } from '../readiness/readiness.js'
import { approve, type Judging, judged, judgingOf } from './approve.js'
import { checked, execute } from './execute.js'
import { type Occasion, rethrown } from './failure.js'
import { type Asked, accountOf, type Gathered, gather, runtimeFor } from './gather.js'
import type { NodeRun, Sending } from './node-run.js'
import { areForExecution } from './refuse.js'
import { resultOf, skipped, tellReady } from './result.js'
import {
  type EarlierWrite,
  earlierWrite,
  type GivenValues,
  nothingGiven,
  type SealedWrite,
  sealWrite
} from './sealed-write.js'
import type { NodeResult } from './spec.js'
import { checkSealed, decidedOf, doneWith } from './write.js'

type Sent = NonNullable<EarlierWrite['sent']>

/**
 * One attempt of an action. Whatever its values would be now, what an earlier attempt has sent, or
 * may have sent, is finished first: another execution is only made once that one certainly has had
 * no effect (W11).
 *
 * 1. What is sent was sealed before, with all that it was made of.
 * 2. An attempt finds what was sent before, or knows that it came to nothing, or fails as one whose
 *    outcome is unknown.
 */
export async function actOnce(asked: Asked, occasion: Occasion): Promise<NodeResult> {
  const earlier = await writtenBefore(asked, occasion)
  const next = earlier?.next ?? 0
  const sent = earlier?.sent ?? null
  if (sent === null) return actAnew(asked, occasion, { next, before: nothingGiven })
  // What an action sends again while it polls is the same each time.
  if (asked.input.spec.node.until !== null) return repeated(asked, occasion, sent)
  const finished = sent.isLast ? await finish(asked, occasion, sent) : undefined
  return finished ?? actAnew(asked, occasion, { next, before: sent.write.given })
}

async function writtenBefore({ ctx }: Asked, occasion: Occasion): Promise<EarlierWrite | null> {
  if (ctx.attempt === 1) return null
  try {
    return await earlierWrite(ctx)
  } catch (error) {
    return rethrown(error, occasion, 'send')
  }
}

/** Undefined: what was sent has certainly had no effect. */
async function finish(
  asked: Asked,
  occasion: Occasion,
  sent: Sent
): Promise<NodeResult | undefined> {
  const { ctx, input } = asked
  const { write, generation, hash, handed } = sent
  const outcome = await finishSent(ctx, {
    ...write.request,
    ...decidedOf(input),
    from: generation,
    handed,
    ...(hash === null ? {} : { only: hash })
  }).catch((error: unknown) => rethrown(error, occasion, 'send'))
  if (outcome === undefined) return undefined
  tellPassedOver(asked, sent, outcome.hash)
  const execution = asSealed(asked, occasion, sent)
  const executed = checked(execution, doneWith(asked, outcome))
  return resultOf(input, execution.gathered, write, executed)
}

/** A patch that was accepted once nothing seemed to have come of what was sent. */
function tellPassedOver({ ctx, input, values }: Asked, { patched = [] }: Sent, hash: string): void {
  if (patched.length === 0 || !areForExecution(input, patched, values)) return
  const paths = patched.join(', ')
  const problem = `${hash} was sent before the change of ${paths}, and has taken effect`
  ctx.log('patch_rejected', { node: input.spec.node.id, problem })
}

async function repeated(asked: Asked, occasion: Occasion, sent: Sent): Promise<NodeResult> {
  const execution = asSealed(asked, occasion, sent)
  const { judging } = execution.allowance
  const verdict = judged(asked.input, execution.ready, occasion, { judging, times: 1 })
  const executed = await execute({ ...execution, allowance: { ...verdict, judging } })
  return resultOf(asked.input, execution.gathered, sent.write, executed)
}

/** The node as it was when it was sent; what persons have changed since is read behind it. */
function asSealed(asked: Asked, occasion: Occasion, sent: Sent): NodeRun {
  const { write } = sent
  const { given, found, calculated, amounts, request } = write
  const { call, ...of } = write.judged ?? {}
  const ready: ReadyNode = {
    state: 'ready',
    params: {},
    ...of,
    calculated,
    ...(amounts === undefined ? {} : { amounts }),
    contracts: {},
    execution: request.execution
  }
  const start = runtimeFor(asked.input, occasion, [found, given])
  const gathered: Gathered = { ...start, readiness: ready, given, found }
  const judging = { looksBehind: true, ...(call === undefined ? {} : { call }) }
  const sending = { write, isSealed: true, sent }
  return { ...asked, gathered, ready, allowance: { judging }, sending }
}

interface Before {
  /** Number of the next transaction of the step. */
  readonly next: number
  /** What persons have given then. */
  readonly before: GivenValues
}

/** An attempt before which nothing was sent, or nothing that had an effect. */
async function actAnew(
  asked: Asked,
  occasion: Occasion,
  { next, before }: Before
): Promise<NodeResult> {
  const { ctx, input } = asked
  const plan = new PlannedWrite(asked, occasion, next)
  const gathered = await gather(asked, occasion, {
    keepsTime: false,
    before,
    // In its place, a later attempt asks what was sent: the calls behind it have the same numbers.
    looked: async (readiness) => {
      if (ctx.attempt === 1) await plan.look(readiness)
    }
  })
  const { readiness: ready } = gathered
  if (ready.state === 'skipped') return skipped(ctx, input, gathered)
  tellReady(ctx, input)
  const judging = await judgingOf(ctx, input, ready, { occasion, looksBehind: true })
  const { verdict, sending } = plan.of(ready, gathered, judging)
  const allowance = await approve(ctx, input, ready, occasion, judging, verdict)
  const executed = await execute({ ...asked, gathered, ready, allowance, sending })
  return resultOf(input, gathered, ready, executed)
}

interface Planned {
  readonly verdict: Verdict
  readonly sending: Sending
}

/** What an attempt is about to send. Owns: it, once it is known. */
class PlannedWrite {
  readonly #asked: Asked
  readonly #occasion: Occasion
  readonly #generation: number
  #known: Planned | undefined

  constructor(asked: Asked, occasion: Occasion, generation: number) {
    this.#asked = asked
    this.#occasion = occasion
    this.#generation = generation
  }

  /** Seals it where nothing has to be asked for. */
  async look(readiness: Exclude<Readiness, { readonly state: 'failed' }>): Promise<void> {
    if (readiness.state === 'skipped') return
    const planned = readiness.state === 'ready' ? this.#planned(readiness) : undefined
    const write = planned?.sending.write ?? null
    const kept = await sealWrite(this.#asked.ctx, write)
    if (write !== null) checkSealed(write, kept, this.#occasion)
    this.#known = planned
  }

  /** Undefined: its executor has to be asked what it would send. */
  #planned(ready: ReadyNode): Planned | undefined {
    if (isPlugin(ready.execution.type)) return undefined
    const nothing = { given: nothingGiven, found: nothingGiven }
    return this.#plan(ready, nothing, { judging: { looksBehind: true }, isSealed: true })
  }

  of(ready: ReadyNode, gathered: Gathered, judging: Judging): Planned {
    this.#known ??= this.#plan(ready, gathered, { judging, isSealed: false })
    return this.#known
  }

  #plan(
    ready: ReadyNode,
    { given, found }: Pick<Gathered, 'given' | 'found'>,
    { judging, isSealed }: { readonly judging: Judging; readonly isSealed: boolean }
  ): Planned {
    const { input } = this.#asked
    const { node } = input.spec
    const verdict = judged(input, ready, this.#occasion, { judging, times: 1 })
    const { call } = judging
    const { execution, params, constraints, calculated, amounts } = ready
    const { maxFee } = verdict
    const more = {
      ...(constraints === undefined ? {} : { constraints }),
      ...(call === undefined ? {} : { call })
    }
    const write: SealedWrite = {
      kind: 'execution',
      request: {
        chain: node.chain,
        execution,
        ...(call === undefined ? {} : { call: call.execution }),
        ...accountOf(input.given),
        ...(maxFee === undefined ? {} : { maxFee })
      },
      generation: this.#generation,
      calculated,
      ...(amounts === undefined ? {} : { amounts }),
      ...(node.until === null ? {} : { judged: { params, ...more } }),
      given,
      found
    }
    return { verdict, sending: { write, isSealed, sent: null } }
  }
}
