import type { DocumentPath } from '../../core/index.js'
import { abiReturns } from '../document/check-protocol.js'
import { isComposite, isKnownExecution, type SimpleExecution } from '../document/execution.js'
import type { FlowDocument, FlowNode } from '../document/flow.js'
import type { Issues } from '../document/issue.js'
import type { ActionDocument, ProtocolDocument, QueryDocument } from '../document/protocol.js'
import type { AisValue } from '../document/value.js'
import type { Protocols } from './catalogue.js'
import { selectPattern } from './select.js'

/** A node of a workflow with what its names lead to. */
export interface ResolvedNode {
  readonly node: FlowNode
  readonly path: DocumentPath
  readonly protocol: ProtocolDocument
  readonly name: string
  readonly callable: ActionDocument | QueryDocument
  /** Null for queries. */
  readonly action: ActionDocument | null
  readonly pattern: string
  /** One, or those of a composite in order; the last has the node's id. */
  readonly steps: readonly ResolvedStep[]
  readonly returns: readonly { readonly name: string; readonly type: string }[]
}

export interface ResolvedStep {
  /** Id in the plan. */
  readonly id: string
  /** Null when the action is not a composite. */
  readonly step: string | null
  readonly chain: string
  readonly condition: AisValue | null
  readonly execution: SimpleExecution
}

interface Options {
  readonly flow: FlowDocument
  readonly protocols: Protocols
  readonly defaultChain: string | undefined
}

/** Looks up what a node names (W1); undefined with issues when that leads nowhere. */
export function resolveNode(
  node: FlowNode,
  path: DocumentPath,
  { flow, protocols, defaultChain }: Options,
  issues: Issues
): ResolvedNode | undefined {
  const protocol = protocols.get(node.protocol)
  if (protocol === undefined) {
    issues.error('unknown_protocol', `the protocol ${node.protocol} is not given`, ['protocol'])
  }
  const kind = node.type === 'action_ref' ? 'action' : 'query'
  const other = kind === 'action' ? 'query' : 'action'
  if (node[other] !== undefined) {
    issues.error('schema_violation', `a node of type ${node.type} has no ${other}`, [other])
  }
  const name = node[kind]
  if (name === undefined) issues.error('schema_violation', `it needs the name of its ${kind}`)
  const chain = node.chain ?? flow.default_chain ?? defaultChain
  if (chain === undefined) {
    issues.error('no_chain', 'neither the node nor the workflow says on which chain')
  }
  if (protocol === undefined || name === undefined || chain === undefined) return undefined
  const action = kind === 'action' ? own(protocol.actions, name) : undefined
  const callable = kind === 'action' ? action : own(protocol.queries, name)
  if (callable === undefined) {
    const code = kind === 'action' ? 'unknown_action' : 'unknown_query'
    issues.error(code, `${node.protocol} has no ${kind} ${name}`, [kind])
    return undefined
  }
  const chosen = stepsOf(node, chain, callable, issues)
  if (chosen === undefined) return undefined
  const { steps, pattern } = chosen
  const returns = returnsOf(callable, steps)
  return { node, path, protocol, name, callable, action: action ?? null, pattern, steps, returns }
}

function stepsOf(
  node: FlowNode,
  chain: string,
  callable: ActionDocument | QueryDocument,
  issues: Issues
): { readonly steps: readonly ResolvedStep[]; readonly pattern: string } | undefined {
  const pattern = selectPattern((key) => Object.hasOwn(callable.execution, key), chain)
  const execution = pattern === undefined ? undefined : own(callable.execution, pattern)
  if (pattern === undefined || execution === undefined) {
    issues.error('no_execution', `${node.protocol} says nothing about ${chain}`, ['chain'])
    return undefined
  }
  if (!isComposite(execution)) {
    const own = withoutExtensions(execution)
    const step = { id: node.id, step: null, chain, condition: null, execution: own }
    return { pattern, steps: [step] }
  }
  if (node.until !== undefined) {
    issues.error('polling_refused', 'an action of several steps cannot be polled', ['until'])
  }
  const last = execution.steps.length - 1
  const steps = execution.steps.map((step, index) => ({
    id: index === last ? node.id : `${node.id}__${step.id}`,
    step: step.id,
    chain: step.chain ?? chain,
    condition: step.condition ?? null,
    execution: withoutExtensions(step.execution)
  }))
  return { pattern, steps }
}

/** Free data of an execution is no part of what is done. */
function withoutExtensions(execution: SimpleExecution): SimpleExecution {
  const parts = Object.values(execution).flatMap((one) => (Array.isArray(one) ? one : []))
  if (![execution, ...parts].some((one) => hasExtensions(one))) return execution
  const bare = (one: unknown) => {
    if (!hasExtensions(one)) return one
    const { extensions: _, ...rest } = one
    return rest
  }
  const entries = Object.entries(bare(execution) as object).map(
    ([name, one]) => [name, Array.isArray(one) ? one.map(bare) : one] as const
  )
  return Object.fromEntries(entries) as SimpleExecution
}

function hasExtensions(value: unknown): value is { readonly extensions: unknown } {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'extensions')
}

function returnsOf(
  callable: ActionDocument | QueryDocument,
  steps: readonly ResolvedStep[]
): ResolvedNode['returns'] {
  if (callable.returns.length > 0) {
    return callable.returns.map(({ name, type }) => ({ name, type }))
  }
  return readReturns(steps.at(-1)?.execution)
}

/** Returns of a read as its ABI or its method says them; none for everything else. */
export function readReturns(execution: SimpleExecution | undefined): ResolvedNode['returns'] {
  if (execution === undefined) return []
  if (!isKnownExecution(execution)) {
    const number = execution.type === 'evm_rpc' && numbersOfChain.has(String(execution.method))
    return number ? [{ name: 'result', type: 'uint256' }] : []
  }
  switch (execution.type) {
    case 'evm_read':
      return abiReturns(execution.abi.outputs)
    case 'solana_read':
      return execution.method === 'getBalance' ? [{ name: 'lamports', type: 'uint64' }] : []
    default:
      return []
  }
}

/** Methods of EVM nodes whose result is a number: hexadecimal on the wire, an amount in CEL. */
const numbersOfChain: ReadonlySet<string> = new Set([
  'eth_getBalance',
  'eth_blockNumber',
  'eth_gasPrice',
  'eth_getTransactionCount'
])

function own<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}
