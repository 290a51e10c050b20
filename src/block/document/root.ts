import { blockChart } from '../../../machines/block.js'
import type { ChartNode } from '../../../machines/composite.js'
import { type Block, type FunctionDefinition, ROOT_PATH } from '../../code/index.js'
import {
  assert,
  canonicalize,
  flatText,
  hashJson,
  type Json,
  type JsonObject,
  once
} from '../../core/index.js'
import { type LeafLibrary, leafLogic, leafTable } from '../chart/leaf.js'
import type { Classes } from '../run/entries.js'
import { Literals } from '../run/payload-texts.js'
import type { RootBlock } from '../run/root-block.js'
import type {
  CompiledDocument,
  CompiledFunction,
  CompiledLeaf,
  CompiledWithChildren
} from './compiled.js'
import type { DocumentDefinition } from './definition.js'

type RootOptions = Pick<RootBlock, 'pins' | 'obligations' | 'isPrivate'>

/** A compiled composite or plan as the root of a run. */
export function rootOf(
  definition: DocumentDefinition,
  compiled: CompiledDocument,
  options: RootOptions
): RootBlock {
  return {
    ...parentRoot(definition, compiled, options),
    literals: once(() => new Literals(inputsOf(definition))),
    hasAlternatives: once(() => hasAlternatives(compiled)),
    classes: once(() => classesOf(compiled)),
    compositeAt: (path) => compositeAt(compiled, path)
  }
}

/** A workflow function as the root of a run (B12). */
export function functionRootOf(
  definition: FunctionDefinition,
  compiled: CompiledFunction,
  options: RootOptions
): RootBlock {
  return {
    ...parentRoot(definition, compiled, options),
    isFunction: true,
    hasAlternatives: () => false,
    // Each call names the class of its block.
    classes: () => undefined,
    // Its atomic parts are of its own version.
    compositeAt: () => compiled
  }
}

function parentRoot(
  definition: DocumentDefinition | FunctionDefinition,
  { name, version, sideEffects, definitionHash, logic, plan }: CompiledWithChildren,
  { pins, obligations, isPrivate }: RootOptions
): Omit<RootBlock, 'hasAlternatives' | 'classes' | 'compositeAt'> {
  return {
    name,
    version,
    // A definition is plain JSON by construction; its type only names the members.
    definition: definition as unknown as JsonObject,
    definitionText: once(() => flatText(canonicalize(definition))),
    definitionHash,
    ...(pins === undefined ? {} : { pins }),
    ...(obligations === undefined ? {} : { obligations }),
    logic,
    leafTable: () => leafTable(plan),
    input: { path: ROOT_PATH, node: ROOT_PATH, block: name, sideEffects },
    isUnit: false,
    isPrivate
  }
}

function inputsOf({ nodes }: DocumentDefinition): readonly (Json | undefined)[] {
  const all: readonly { readonly input?: Json }[] = Object.values(nodes)
  return all.map(({ input }) => input)
}

function hasAlternatives({ plan, nodes }: CompiledDocument): boolean {
  for (const { options } of plan.nodes.values()) {
    const { recovery = [] } = options
    const fallback = recovery.findLastIndex(({ kind }) => kind === 'fallback')
    const again = recovery.findIndex(({ kind }) => kind === 'retry' || kind === 'repair')
    if (again >= 0 && again < fallback) return true
  }
  return [...nodes.values()].some((node) => node.kind !== 'leaf' && hasAlternatives(node))
}

/** Recovery decides by classes, and so does the order of a plan (B9, C3). */
function classesOf(compiled: CompiledDocument): Classes | undefined {
  if (!asksForClasses(compiled)) return undefined
  const found = [...leaves(compiled)].map((leaf) => [leaf.reference, leaf.sideEffects] as const)
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

function asksForClasses({ kind, plan, nodes }: CompiledDocument): boolean {
  if (kind === 'plan') return true
  const options = [...plan.nodes.values()].map((node) => node.options)
  if (options.some(({ recovery }) => recovery !== undefined)) return true
  return [...nodes.values()].some((node) => node.kind !== 'leaf' && asksForClasses(node))
}

/** Leaves whose class is their block's: a node may name another. */
function* leaves({ nodes, plan }: CompiledDocument): Generator<CompiledLeaf> {
  const named = [...plan.nodes.values()].filter((node) => node.options.sideEffects !== undefined)
  const ownClass = new Set(named.map(({ name }) => name))
  for (const [name, node] of nodes) {
    if (node.kind !== 'leaf') yield* leaves(node)
    else if (!ownClass.has(name)) yield node
  }
}

function compositeAt(root: CompiledDocument, path: string): CompiledDocument {
  let found = root
  for (const name of path.split('/').slice(1)) {
    const node = found.nodes.get(name)
    assert(node !== undefined && node.kind !== 'leaf', `there is no composite at ${path}`)
    found = node
  }
  return found
}

/** A leaf at the root of a run, with what checkpoints and verification need of its chart. */
export interface CompiledRootLeaf extends CompiledLeaf {
  readonly config: ChartNode
  readonly configHash: RootBlock['definitionHash']
  readonly definitionHash: RootBlock['definitionHash']
  readonly library: LeafLibrary
}

// A single-step run has no recovery of its own: its caller tries again under another id.
const library: LeafLibrary = { repair: () => undefined }
const configHash = hashJson(blockChart)
const logic = leafLogic(library)

/** One leaf as a run of its own (L6): its receipt is all that the run leaves. */
export function leafRootOf(options: {
  /** As `run.started` keeps it; plain JSON. */
  readonly definition: JsonObject
  /** What lists of runs show. */
  readonly name: string
  readonly block: Pick<Block, 'name' | 'version' | 'sideEffects'>
  readonly isPrivate: RootBlock['isPrivate']
}): { readonly root: RootBlock; readonly compiled: CompiledRootLeaf } {
  const { definition, name, block, isPrivate } = options
  const definitionText = canonicalize(definition)
  const definitionHash = hashJson(definition)
  const { version, sideEffects } = block
  const leaf = {
    kind: 'leaf',
    reference: block.name,
    name: block.name,
    version,
    sideEffects
  } as const
  const config: ChartNode = blockChart
  return {
    compiled: { ...leaf, config, configHash, definitionHash, library },
    root: {
      name,
      version,
      definition,
      definitionText: () => definitionText,
      definitionHash,
      logic,
      leafTable: () => leafTable(library),
      input: { path: ROOT_PATH, node: ROOT_PATH, block: block.name, sideEffects },
      isUnit: true,
      singleStepBlock: block.name,
      isPrivate,
      hasAlternatives: () => false,
      classes: () => undefined,
      compositeAt: () => ({ version, definitionHash })
    }
  }
}
