import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import type { AisPlanNode } from '../plan/plan.js'
import { typedAs, typedMembers } from '../type/check.js'
import { hasRules, type NodeSpec } from './node-spec.js'

export type Returned =
  | { readonly ok: true; readonly outputs: JsonObject }
  | { readonly ok: false; readonly problem: string }

/**
 * The outputs of a node from what its execution gave. A query must give exactly what it declares,
 * under the declared types. An action keeps what the executor gives (`tx_hash`, `receipt`) and adds
 * what it declares, where the execution or an event of its receipt tells it.
 */
export function returnedBy(
  node: AisPlanNode,
  given: JsonObject,
  spec: Pick<NodeSpec, 'rules'>
): Returned {
  if (node.returns.length === 0) return { ok: true, outputs: given }
  if (node.kind === 'query') {
    const isNumber = node.execution.type === 'evm_rpc' && hasRules(spec, 3)
    const typed = typedMembers(node.returns, isNumber ? quantityOf(node, given) : given)
    if (!typed.ok) return { ok: false, problem: typed.problem }
    return { ok: true, outputs: typed.value as JsonObject }
  }
  const added: [string, Json][] = []
  for (const { name, type } of node.returns) {
    const found = given[name] ?? inEvents(given, name)
    if (found === undefined) continue
    const typed = typedAs(type, found)
    if (!typed.ok) return { ok: false, problem: `${name}: ${typed.problem}` }
    added.push([name, typed.value])
  }
  return { ok: true, outputs: { ...given, ...Object.fromEntries(added) } }
}

/** The one number that a method of a node gives, in decimal digits under the name it returns as. */
function quantityOf({ returns }: AisPlanNode, given: JsonObject): JsonObject {
  const [first, ...others] = returns
  const { result } = given
  if (first === undefined || others.length > 0 || result === undefined) return given
  const isQuantity = typeof result === 'string' && /^0x[0-9a-f]{1,64}$/i.test(result)
  const isInteger = /^u?int[0-9]*$/.test(first.type)
  return { [first.name]: isQuantity && isInteger ? BigInt(result).toString() : result }
}

/** An argument of the first event that has it, under its own name or written as in Solidity. */
function inEvents(given: JsonObject, name: string): Json | undefined {
  const receipt = given['receipt']
  const events = isJsonObject(receipt) ? receipt['logs'] : undefined
  if (!Array.isArray(events)) return undefined
  const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  for (const event of events as readonly Json[]) {
    const args = isJsonObject(event) ? event['args'] : undefined
    if (!isJsonObject(args)) continue
    const found = args[name] ?? args[camel]
    if (found !== undefined) return found
  }
  return undefined
}
