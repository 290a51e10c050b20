import type { FlowDocument } from '../document/flow.js'
import { type AisType, parseType } from '../type/type.js'

/**
 * Patterns of the paths below `path` whose text is an amount, by the type of what stands there
 * (W4). Names that hold a dot or a blank cannot stand in a pattern and stay text.
 */
export function amountsOf(path: string, type: string): readonly string[] {
  const parsed = parseType(type)
  return parsed === undefined ? [] : patternsOf(path, parsed)
}

function patternsOf(path: string, type: AisType): readonly string[] {
  switch (type.kind) {
    case 'integer':
      return [path]
    case 'array':
      return patternsOf(`${path}.*`, type.item)
    case 'tuple':
      return type.members.flatMap((member, index) => patternsOf(`${path}.${index}`, member))
    default:
      return []
  }
}

/** Those of a workflow's inputs. */
export function inputAmounts(flow: FlowDocument): readonly string[] {
  return Object.entries(flow.inputs).flatMap(([name, { type }]) =>
    amountsOf(`inputs.${name}`, type)
  )
}

/** Those of named returns below a path. */
export function returnAmounts(
  path: string,
  returns: readonly { readonly name: string; readonly type: string }[]
): readonly string[] {
  return returns.flatMap(({ name, type }) => amountsOf(`${path}.${name}`, type))
}
