import type { AnswerToBlock } from '../../code/index.js'
import {
  canonicalize,
  isJsonObject,
  type Json,
  type JsonObject,
  limits,
  shownText
} from '../../core/index.js'
import { correctedHash, handedHash, handOverKind } from '../../executor/index.js'
import type { Reference } from '../../expression/index.js'
import { candidatesOf } from '../document/value.js'
import type { AisPlanNode } from '../plan/plan.js'
import { contractsFor } from '../readiness/bindings.js'
import {
  applyPatches,
  namesOf,
  parsePatches,
  patchesFor,
  pathText,
  type RuntimePatch
} from '../readiness/patch.js'
import { nodeReadiness } from '../readiness/readiness.js'
import { type AisRuntime, prepareRuntime } from '../readiness/runtime.js'
import { answerParts } from '../readiness/solver.js'
import { typedAs } from '../type/check.js'
import {
  type CompileValues,
  compileAisValue,
  type ScopedValue,
  type ValuesOf
} from '../value/compile.js'
import { executionValues } from '../value/execution-values.js'
import { isBehindExecution, isInDoubt, shown, stuckIn } from './diagnose.js'
import { runtimeAt, withChoices } from './gather.js'
import { profileOf } from './node-spec.js'
import { givenOf, type NodeInput, readNodeInput, resultsOf } from './spec.js'

/**
 * Why a node of a workflow refuses an answer to its question, or a patch after its failure: some of
 * it would have no effect, or with it the node could not be executed (W14). Undefined: all of it
 * takes effect. What journals have as accepted is not asked about.
 */
export function nodeRefusal(
  { payload, question, value, failure, hasSent = false, told }: AnswerToBlock,
  valuesOf: ValuesOf
): string | undefined {
  const input = readNodeInput(payload)
  if (input === undefined) return 'the node was not given what nodes of workflows are given'
  const values = valuesOf(profileOf(input.spec))
  if (question !== null) {
    const given = answerTo(question, value)
    if (given === undefined || typeof given === 'string') return given
    return misfit(input, given, values)
  }
  if (isJsonObject(value) && Object.keys(value).join() === 'replace') {
    return notReplaced(input, value['replace'] ?? null, failure)
  }
  if (isJsonObject(value) && Object.keys(value).join() === 'transaction_hash') {
    const isOpen = isInDoubt((failure ?? null) as unknown as Json)
    const given = isOpen ? handedHash(told ?? null) : undefined
    return notCorrected(input, value['transaction_hash'] ?? null, given)
  }
  if (!isJsonObject(value) || Object.keys(value).join() !== 'patches') {
    return 'a failed node of a workflow takes {"patches": [{"path", "value"}]} and nothing else'
  }
  // With other arguments it would be another transaction, beside the one that may take effect.
  if (hasSent && failure !== undefined && isInDoubt(failure as unknown as Json)) {
    return 'what it has sent may still take effect: retry it, which asks the chain'
  }
  const patches = parsePatches(value['patches'] ?? null)
  if (typeof patches === 'string') return patches
  if (patches.length === 0) return 'it changes nothing'
  const problem = takenBack(input, patches) ?? misfit(input, { patches, choices: {} }, values)
  // What polls has executed before, whatever it fails of now.
  const isExecuted = isBehindExecution(failure) || input.spec.node.until !== null
  if (problem !== undefined || !hasSent || !isExecuted) return problem
  return changesExecution(input, patches, values)
    ? 'what it has sent has taken effect, and with this change it would be sent again'
    : undefined
}

/** Why a stuck transaction is not replaced; undefined: it is. */
function notReplaced(
  { replace: before = {} }: NodeInput,
  value: Json,
  failure: AnswerToBlock['failure']
): string | undefined {
  const stuck = stuckIn((failure ?? null) as unknown as Json)
  if (stuck === undefined) return 'it has sent no transaction that can be replaced; retry it'
  const named = isJsonObject(value) ? Object.keys(value) : []
  if (!isJsonObject(value) || named.join() !== stuck.hash) {
    return `it takes {"replace": {"${stuck.hash}": PERCENT}} and nothing else`
  }
  const { CHAIN_RAISE_PERCENT_MIN: least, CHAIN_RAISE_PERCENT_MAX: most } = limits
  const percent = value[stuck.hash]
  if (!Number.isInteger(percent) || Number(percent) < least || Number(percent) > most) {
    return `what it pays more is a whole number of percent, from ${least} to ${most}`
  }
  const isNew = !Object.hasOwn(before, stuck.hash)
  const isFull = isNew && Object.keys(before).length >= limits.CHAIN_REPLACEMENTS_MAX
  return isFull ? `it was replaced ${limits.CHAIN_REPLACEMENTS_MAX} times; retry it` : undefined
}

/**
 * Why another hash is not taken for that of a wallet outside; undefined: it is. `given`: what the
 * wallet has answered last, if nothing is known of what became of it.
 */
function notCorrected(
  { spec, transaction_hash: before = {} }: NodeInput,
  value: Json,
  given: string | undefined
): string | undefined {
  if (given === undefined) return 'it looks for no transaction that a wallet outside has named'
  const [named, ...others] = isJsonObject(value) ? Object.entries(value) : []
  if (named?.[0] !== given || others.length > 0) {
    return `it takes {"transaction_hash": {"${given}": HASH}} and nothing else`
  }
  const hash = handedHash(named[1], spec.node.chain)
  if (hash === undefined || hash !== named[1]) {
    return `it has not the form of the hash of a transaction on ${spec.node.chain}`
  }
  return hash === correctedHash(before, given) ? 'it has looked for that one' : undefined
}

/** {@link nodeRefusal} of what computes the outputs of a workflow. */
export function outputsRefusal({ payload, question, value }: AnswerToBlock): string | undefined {
  if (question === null) return 'what is computed from results cannot be patched; retry it'
  const given = answerTo(question, value)
  if (given === undefined || typeof given === 'string') return given
  const { plan, given: start } = payload as unknown as Pick<NodeInput, 'given'> & NodeInput['spec']
  const prepared = prepareRuntime(plan, givenOf(start))
  if (!prepared.ok) return undefined
  const asked = missingIn(question)
  const isUnknown = ({ path }: RuntimePatch) => {
    const names = namesOf(path)
    return names[0] !== 'inputs' && !asked.some((one) => relates(names, one.split('.')))
  }
  const unknown = given.patches.find(isUnknown)
  if (unknown !== undefined) return `no output reads ${pathText(unknown.path)}`
  return rejectedOf(applyPatches(plan, prepared.runtime, given.patches))
}

interface Given {
  readonly patches: readonly RuntimePatch[]
  readonly choices: JsonObject
}

/** What an answer gives a node that asks for what it lacks; undefined: it asks something else. */
function answerTo(question: Json, value: Json): Given | string | undefined {
  const request = shown(question)
  const { kind, chain } = isJsonObject(request) ? request : {}
  if (kind === handOverKind && handedHash(value, shownText(chain ?? '')) === undefined) {
    return 'the answer of a wallet needs the hash of what it has sent: {"hash": "..."}'
  }
  if (!isJsonObject(request) || kind !== 'missing') return undefined
  if (!isJsonObject(value)) return 'an answer names values by their paths'
  const { patches: list, choices = {}, ...paths } = value
  if (list !== undefined && Object.keys(paths).length > 0) {
    return 'an answer has either patches or values by their paths'
  }
  if (!isJsonObject(choices)) return 'choices are an object'
  const keys = (request['choices'] as readonly { readonly key: string }[]).map(({ key }) => key)
  const other = Object.keys(choices).find((key) => !keys.includes(key))
  if (other !== undefined) return `it asks for no choice ${other}`
  const patches = parsePatches(answerParts(value).patches)
  if (typeof patches === 'string') return patches
  const isEmpty = patches.length === 0 && Object.keys(choices).length === 0
  return isEmpty ? 'it gives nothing' : { patches, choices }
}

function misfit(
  { spec, ...input }: NodeInput,
  { patches, choices }: Given,
  values: CompileValues
): string | undefined {
  const { node, plan } = spec
  const prepared = prepareRuntime(plan, givenOf(input.given))
  if (!prepared.ok) {
    const [first] = prepared.problems
    return `the workflow was given inputs.${first?.name}, which no patch mends: ${first?.problem}`
  }
  const { nodes, patches: carried } = resultsOf(input.nodes)
  const fitting = patchesFor(carried, node.chain)
  const before = applyPatches(plan, { ...prepared.runtime, nodes }, fitting).runtime
  const applied = applyPatches(plan, before, patches)
  const rejected = rejectedOf(applied)
  if (rejected !== undefined) return rejected
  const reads = readsOf(node, values)
  for (const patch of patches) {
    const problem = unread(patch, { node, reads, before, after: applied.runtime })
    if (problem !== undefined) return problem
  }
  const runtime = { ...applied.runtime, choices: withChoices(before, node.id, choices) }
  const readiness = nodeReadiness(node, runtime, values)
  if (readiness.state !== 'failed') return undefined
  return readiness.errors.map(({ place, message }) => `${place}: ${message}`).join('; ')
}

/** Whether the execution of a node comes out otherwise with a patch, or may. */
function changesExecution(
  input: NodeInput,
  patches: readonly RuntimePatch[],
  values: CompileValues
): boolean {
  const earlier = parsePatches(input.patches ?? [])
  if (typeof earlier === 'string') return true
  const before = executionWith(input, earlier, values)
  return before === undefined || before !== executionWith(input, patches, values)
}

/** Whether what some changes of a node were for is not what it executes with the others alone. */
export function areForExecution(
  input: NodeInput,
  paths: readonly string[],
  values: CompileValues
): boolean {
  const all = parsePatches(input.patches ?? [])
  if (typeof all === 'string') return false
  const others = all.filter(({ path }) => !paths.includes(pathText(path)))
  const [before, after] = [others, all].map((list) => executionWith(input, list, values, 0))
  return before !== after
}

/** Canonical; undefined: it is not known with these patches. */
function executionWith(
  { spec, ...input }: NodeInput,
  patches: readonly RuntimePatch[],
  values: CompileValues,
  nowMs?: number
): string | undefined {
  const { node, plan } = spec
  const prepared = prepareRuntime(plan, givenOf(input.given))
  if (!prepared.ok) return undefined
  const { nodes, patches: carried } = resultsOf(input.nodes)
  const all = [...patchesFor(carried, node.chain), ...patches]
  const { runtime } = applyPatches(plan, { ...prepared.runtime, nodes }, all)
  const timed = nowMs === undefined ? runtime : runtimeAt(runtime, spec, nowMs)
  const readiness = nodeReadiness(node, timed, values)
  return readiness.state === 'ready' ? canonicalize(readiness.execution) : undefined
}

function rejectedOf({ audit }: ReturnType<typeof applyPatches>): string | undefined {
  const [first] = audit.rejected
  return first && `${first.path}: ${first.problem}`
}

/** What an earlier patch of the same node changed, and this one would put back as it was. */
function takenBack(
  { patches: before }: NodeInput,
  patches: readonly RuntimePatch[]
): string | undefined {
  const earlier = parsePatches(before ?? [])
  if (typeof earlier === 'string') return undefined
  const named = new Set(patches.map(({ path }) => pathText(path)))
  const lost = earlier.find(({ path }) => !named.has(pathText(path)))
  if (lost === undefined) return undefined
  return `it would take back the change of ${pathText(lost.path)}; name that again, too`
}

/** Why nothing would come of a patch; inputs are declared, and were looked at. */
function unread(
  { path, value }: RuntimePatch,
  about: {
    readonly node: AisPlanNode
    readonly reads: readonly Reference[]
    readonly before: AisRuntime
    readonly after: AisRuntime
  }
): string | undefined {
  const { node, reads, before, after } = about
  const [root = '', first = '', ...rest] = namesOf(path)
  const nothing = `nothing reads ${pathText(path)}`
  switch (root) {
    case 'ctx': {
      if (first === 'account') return 'the account of a run is chosen when it is started'
      const isKnown = Object.hasOwn(before.ctx, first) || isRead(reads, [root, first, ...rest])
      return isKnown ? undefined : nothing
    }
    case 'policy': {
      const isKnown = Object.hasOwn(before.policy, first) || isRead(reads, [root, first, ...rest])
      return isKnown ? undefined : nothing
    }
    case 'contracts': {
      const found = contractsFor(node, after)
      const named = isJsonObject(value) ? Object.entries(value) : [[rest.at(-1) ?? first, value]]
      const isTaken = named.every(([name, address]) => {
        return found[String(name)] === address && typedAs('address', address ?? null).ok
      })
      return isTaken && named.length > 0 ? undefined : `${nothing} as the address of a contract`
    }
    default:
      return undefined
  }
}

/** Everything that the values of a node read, those of choices included. */
function readsOf(node: AisPlanNode, values: CompileValues): readonly Reference[] {
  const { conditions, preconditions, params, calculated, execution, until, assert } = node
  const flow = [...params.map(({ value }) => value), until, assert]
  const protocol = [...preconditions, ...executionValues(execution).map(({ value }) => value)]
  const open: ScopedValue[] = [
    ...conditions,
    ...calculated,
    ...flow.flatMap((value) => (value === null ? [] : [{ scope: 'flow', value } as const])),
    ...protocol.map((value) => ({ scope: 'protocol', value }) as const)
  ]
  const found: Reference[] = []
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { scope } = next
    const result = compileAisValue(next, '', values, node.amounts)
    if (!result.ok) continue
    found.push(...result.compiled.references)
    for (const { detect } of result.compiled.choices) {
      open.push(...candidatesOf(detect).map((value) => ({ scope, value })))
    }
  }
  return found
}

function isRead(reads: readonly Reference[], path: readonly string[]): boolean {
  return reads.some((one) => relates(path, [one.root, ...one.path.map(String)]))
}

/** Whether one path leads to the other, or into it. */
function relates(one: readonly string[], other: readonly string[]): boolean {
  return one.slice(0, other.length).every((name, index) => name === other[index])
}

function missingIn(question: Json): readonly string[] {
  const request = shown(question)
  const missing = isJsonObject(request) ? request['missing'] : undefined
  return Array.isArray(missing)
    ? missing.flatMap((one: Json) => (isJsonObject(one) ? [String(one['path'])] : []))
    : []
}
