import { isJsonObject, spendWork } from '../../core/index.js'
import type { Reference } from '../../expression/index.js'
import {
  type AbiFunction,
  type AbiParameter,
  isKnownExecution,
  isRead
} from '../document/execution.js'
import type { Issues } from '../document/issue.js'
import type { AisValue } from '../document/value.js'
import type { ResolvedStep } from '../plan/resolve.js'
import { issuesOf, type LintNode, type LintSubject } from './subject.js'

/** What fails whenever it is run, and can be seen before. */
export function lintFailures({ nodes, flow, byId }: LintSubject, issues: Issues): void {
  for (const node of nodes) {
    const here = issuesOf(node, issues)
    for (const { value, path, references } of node.values) {
      const [read] = references
      if (!('ref' in value) || path.length > 1 || read === undefined) continue
      const type = typeOf(read, { flow, byId })
      if (type === undefined || type === 'bool') continue
      here.warn('fails_when_run', `${path[0]} must be true or false, and this is ${type}`, path)
    }
    for (const problem of new Set(node.steps.flatMap((step) => problemsOf(node, step)))) {
      here.warn('fails_when_run', problem)
    }
    for (const [name, value] of Object.entries(node.node.args)) {
      const asset = 'lit' in value ? value.lit : undefined
      const chain = isJsonObject(asset ?? null) ? (asset as { chain_id?: unknown }).chain_id : null
      if (typeof chain !== 'string' || node.steps.some((step) => step.chain === chain)) continue
      // A bridge may name what arrives elsewhere; everything else is asked of the wrong chain.
      here.note('other_chain', `${name} is an asset of ${chain}, and the node is not`, [
        'args',
        name
      ])
    }
  }
}

/** Type that a document says of what a value reads. */
function typeOf(
  { root, path }: Reference,
  { flow, byId }: Pick<LintSubject, 'flow' | 'byId'>
): string | undefined {
  const [name = '', kind, output] = path.map(String)
  if (root === 'inputs' && path.length === 1 && Object.hasOwn(flow.inputs, name)) {
    return flow.inputs[name]?.type
  }
  if (root !== 'nodes' || kind !== 'outputs' || path.length !== 3) return undefined
  return byId.get(name)?.returns.find((one) => one.name === output)?.type
}

function problemsOf({ action }: LintNode, { chain, execution }: ResolvedStep): readonly string[] {
  const { type } = execution
  spendWork(1)
  const found: string[] = []
  const [namespace = ''] = chain.split(':')
  const wanted = type.startsWith('evm_') ? 'eip155' : type.startsWith('solana_') ? 'solana' : null
  if (wanted !== null && wanted !== namespace) found.push(`${type} is not executed on ${chain}`)
  if (!isKnownExecution(execution)) return found
  if (action === null && !isRead(type)) found.push(`a query reads, and ${type} writes`)
  if (action !== null && isRead(type)) found.push(`an action writes, and ${type} reads`)
  for (const { abi, to, args } of callsIn(execution)) {
    if (to !== undefined && isNoAddress(to)) found.push(`${abi.name} is sent to what is no address`)
    for (const parameter of [...abi.inputs, ...abi.outputs]) {
      const wrong = wrongType(parameter)
      if (wrong !== undefined) found.push(`${abi.name} has a parameter of the type ${wrong}`)
    }
    for (const { name, type: wants } of abi.inputs) {
      const given = args[name]
      if (wants !== 'address' || given === undefined || !isNoAddress(given)) continue
      found.push(`${abi.name} gets for ${name} what is no address`)
    }
  }
  return found
}

interface Call {
  readonly abi: AbiFunction
  readonly to: AisValue | undefined
  readonly args: Readonly<Record<string, AisValue>>
}

function callsIn(execution: ResolvedStep['execution']): readonly Call[] {
  if (!isKnownExecution(execution)) return []
  switch (execution.type) {
    case 'evm_read':
    case 'evm_call':
      return [execution]
    case 'evm_multiread':
      return execution.calls
    case 'evm_multicall':
      return execution.calls.map(({ abi, args }) => ({ abi, args, to: execution.to }))
    default:
      return []
  }
}

function isNoAddress(value: AisValue): boolean {
  if (!('lit' in value)) return 'object' in value || 'array' in value
  return typeof value.lit !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(value.lit)
}

const sized = 'bytes([1-9]|[12][0-9]|3[0-2])?|u?int([0-9]{1,3})?|u?fixed([0-9x]+)?'
const elementary = new RegExp(`^(address|bool|string|function|${sized})$`)

/** A type that no ABI has; of a tuple, that of a member. */
function wrongType({ type, components = [] }: AbiParameter): string | undefined {
  const item = type.replace(/(\[[0-9]*\])+$/, '')
  if (item === 'tuple') return components.map(wrongType).find((one) => one !== undefined)
  const bits = /^u?int([0-9]+)$/.exec(item)?.[1]
  const isSized =
    bits === undefined || (Number(bits) % 8 === 0 && Number(bits) <= 256 && bits !== '0')
  return elementary.test(item) && isSized ? undefined : type
}
