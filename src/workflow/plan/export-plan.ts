import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import type { SimpleExecution } from '../document/execution.js'
import { type AbiFunction, type AbiParameter, isKnownExecution } from '../document/execution.js'
import { type FlowDocument, type FlowNode, importsOf } from '../document/flow.js'
import { planDocumentNames } from '../document/plan-document.js'
import { planExtension } from '../document/plan-import.js'
import type { AisValue } from '../document/value.js'
import type { AisPlan, AisPlanNode } from './plan.js'
import type { ResolvedNode } from './resolve.js'

/** What a workflow was planned to. */
export interface PlannedFlow {
  readonly flow: FlowDocument
  readonly plan: AisPlan
  readonly resolved: ReadonlyMap<string, ResolvedNode>
}

/**
 * The plan of a workflow as AIS writes it (`ais-plan/0.0.3`). What AIS has no place for stands in
 * `extensions.tallystick`, so that the plan leads back to the same workflow. The same documents
 * give the same plan but for `createdAt`.
 */
export function exportPlan(
  { flow, plan, resolved }: PlannedFlow,
  { createdAt }: { readonly createdAt?: string } = {}
): JsonObject {
  const { name, description } = flow.meta
  const nodes = plan.nodes.map((node) => {
    const source = resolved.get(node.source.node)
    return source === undefined ? {} : exportedNode(node, source, { flow, plan })
  })
  return {
    schema: planDocumentNames[1],
    meta: defined({ created_at: createdAt, name, description }),
    nodes,
    extensions: {
      [planExtension]: defined({
        imports:
          importsOf(flow).length === 0
            ? undefined
            : { protocols: importsOf(flow) as unknown as Json },
        inputs: flow.inputs as Json,
        outputs: flow.outputs as Json | undefined,
        policy: flow.policy as Json | undefined,
        preflight: flow.preflight as Json | undefined,
        requires_pack: flow.requires_pack as Json | undefined,
        on_error: flow.on_error
      })
    }
  }
}

function exportedNode(
  planned: AisPlanNode,
  resolved: ResolvedNode,
  { flow, plan }: Pick<PlannedFlow, 'flow' | 'plan'>
): JsonObject {
  const { node, steps, callable } = resolved
  const { id, chain, deps, source, assert, assertMessage, until } = planned
  const { name, version } = plan
  const isLast = id === node.id
  const isAction = planned.kind === 'action'
  const isStep = source.step !== null
  const step = steps.find((one) => one.id === id)
  const kind = isStep ? 'execution' : isAction ? 'action_ref' : 'query_ref'
  const own = ownMembers(resolved, flow)
  return defined({
    id,
    chain,
    kind,
    description: isStep ? undefined : callable.description,
    deps: deps.length === 0 ? undefined : deps,
    condition: joined(node.condition, step?.condition ?? undefined) as Json | undefined,
    assert: (assert ?? undefined) as Json | undefined,
    assert_message: assertMessage ?? undefined,
    until: (until ?? undefined) as Json | undefined,
    retry: retryOf(node, isLast),
    timeout_ms: isLast ? node.timeout_ms : undefined,
    bindings: Object.keys(node.args).length === 0 ? undefined : { params: node.args as Json },
    execution: exportedExecution(planned.execution),
    writes: writesOf(planned),
    source: defined({
      workflow: { name, version },
      node_id: node.id,
      protocol: node.protocol,
      [isAction ? 'action' : 'query']: source.name,
      step_id: source.step ?? undefined
    }),
    extensions: isLast && Object.keys(own).length > 0 ? { [planExtension]: own } : undefined
  })
}

/** A node of a plan that is known without its workflow: from the definition of a run. */
export function exportedDefinitionNode(
  planned: AisPlanNode,
  workflow: { readonly name: string; readonly version: string }
): JsonObject {
  const { id, chain, deps, source, assert, assertMessage, until, retry, timeoutMs } = planned
  const conditions = planned.conditions.map(({ value }) => value)
  const params = planned.params.flatMap(({ name, value }) =>
    value === null ? [] : [[name, value]]
  )
  const isAction = planned.kind === 'action'
  return defined({
    id,
    chain,
    kind: source.step !== null ? 'execution' : isAction ? 'action_ref' : 'query_ref',
    deps: deps.length === 0 ? undefined : deps,
    condition: joined(conditions[0], conditions[1]) as Json | undefined,
    assert: (assert ?? undefined) as Json | undefined,
    assert_message: assertMessage ?? undefined,
    until: (until ?? undefined) as Json | undefined,
    retry:
      retry === null
        ? undefined
        : defined({ interval_ms: retry.intervalMs, max_attempts: retry.maxAttempts ?? undefined }),
    timeout_ms: timeoutMs ?? undefined,
    bindings: params.length === 0 ? undefined : { params: Object.fromEntries(params) as Json },
    execution: exportedExecution(planned.execution),
    writes: writesOf(planned),
    source: defined({
      workflow: { name: workflow.name, version: workflow.version },
      node_id: source.node,
      protocol: source.protocol,
      [isAction ? 'action' : 'query']: source.name,
      step_id: source.step ?? undefined
    })
  })
}

/** Members of a node for which AIS's plans have no place. */
function ownMembers({ node, steps }: ResolvedNode, flow: FlowDocument): JsonObject {
  const { retry, condition, calculated_overrides: overrides, on_error: onError } = node
  const isComposite = steps.some(({ step }) => step !== null)
  const isOneChain = new Set(steps.map(({ chain }) => chain)).size === 1
  const isPlain =
    retry === undefined || (retry.backoff === 'fixed' && !('max_interval_ms' in retry))
  return defined({
    retry: isPlain ? undefined : bare(retry),
    condition: isComposite ? ((condition ?? null) as Json) : undefined,
    // A step may be on another chain than its node.
    chain: isOneChain ? undefined : (node.chain ?? flow.default_chain),
    calculated_overrides:
      Object.keys(overrides).length === 0 ? undefined : (overrides as unknown as Json),
    on_error: onError
  })
}

function retryOf({ retry }: FlowNode, isLast: boolean): Json | undefined {
  if (retry === undefined || !isLast) return undefined
  return defined({ interval_ms: retry.interval_ms, max_attempts: retry.max_attempts })
}

function bare(value: object): Json {
  const { extensions: _, ...rest } = value as Readonly<Record<string, Json>>
  return rest
}

/** As AIS joins the condition of a node and that of a step. */
function joined(one: AisValue | undefined, other: AisValue | undefined): AisValue | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return { cel: `((${celOf(one)}) && (${celOf(other)}))` }
}

function celOf(value: AisValue): string {
  if ('cel' in value) return value.cel
  if ('ref' in value) return value.ref
  return JSON.stringify('lit' in value ? value.lit : value)
}

function writesOf({ id, kind, source }: AisPlanNode): Json | undefined {
  const { node, step } = source
  const whole = `nodes.${node}.outputs`
  if (step === null) return kind === 'query' ? [{ path: whole, mode: 'set' }] : undefined
  const own = { path: `${whole}.steps.${step}`, mode: 'set' }
  return id === node ? [{ path: whole, mode: 'merge' }, own] : [own]
}

/** An execution with the members that AIS knows; ours stand in its `extensions`. */
export function exportedExecution(execution: SimpleExecution): JsonObject {
  if (!isKnownExecution(execution)) return execution as unknown as JsonObject
  switch (execution.type) {
    case 'evm_read':
    case 'evm_call': {
      const { errors, abi, extensions: _, ...rest } = execution
      const events = 'events' in rest ? rest.events : undefined
      const known = { ...rest, events: undefined, abi: abiOf(abi) }
      return withOwn(known as never, { errors, events } as never)
    }
    case 'evm_multiread': {
      const { errors, calls, extensions: _, ...rest } = execution
      return withOwn({ ...rest, calls: calls.map(callOf) } as never, { errors } as never)
    }
    case 'evm_multicall': {
      const { errors, events, value, calls, extensions: _, ...rest } = execution
      const known = { ...rest, calls: calls.map(callOf) }
      return withOwn(known as never, { errors, events, value } as never)
    }
    case 'solana_instruction': {
      const { accounts, discriminator, lookup_tables: tables, extensions: _, ...rest } = execution
      return defined({
        ...(rest as unknown as JsonObject),
        accounts: accounts.map(({ name, pubkey, signer, writable }) => ({
          name,
          pubkey,
          signer: literally(signer),
          writable: literally(writable)
        })) as unknown as Json,
        discriminator: discriminator === undefined ? undefined : literally(discriminator),
        lookup_tables: (Array.isArray(tables) ? { array: tables } : tables) as Json | undefined
      })
    }
    case 'solana_read':
    case 'bitcoin_psbt':
      return bare(execution) as JsonObject
  }
}

function callOf<Call extends { readonly abi: AbiFunction }>({ abi, ...call }: Call) {
  return { ...(bare(call) as JsonObject), abi: abiOf(abi) }
}

function literally(value: AisValue | string | boolean): Json {
  return typeof value === 'object' ? (value as unknown as Json) : { lit: value }
}

function abiOf({ name, inputs, outputs }: AbiFunction): JsonObject {
  return {
    type: 'function',
    name,
    inputs: inputs.map(parameterOf),
    outputs: outputs.map(parameterOf)
  }
}

function parameterOf({ name, type, components }: AbiParameter): JsonObject {
  return defined({ name, type, components: components?.map(parameterOf) })
}

function withOwn(known: JsonObject, own: JsonObject): JsonObject {
  const ours = defined(own)
  const isPlain = Object.keys(ours).length === 0
  return defined({ ...known, extensions: isPlain ? undefined : { [planExtension]: ours } })
}

function defined(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined)
  const plain: Json = JSON.parse(JSON.stringify(Object.fromEntries(entries)))
  return isJsonObject(plain) ? plain : {}
}
