import type { OpenWait } from '../../block/index.js'
import { isJsonObject, type Json } from '../../core/index.js'
import { parsePatches, type RuntimePatch } from '../readiness/patch.js'
import { answerParts } from '../readiness/solver.js'
import { typedAs } from '../type/check.js'
import { shown } from './diagnose.js'

/**
 * What an answer to one node says of inputs that another node waits for, too, as the answer to that
 * one; undefined when it says nothing of them. An input is one value of the whole workflow, so one
 * question serves every node that reads it (W3); addresses and `ctx` are each node's own (W8).
 */
export function sharedAnswer(
  answered: Pick<OpenWait, 'request'>,
  value: Json,
  other: Pick<OpenWait, 'request'>
): Json | undefined {
  const wanted = inputsAsked(other)
  if (wanted.size === 0 || inputsAsked(answered).size === 0) return undefined
  const given = parsePatches(answerParts(value).patches)
  if (typeof given === 'string') return undefined
  const patches = given.filter((patch) => fits(patch, wanted))
  return patches.length === 0 ? undefined : { patches: patches as unknown as Json }
}

/** Inputs that a wait asks for, with their types. */
function inputsAsked({ request }: Pick<OpenWait, 'request'>): ReadonlyMap<string, string> {
  const asked = shown(request)
  const inputs = new Map<string, string>()
  if (!isJsonObject(asked) || asked['kind'] !== 'missing') return inputs
  const { missing } = asked
  for (const one of Array.isArray(missing) ? (missing as readonly Json[]) : []) {
    if (!isJsonObject(one)) continue
    const [root, name] = String(one['path']).split('.')
    if (root === 'inputs' && name !== undefined) inputs.set(name, String(one['type']))
  }
  return inputs
}

// A value of another type is refused by the node that was answered, and would be by the others.
function fits({ path, value }: RuntimePatch, wanted: ReadonlyMap<string, string>): boolean {
  const [root, name = '', ...below] = typeof path === 'string' ? path.split('.') : path
  const type = root === 'inputs' ? wanted.get(name) : undefined
  if (type === undefined) return false
  return below.length > 0 || typedAs(type, value).ok
}
