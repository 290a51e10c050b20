import {
  type Diagnostic,
  type DocumentDefinition,
  type DocumentPath,
  type PlanNodeDefinition,
  Problems
} from '../../block/index.js'
import {
  isJsonObject,
  isSliceFull,
  type Json,
  type Pieces,
  passSteps,
  runtimeError
} from '../../core/index.js'
import type { CheckInputs } from './document-kind.js'

/** The check of what a document may be given, by the name under which others use it. */
export type ChecksByName = (name: string) => CheckInputs | undefined

/**
 * What is wrong with what a document gives the documents that it uses, as far as its text tells:
 * values that are written out. The others are checked when the used document begins (W3).
 */
export function* findingInputProblems(
  definition: Pick<DocumentDefinition, 'nodes'>,
  checkOf: ChecksByName
): Pieces<readonly Diagnostic[]> {
  const found = new Problems()
  yield* checkingNodes(definition, checkOf, [], found)
  return found.list
}

/** Work of looking at a node. */
const STEPS_OF_NODE = 4

function* checkingNodes(
  { nodes }: Pick<DocumentDefinition, 'nodes'>,
  checkOf: ChecksByName,
  path: DocumentPath,
  found: Problems
): Pieces<void> {
  for (const [key, { work, input }] of Object.entries<Node>(nodes)) {
    passSteps(STEPS_OF_NODE)
    if (isSliceFull()) yield
    const at = [...path, 'nodes', Array.isArray(nodes) ? Number(key) : key]
    if (work.kind === 'composite') {
      yield* checkingNodes(work.graph, checkOf, [...at, 'composite'], found)
    }
    if (work.kind !== 'use' || input === undefined) continue
    const check = checkOf(work.use)
    if (check === undefined) continue
    for (const { name, problem } of check(writtenOut(input) ?? {})) {
      const message = `the input ${name} of ${work.use}: ${problem}`
      found.refuse('invalid_graph', [...at, 'input'], message)
    }
  }
}

/** Throws `runtime.invalid_composite` for the first thing wrong with a registered document. */
export function checkComposite(
  { name }: Pick<DocumentDefinition, 'name'>,
  [first]: readonly Diagnostic[]
): void {
  if (first === undefined) return
  throw runtimeError('runtime.invalid_composite', { problem: `${name}: ${first.message}` })
}

type Node = Pick<PlanNodeDefinition, 'work' | 'input'>

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
