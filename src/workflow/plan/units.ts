import { parseReference } from '../../expression/index.js'
import type { Issues } from '../document/issue.js'
import type { AisValue } from '../document/value.js'
import { typedAs } from '../type/check.js'
import type { Expansion } from './expansion.js'

/**
 * Refuses arguments whose type is known and does not fit (W4, W12): a number for people where
 * atomic units are wanted would move a millionth of what was meant, or a million times as much.
 */
export function checkUnits(
  { name, type, value }: { readonly name: string; readonly type: string; readonly value: AisValue },
  expansion: Expansion,
  issues: Issues
): void {
  if ('lit' in value) {
    const typed = typedAs(type, value.lit)
    if (!typed.ok) issues.error('invalid_value', `${name}: ${typed.problem}`)
    return
  }
  const given = typeOfValue(value, expansion)
  if (given === undefined) return
  const isAtomic = (one: string) => /^u?int[0-9]*$/.test(one)
  const isForPeople = (one: string) => one === 'token_amount' || one === 'float'
  if (isAtomic(type) && isForPeople(given)) {
    const message = `${name} is in atomic units (${type}), but a ${given} is for people`
    issues.error('unit_mismatch', `${message}; convert it with to_atomic(value, token)`)
  } else if (type === 'token_amount' && isAtomic(given)) {
    const message = `${name} is a number for people, but a ${given} is in atomic units`
    issues.error('unit_mismatch', `${message}; convert it with to_human(value, token)`)
  }
}

/** Type of a value that is nothing but a way to an input or to an output of a node. */
function typeOfValue(value: AisValue, { flow, resolved }: Expansion): string | undefined {
  const text = 'ref' in value ? value.ref : 'cel' in value ? value.cel.trim() : undefined
  const reference = text === undefined ? undefined : parseReference(text)
  if (reference === undefined || typeof reference === 'string') return undefined
  const { root, path } = reference
  if (root === 'inputs' && path.length === 1) {
    const name = String(path[0])
    return Object.hasOwn(flow.inputs, name) ? flow.inputs[name]?.type : undefined
  }
  if (root !== 'nodes' || path.length !== 3 || path[1] !== 'outputs') return undefined
  const returns = resolved.get(String(path[0]))?.returns ?? []
  return returns.find((one) => one.name === path[2])?.type
}
