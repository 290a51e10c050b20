import type { JournalEntry, OpenWait } from '../../block/index.js'
import { isJsonObject, type Json } from '../../core/index.js'
import { byWithout } from '../../identity/index.js'
import { parsePatches, type RuntimePatch } from '../readiness/patch.js'
import { answerParts } from '../readiness/solver.js'
import { typedAs } from '../type/check.js'
import { documentAround, type RunDocuments, shown } from './diagnose.js'

/** Where a question of a node stands, and what it asks. */
type Asked = Pick<OpenWait, 'path' | 'step' | 'request'>

/** What a node was answered, as its journal has it. */
export interface GivenAnswer {
  readonly wait: Asked
  readonly value: Json
  readonly by: Json
}

/**
 * What an answer to one node says of inputs that another node of the same workflow waits for, too,
 * as the answer to that one; undefined when it says nothing of them. An input is one value of the
 * whole workflow, so one question serves every node that reads it (W3); addresses and `ctx` are
 * each node's own (W8).
 */
export function sharedAnswer(
  answered: Asked,
  value: Json,
  other: Asked,
  run: RunDocuments
): Json | undefined {
  const isTogether = workflowAround(answered, run) === workflowAround(other, run)
  return isTogether ? sharedOf(answered, value, inputsAsked(other)) : undefined
}

/**
 * What the workflow of a node was given, before the node asked, of inputs that it asks for, and
 * by whom: the last answer counts. Undefined when there is none, or when the node has heard of them
 * itself and asks again.
 */
export function earlierAnswer(
  earlier: readonly GivenAnswer[],
  wait: Asked,
  run: RunDocuments
): Pick<GivenAnswer, 'value' | 'by'> | undefined {
  const wanted = new Map(inputsAsked(wait))
  const workflow = workflowAround(wait, run)
  const others: GivenAnswer[] = []
  for (const one of earlier) {
    if (one.wait.path === wait.path && one.wait.step === wait.step) {
      for (const { path } of patchesIn(one.value)) wanted.delete(inputOf(path)?.name ?? '')
    } else if (workflowAround(one.wait, run) === workflow) others.push(one)
  }
  for (const { wait: answered, value, by } of others.reverse()) {
    const share = sharedOf(answered, value, wanted)
    if (share !== undefined) return { value: share, by }
  }
  return undefined
}

/** Texts of which one is in each entry that {@link givenAnswers} needs. */
export const answerTexts = ['"effect":"wait"', '"kind":"missing"'] as const

/** Answers to what nodes of workflows have asked for, in the order in which they were given. */
export function givenAnswers(entries: readonly JournalEntry[]): readonly GivenAnswer[] {
  const waits = new Map<string, Asked>()
  const given: GivenAnswer[] = []
  for (const entry of entries) {
    if (entry.k === 'wait') {
      if (inputsAsked(entry).size > 0) waits.set(placeOf(entry), entry)
      continue
    }
    if (entry.k !== 'sealed' || entry.effect !== 'wait' || !isJsonObject(entry.body)) continue
    const wait = waits.get(placeOf(entry))
    const { action, value = null, by = null } = entry.body
    if (wait !== undefined && action === 'resume') given.push({ wait, value, by: byWithout(by) })
  }
  return given
}

function placeOf(entry: JournalEntry & { readonly k: 'wait' | 'sealed' }): string {
  const { path, step, attempt, seq } = entry
  return JSON.stringify([path, step, attempt, seq])
}

/** Names one visit of one workflow: nodes of it have their inputs in common. */
function workflowAround({ path, step }: Asked, run: RunDocuments): string {
  const document = documentAround(run, path)
  const nodes = isJsonObject(document) ? document['nodes'] : undefined
  // Each visit counts all nodes of a plan, whichever of them were executed.
  const visit = Array.isArray(nodes) ? Math.ceil(step / nodes.length) : 1
  return `${visit} ${path.slice(0, path.lastIndexOf('/'))}`
}

function sharedOf(
  answered: Asked,
  value: Json,
  wanted: ReadonlyMap<string, string>
): Json | undefined {
  if (wanted.size === 0 || inputsAsked(answered).size === 0) return undefined
  const patches = patchesIn(value).filter((patch) => fits(patch, wanted))
  return patches.length === 0 ? undefined : { patches: patches as unknown as Json }
}

function patchesIn(value: Json): readonly RuntimePatch[] {
  const given = parsePatches(answerParts(value).patches)
  return typeof given === 'string' ? [] : given
}

/** Inputs that a wait asks for, with their types. */
function inputsAsked({ request }: Asked): ReadonlyMap<string, string> {
  const asked = shown(request)
  const inputs = new Map<string, string>()
  if (!isJsonObject(asked) || asked['kind'] !== 'missing') return inputs
  const { missing } = asked
  for (const one of Array.isArray(missing) ? (missing as readonly Json[]) : []) {
    if (!isJsonObject(one)) continue
    const input = inputOf(String(one['path']))
    if (input !== undefined) inputs.set(input.name, String(one['type']))
  }
  return inputs
}

/** The input that a path leads to or into. */
function inputOf(
  path: RuntimePatch['path']
): { readonly name: string; readonly isWhole: boolean } | undefined {
  const [root, name, ...below] = typeof path === 'string' ? path.split('.') : path
  if (root !== 'inputs' || name === undefined) return undefined
  return { name, isWhole: below.length === 0 }
}

// A value of another type is refused by the node that was answered, and would be by the others.
function fits({ path, value }: RuntimePatch, wanted: ReadonlyMap<string, string>): boolean {
  const input = inputOf(path)
  const type = input === undefined ? undefined : wanted.get(input.name)
  if (type === undefined) return false
  return input?.isWhole === false || typedAs(type, value).ok
}
