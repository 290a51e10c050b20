import {
  type DocumentPath,
  isSliceFull,
  type Json,
  type Pieces,
  passSteps
} from '../../core/index.js'
import { typedAs } from '../type/check.js'
import {
  type AbiFunction,
  type AbiParameter,
  isComposite,
  isKnownExecution,
  type SimpleExecution
} from './execution.js'
import type { Issues } from './issue.js'
import type { ActionDocument, ProtocolDocument, QueryDocument, ReturnDocument } from './protocol.js'

/**
 * What is wrong with a protocol beyond its schema: names that stand twice, parameters whose asset
 * is missing, defaults of another type, ABIs that do not fit arguments or returns.
 */
export function* checkingProtocol(protocol: ProtocolDocument, issues: Issues): Pieces<void> {
  const chains = protocol.deployments.map(({ chain }) => chain)
  refuseTwice(chains, 'deployment', issues.below(['deployments']))
  for (const [name, action] of Object.entries(protocol.actions)) {
    const here = issues.below(['actions', name])
    yield* checkingCallable(action, here)
    for (const asked of [
      ...action.requires_queries,
      ...action.recommended_prechecks,
      ...action.recommended_postchecks
    ]) {
      if (Object.hasOwn(protocol.queries, asked)) continue
      here.error('unknown_query', `the protocol has no query ${asked}`)
    }
  }
  for (const [name, query] of Object.entries(protocol.queries)) {
    yield* checkingQuery(query, issues.below(['queries', name]))
  }
}

function* checkingQuery(query: QueryDocument, issues: Issues): Pieces<void> {
  yield* checkingCallable(query, issues)
  for (const [pattern, execution] of Object.entries(query.execution)) {
    const here = issues.below(['execution', pattern])
    if (isComposite(execution)) here.error('returns_mismatch', 'a query cannot be composite')
    else if (isKnownExecution(execution) && execution.type === 'evm_read')
      checkReturns(query.returns, execution.abi, here)
  }
}

/** Work of an action or query, and of each parameter, return and execution of it. */
const STEPS_OF_PART = 16

function* checkingCallable(callable: ActionDocument | QueryDocument, issues: Issues): Pieces<void> {
  passSteps(STEPS_OF_PART * (1 + callable.params.length + callable.returns.length))
  if (isSliceFull()) yield
  refuseTwice(
    callable.params.map(({ name }) => name),
    'parameter',
    issues.below(['params'])
  )
  refuseTwice(
    callable.returns.map(({ name }) => name),
    'return',
    issues.below(['returns'])
  )
  for (const [index, param] of callable.params.entries()) {
    const here = issues.below(['params', index])
    if (param.default !== undefined) checkDefault(param.type, param.default, here)
    if (param.asset_ref === undefined) continue
    const asset = callable.params.find(({ name }) => name === param.asset_ref)
    if (asset?.type !== 'asset') {
      here.error('unknown_asset_param', `${param.asset_ref} is no parameter of type asset`, [
        'asset_ref'
      ])
    }
  }
  for (const [pattern, execution] of Object.entries(callable.execution)) {
    const here = issues.below(['execution', pattern])
    passSteps(STEPS_OF_PART)
    if (isSliceFull()) yield
    if (!isComposite(execution)) {
      yield* checkingExecution(execution, here)
      continue
    }
    refuseTwice(
      execution.steps.map(({ id }) => id),
      'step',
      here.below(['steps'])
    )
    for (const [index, step] of execution.steps.entries()) {
      yield* checkingExecution(step.execution, here.below(['steps', index, 'execution']))
    }
  }
}

function* checkingExecution(execution: SimpleExecution, issues: Issues): Pieces<void> {
  if (!isKnownExecution(execution)) return
  if (execution.type === 'evm_read' || execution.type === 'evm_call') {
    yield* checkingArguments(execution.abi, execution.args, issues)
  } else if (execution.type === 'evm_multiread' || execution.type === 'evm_multicall') {
    for (const [index, call] of execution.calls.entries()) {
      yield* checkingArguments(call.abi, call.args, issues.below(['calls', index]))
    }
    if (execution.type === 'evm_multiread') {
      refuseTwice(
        execution.calls.map(({ id }) => id),
        'call',
        issues.below(['calls'])
      )
    }
  }
}

function* checkingArguments(
  abi: AbiFunction,
  args: Readonly<Record<string, unknown>>,
  issues: Issues
): Pieces<void> {
  const names = abi.inputs.map(({ name }) => name)
  refuseTwice(names, 'input', issues.below(['abi', 'inputs']))
  for (const name of names) {
    if (name === '') issues.error('abi_mismatch', 'an input has no name', ['abi', 'inputs'])
    else if (!Object.hasOwn(args, name)) {
      issues.error('missing_argument', `${abi.name} needs the argument ${name}`, ['args'])
    }
  }
  for (const name of Object.keys(args)) {
    if (names.includes(name)) continue
    if (isSliceFull()) yield
    issues.error('extra_argument', `${abi.name} has no argument ${name}`, ['args', name])
  }
}

function checkReturns(returns: readonly ReturnDocument[], abi: AbiFunction, issues: Issues): void {
  const outputs = abiReturns(abi.outputs)
  if (outputs.some(({ name }) => name === '')) {
    issues.error('returns_mismatch', 'every output needs a name', ['abi', 'outputs'])
    return
  }
  refuseTwice(
    outputs.map(({ name }) => name),
    'output',
    issues.below(['abi', 'outputs'])
  )
  if (returns.length === 0) return
  const wanted = returns.map(({ name, type }) => `${name} ${type}`).join(', ')
  const given = outputs.map(({ name, type }) => `${name} ${type}`).join(', ')
  if (wanted === given) return
  issues.error('returns_mismatch', `returns are (${wanted}), but the ABI gives (${given})`, [
    'abi',
    'outputs'
  ])
}

/** The returns that ABI outputs are, in the words of AIS. */
export function abiReturns(
  outputs: readonly AbiParameter[]
): readonly { readonly name: string; readonly type: string }[] {
  return outputs.map((output) => ({ name: output.name, type: aisTypeOf(output) }))
}

function aisTypeOf({ type, components = [] }: AbiParameter): string {
  const list = /^(.*)\[[0-9]*\]$/.exec(type)
  if (list !== null) return `array<${aisTypeOf({ name: '', type: list[1] ?? '', components })}>`
  if (type === 'tuple') return `tuple<${components.map(aisTypeOf).join(',')}>`
  return type
}

function checkDefault(type: string, value: Json, issues: Issues): void {
  const typed = typedAs(type, value)
  if (!typed.ok) issues.error('invalid_default', `default: ${typed.problem}`, ['default'])
}

function refuseTwice(names: readonly string[], what: string, issues: Issues): void {
  const seen = new Set<string>()
  for (const [index, name] of names.entries()) {
    const path: DocumentPath = [index]
    if (seen.has(name)) issues.error('duplicate_name', `the ${what} ${name} stands twice`, path)
    seen.add(name)
  }
}
