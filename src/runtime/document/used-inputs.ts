import type {
  Diagnostic,
  DocumentDefinition,
  DocumentPath,
  PlanNodeDefinition
} from '../../block/index.js'
import { isJsonObject, type Json, TallyError } from '../../core/index.js'
import type { CheckInputs } from './document-kind.js'

/** The check of what a document may be given, by the name under which others use it. */
export type ChecksByName = (name: string) => CheckInputs | undefined

/**
 * What is wrong with what a document gives the documents that it uses, as far as its text tells:
 * values that are written out. The others are checked when the used document begins (W3).
 */
export function usedInputProblems(
  definition: Pick<DocumentDefinition, 'nodes'>,
  checkOf: ChecksByName,
  path: DocumentPath = []
): readonly Diagnostic[] {
  return nodesOf(definition, [...path, 'nodes']).flatMap(({ node, at }) => {
    const { work, input } = node
    if (work.kind === 'composite') {
      return usedInputProblems(work.graph, checkOf, [...at, 'composite'])
    }
    if (work.kind !== 'use' || input === undefined) return []
    const problems = checkOf(work.use)?.(writtenOut(input) ?? {}) ?? []
    return problems.map(({ name, problem }): Diagnostic => {
      const message = `the input ${name} of ${work.use}: ${problem}`
      return { reason: 'invalid_graph', path: [...at, 'input'], message }
    })
  })
}

/** Throws `runtime.invalid_composite` for the first thing wrong with a registered document. */
export function checkComposite(
  { name }: Pick<DocumentDefinition, 'name'>,
  [first]: readonly Diagnostic[]
): void {
  if (first === undefined) return
  throw new TallyError('runtime.invalid_composite', { problem: `${name}: ${first.message}` })
}

type Node = Pick<PlanNodeDefinition, 'work' | 'input'>

function nodesOf(
  definition: Pick<DocumentDefinition, 'nodes'>,
  path: DocumentPath
): readonly { readonly node: Node; readonly at: DocumentPath }[] {
  const { nodes } = definition
  return Object.entries(nodes).map(([key, node]: [string, Node]) => {
    return { node, at: [...path, Array.isArray(nodes) ? Number(key) : key] }
  })
}

/** What is known of a value before anything runs; members of objects that are not are left out. */
export function writtenOut(value: Json): Json | undefined {
  if (!isJsonObject(value)) return undefined
  if ('lit' in value) return value['lit']
  const { object, array } = value
  if (object !== undefined && isJsonObject(object)) {
    const known = Object.entries(object).flatMap(([name, member]) => {
      const found = writtenOut(member)
      return found === undefined ? [] : [[name, found] as const]
    })
    return Object.fromEntries(known)
  }
  if (!Array.isArray(array)) return undefined
  const items = (array as readonly Json[]).map(writtenOut)
  return items.every((item): item is Json => item !== undefined) ? items : undefined
}
