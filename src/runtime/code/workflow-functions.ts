import { compileFunction, functionRootOf } from '../../block/index.js'
import {
  type Block,
  type FunctionDefinition,
  functionBlock,
  functionSchemaName,
  type Workflow
} from '../../code/index.js'
import {
  coreError,
  once,
  referenceTo,
  runtimeError,
  versionedName,
  withoutUndefined
} from '../../core/index.js'
import type { CheckInputs } from '../document/document-kind.js'
import type { NamedCode, NameScope } from './named-code.js'
import { pinnedObligations } from './obligations-in-force.js'
import type { BlockLookup, PinnedTerms, PreparedFunction, RunDefinition } from './prepared-run.js'
import { keepsPrivate, type ReachedCode } from './reached-code.js'

/** Whether what `run.started` keeps is that of a workflow function. */
export function isFunctionDefinition(definition: RunDefinition): definition is FunctionDefinition {
  return 'schema' in definition && definition.schema === functionSchemaName
}

/** A registered function with what holds for its blocks in a run. */
export function prepareFunction(
  { definition, name, version, blocks, queue, body: bodyOf }: Workflow,
  scope: NameScope,
  { pins, obligations: all }: PinnedTerms
): PreparedFunction {
  const compiled = compileFunction(definition, { repair: (repair) => scope.repair(repair) })
  const steps = new Map<string, Block>()
  const stepAt = (reference: string): Block | undefined => {
    const { name: step, version: own } = versionedName(reference)
    if (own !== version || !step.startsWith(`${name}.`)) return undefined
    const known = steps.get(step)
    if (known !== undefined) return known
    const made = functionBlock(name, step.slice(name.length + 1), version)
    const bound = { ...scope.bind(made), classed: bindingClassed(made, scope) }
    steps.set(step, bound)
    return bound
  }
  const declared = new Set(blocks.map((block) => referenceTo(block.name, block.version)))
  const callable: BlockLookup = (reference) =>
    declared.has(reference) ? scope.block(reference) : undefined
  const body = scope.bind(bodyOf(callable))
  const block: BlockLookup = (reference) =>
    reference === name ? body : (stepAt(reference) ?? scope.block(reference))
  const reachedBlocks = () => [body, ...[...declared].flatMap((one) => scope.block(one) ?? [])]
  const obligations = pinnedObligations(all, reachedBlocks())
  const root = functionRootOf(definition, compiled, {
    isPrivate: once(() => reachedBlocks().some(keepsPrivate)),
    ...(pins === undefined ? {} : { pins }),
    ...(obligations === undefined ? {} : { obligations })
  })
  const reached = once((): ReachedCode => {
    return { blocks: reachedBlocks(), intents: [], computesIntents: false, ofTurns: [] }
  })
  const checkInputs: CheckInputs = (inputs) => {
    const parsed = body.parseInput(withoutUndefined(inputs) as typeof inputs)
    return parsed.ok ? [] : [{ name: 'input', problem: parsed.problem }]
  }
  const queued = queue === undefined ? {} : { queue }
  return { ok: true, root, compiled, block, reached, checkInputs, ...queued }
}

function bindingClassed({ classed }: Block, scope: NameScope): NonNullable<Block['classed']> {
  return (sideEffects) => {
    const made = classed?.(sideEffects)
    if (made === undefined) throw coreError('core.internal', { problem: 'a step has a class' })
    return scope.bind(made)
  }
}

/** Throws `runtime.duplicate_name` for a block whose name a step of a workflow could have. */
export function checkStepNames(code: NamedCode): void {
  for (const { name, version } of code.values('workflows')) {
    for (const block of code.values('blocks')) {
      if (!block.name.startsWith(`${name}.`) || block.version !== version) continue
      throw runtimeError('runtime.duplicate_name', { what: 'steps', name: block.name })
    }
  }
}
