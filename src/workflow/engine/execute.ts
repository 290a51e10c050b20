import type { JsonObject } from '../../core/index.js'
import { limits, setOwn } from '../../core/index.js'
import { readChain } from '../../executor/index.js'
import type { PlanRetry } from '../plan/plan.js'
import { ownCondition } from '../readiness/readiness.js'
import { type NodeValues, withNodes } from '../readiness/runtime.js'
import { refuseAgain } from './approve.js'
import { isInDoubt } from './diagnose.js'
import {
  failureIn,
  NodeFailure,
  nodeFailure,
  type Occasion,
  rethrown,
  valuesFailure
} from './failure.js'
import { runtimeAt } from './gather.js'
import { anew, type Executed, type NodeRun } from './node-run.js'
import { hasRules } from './node-spec.js'
import { returnedBy } from './returns.js'
import { write } from './write.js'

/**
 * Executes a ready node: once, or until its condition holds (W5); then checks what must hold
 * afterwards. Every touch of a chain is an effect of `ctx`.
 */
export async function execute(execution: NodeRun): Promise<Executed> {
  const { ctx, input } = execution
  const { node } = input.spec
  const { retry, until } = node
  if (until === null || retry === null) {
    const executed = await once(execution, occasionOf(execution, 0), 1)
    if (node.kind === 'query') ctx.log('query_result', { node: node.id, attempt: 1, done: true })
    return asserted(execution, executed, 0)
  }
  const most = Math.min(retry.maxAttempts ?? limits.POLL_ATTEMPTS_MAX, limits.POLL_ATTEMPTS_MAX)
  let elapsedMs = 0
  let last: JsonObject = {}
  for (let attempt = 1; ; attempt += 1) {
    const occasion = occasionOf(execution, elapsedMs)
    const { judging } = execution.allowance
    refuseAgain(input, execution.ready, occasion, { times: attempt, judging })
    const executed = await polled(execution, occasion, { attempt, mayGoOn: attempt < most })
    if (executed !== undefined) {
      last = executed.outputs
      const held = holds('until', execution, executed, occasion)
      ctx.log('query_result', { node: node.id, attempt, done: held })
      if (held) return asserted(execution, executed, elapsedMs)
    }
    if (attempt >= most) {
      throw nodeFailure(occasion, {
        code: 'until_exhausted',
        message: `after ${attempt} executions its condition does not hold`,
        phase: 'until',
        retryable: true,
        lastOutputs: last
      })
    }
    const delayMs = pollDelayMs(retry, attempt)
    elapsedMs += delayMs
    ctx.log('node_waiting', { node: node.id, attempt, delayMs })
    await ctx.sleep(delayMs)
  }
}

/** Delay after execution k (W5): fixed i, linear i*k, exp i*2^(k-1), capped. Milliseconds. */
export function pollDelayMs(retry: PlanRetry, attempt: number): number {
  const cap = Math.min(retry.maxIntervalMs ?? limits.RETRY_DELAY_MS_MAX, limits.RETRY_DELAY_MS_MAX)
  switch (retry.backoff) {
    case 'fixed':
      return Math.min(retry.intervalMs, cap)
    case 'linear':
      return Math.min(retry.intervalMs * attempt, cap)
    case 'exp':
      return Math.min(retry.intervalMs * 2 ** (attempt - 1), cap)
  }
}

/** One execution of a poll; undefined when it failed in a way that may pass. */
async function polled(
  execution: NodeRun,
  occasion: Occasion,
  { attempt, mayGoOn }: { readonly attempt: number; readonly mayGoOn: boolean }
): Promise<Executed | undefined> {
  try {
    return await once(execution, occasion, attempt)
  } catch (error) {
    // What was sent may take effect yet: sending it again would be beside it.
    if (execution.sending !== undefined && isOpen(error)) throw error
    const failure = failureIn(error)
    const isPassing = failure?.retryable === true && !failure.sent
    if (!mayGoOn || !(isPassing || isRetryable(error))) throw error
    return undefined
  }
}

function isOpen(error: unknown): boolean {
  return error instanceof NodeFailure && isInDoubt({ details: error.details })
}

function isRetryable(error: unknown): boolean {
  return error instanceof Error && error.name === 'AisRetryable'
}

async function once(execution: NodeRun, occasion: Occasion, attempt: number): Promise<Executed> {
  const { node } = execution.input.spec
  try {
    const given =
      node.kind === 'query' ? await read(execution) : await write(execution, occasion, attempt)
    return returned(execution, given, occasion)
  } catch (error) {
    return rethrown(error, occasion, node.kind === 'query' ? 'read' : 'send')
  }
}

function returned(execution: NodeRun, given: Executed, occasion: Occasion): Executed {
  const { spec } = execution.input
  const found = returnedBy(spec.node, given.outputs, spec)
  if (found.ok) return { status: given.status, outputs: withSteps(execution, found.outputs) }
  throw nodeFailure(occasion, {
    code: 'returns_mismatch',
    message: `what it gave is not what it declares: ${found.problem}`,
    phase: 'returns',
    lastOutputs: given.outputs
  })
}

/** Checks what an execution of an earlier attempt has given, as {@link execute} does. */
export function checked(execution: NodeRun, given: Executed): Executed {
  const occasion = occasionOf(execution, 0)
  return asserted(execution, returned(execution, given, occasion), 0)
}

async function read({ ctx, input, ready }: NodeRun): Promise<Executed> {
  const { chain, block } = input.spec.node
  const at = block === undefined ? {} : { block }
  const request = { chain, execution: ready.execution, ...at, ...anew(ctx, input) }
  return { outputs: await readChain(ctx, request), status: 'done' }
}

function asserted(execution: NodeRun, executed: Executed, elapsedMs: number): Executed {
  const { node } = execution.input.spec
  const occasion = occasionOf(execution, elapsedMs)
  if (holds('assert', execution, executed, occasion)) return executed
  throw nodeFailure(occasion, {
    code: 'assert_failed',
    message: node.assertMessage ?? 'what must hold after it does not hold',
    phase: 'assert',
    lastOutputs: executed.outputs
  })
}

function holds(
  which: 'until' | 'assert',
  { ctx, input, gathered, ready, values }: NodeRun,
  { outputs }: Executed,
  occasion: Occasion
): boolean {
  const { node } = input.spec
  if (node[which] === null) return true
  const { calculated, amounts } = ready
  const isTyped = hasRules(input.spec, 3) && amounts !== undefined
  const own = isTyped ? { outputs, calculated, amounts } : { outputs, calculated }
  // Set afterwards: behind a spread, a computed name takes three times as long.
  const nodes: Record<string, NodeValues | null> = { ...gathered.runtime.nodes }
  setOwn(nodes, node.source.node, own)
  const nowMs = ctx.now() + occasion.elapsedMs
  const runtime = runtimeAt(withNodes(gathered.runtime, nodes), input.spec, nowMs)
  const result = ownCondition(which, node, runtime, values)
  if (result.ok) return result.holds
  throw valuesFailure(occasion, [result.error])
}

/** The last step of a composite stands among its steps, too. */
function withSteps({ input }: NodeRun, outputs: JsonObject): JsonObject {
  const { step } = input.spec.node.source
  const isLast = step !== null && input.spec.node.id === input.spec.node.source.node
  return isLast ? { ...outputs, steps: { [step]: outputs } } : outputs
}

function occasionOf({ ctx, input }: NodeRun, elapsedMs: number): Occasion {
  return { ctx, node: input.spec.node, elapsedMs }
}
