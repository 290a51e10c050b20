import { type BlockContext, BlockFailure, EffectFailure } from '../../code/index.js'
import type { Json, JsonObject } from '../../core/index.js'
import { type ChainFailure, chainFailureOf } from '../../executor/index.js'
import type { NodeFailureCode } from '../diagnostic/codes.js'
import {
  type DiagnosticPhase,
  type NodeDiagnostic,
  nodeDiagnostic
} from '../diagnostic/diagnostic.js'
import type { AisPlanNode } from '../plan/plan.js'
import type { NodeError } from '../readiness/evaluator.js'
import type { InputProblem } from '../readiness/runtime.js'

/**
 * Ends an attempt of a node; the details hold its diagnostic (W10). The error type is
 * `AisRetryable` or `AisFinal`, so that a recovery list can retry the former alone.
 */
export class NodeFailure extends BlockFailure {
  override readonly name: 'AisRetryable' | 'AisFinal'

  /** `isPassing`: whether it may pass by itself; else a retry needs somebody to mend it first. */
  constructor(diagnostic: NodeDiagnostic, isPassing = diagnostic.retryable) {
    super(diagnostic.code, { diagnostic } as unknown as Json)
    this.name = isPassing ? 'AisRetryable' : 'AisFinal'
  }
}

/** Where and when a node fails; `elapsedMs` is what it has slept in this attempt. */
export interface Occasion {
  readonly ctx: Pick<BlockContext, 'attempt' | 'unitId'>
  readonly node: AisPlanNode
  readonly elapsedMs: number
}

interface Fault<Code extends string = NodeFailureCode> {
  readonly code: Code
  readonly message: string
  readonly phase: DiagnosticPhase
  readonly retryable?: boolean
  readonly values?: NonNullable<NodeDiagnostic['values']>
  readonly lastOutputs?: JsonObject
}

/** A failure that the engine itself finds. */
export function nodeFailure(occasion: Occasion, fault: Fault): NodeFailure {
  return failureOf(occasion, fault)
}

function failureOf({ ctx, node, elapsedMs }: Occasion, fault: Fault<string>): NodeFailure {
  const { retryable = false, ...rest } = fault
  return new NodeFailure(
    nodeDiagnostic({
      ...rest,
      retryable,
      sent: false,
      nodeId: node.id,
      chain: node.chain,
      executionType: node.execution.type,
      attempt: ctx.attempt,
      elapsedMs,
      lastCheckpoint: ctx.unitId
    })
  )
}

/** What a failure says of inputs that are not what the workflow declares. */
export function invalidInputs(
  problems: readonly InputProblem[]
): Pick<Fault, 'code' | 'message'> & Required<Pick<Fault, 'values'>> {
  const values = problems.map(({ name, problem }) => ({
    place: `inputs.${name}`,
    message: problem
  }))
  const message = values.map(({ place, message: one }) => `${place}: ${one}`).join('; ')
  return { code: 'invalid_input', message, values }
}

/** A node whose values are wrong. */
export function valuesFailure(occasion: Occasion, errors: readonly NodeError[]): NodeFailure {
  const [first] = errors
  const phase = first?.place.startsWith('condition') === true ? 'condition' : 'arguments'
  return nodeFailure(occasion, {
    code: first?.code ?? 'invalid_value',
    message: errors.map(({ place, message }) => `${place}: ${message}`).join('; '),
    phase,
    values: errors.map(({ place, message }) => ({ place, message }))
  })
}

const phases: Readonly<Record<ChainFailure['phase'], DiagnosticPhase>> = {
  check: 'check',
  read: 'read',
  simulate: 'simulate',
  prepare: 'prepare',
  send: 'send',
  confirm: 'send'
}

/** Passes an error of the executor on as the node's failure; others as they are. */
export function rethrown(error: unknown, occasion: Occasion, fallback: DiagnosticPhase): never {
  if (error instanceof NodeFailure) throw error
  const chain = failureIn(error)
  if (chain !== undefined) throw fromChain(chain, occasion)
  if (error instanceof EffectFailure) {
    const { reason } = error
    const message = `the effect that it asks for has failed: ${reason}`
    throw failureOf(occasion, { code: reason, message, phase: fallback, retryable: true })
  }
  throw error
}

/** The chain failure that an error brings, whichever way it was thrown. */
export function failureIn(error: unknown): ChainFailure | undefined {
  return chainFailureOf(error instanceof BlockFailure ? error.details : error)
}

function fromChain(failure: ChainFailure, { ctx, node, elapsedMs }: Occasion): NodeFailure {
  const { code, message, phase, retryable, sent, rpc, revert, transaction } = failure
  const { logs, programError } = failure
  return new NodeFailure(
    nodeDiagnostic({
      code,
      message,
      phase: phases[phase],
      retryable,
      sent,
      nodeId: node.id,
      chain: node.chain,
      executionType: node.execution.type,
      attempt: ctx.attempt,
      elapsedMs,
      lastCheckpoint: ctx.unitId,
      ...(rpc === undefined
        ? {}
        : { rpc: { method: rpc.method, request: rpc.request, response: rpc.response } }),
      ...(revert === undefined ? {} : { revert: revert as unknown as Json }),
      ...(logs === undefined ? {} : { logs }),
      ...(programError === undefined ? {} : { programError: programError as unknown as Json }),
      ...(transaction === undefined ? {} : { transaction })
    })
  )
}
