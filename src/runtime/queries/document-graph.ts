import {
  type CompositeDefinition,
  type DocumentDefinition,
  type GraphDefinition,
  isPlanDefinition,
  type NodeDefinition,
  type PlanDefinition,
  type RunStarted
} from '../../block/index.js'
import { ROOT_PATH } from '../../code/index.js'
import { isJsonObject, type Json, limits } from '../../core/index.js'
import { isIntentDefinition } from '../../intent/index.js'
import type { DocumentGraph, GraphEdge, GraphNode } from './picture-types.js'

/** What the names of a document led to, as far as that is registered here. */
export interface GraphNames {
  /** A document that another one uses. */
  composite(reference: string): DocumentDefinition | undefined
  /** Side-effect class of a block. */
  sideEffects(reference: string): string | null
}

/** The document of a run as a graph: what its first entry says, and what its names led to. */
export function graphOf(
  { definition, name, classes = {} }: Pick<RunStarted, 'definition' | 'name' | 'classes'>,
  names: GraphNames
): DocumentGraph {
  if (isIntentDefinition(definition)) {
    const { action } = definition
    const node = { path: ROOT_PATH, id: action, does: action, sideEffects: null, confirm: false }
    return { kind: 'intent', name, nodes: [node], edges: [] }
  }
  const known: GraphNames = {
    composite: (reference) => names.composite(reference),
    sideEffects: (reference) =>
      Object.hasOwn(classes, reference)
        ? (classes[reference] ?? null)
        : names.sideEffects(reference)
  }
  // The journal gives back what the runtime has written.
  return documentGraph(definition as unknown as DocumentDefinition, name, ROOT_PATH, known, 0)
}

function documentGraph(
  definition: DocumentDefinition,
  name: string,
  path: string,
  names: GraphNames,
  depth: number
): DocumentGraph {
  if (isPlanDefinition(definition)) return planGraph(definition, name, path, names, depth)
  return compositeGraph(definition, name, path, names, depth)
}

function compositeGraph(
  { nodes, transitions }: GraphDefinition | CompositeDefinition,
  name: string,
  path: string,
  names: GraphNames,
  depth: number
): DocumentGraph {
  const all = Object.entries(nodes)
  return {
    kind: all.some(([, node]) => flowNameOf(node) !== undefined) ? 'flow' : 'composite',
    name,
    nodes: all.map(([id, node]) => nodeOf(id, node, path, names, depth)),
    edges: Object.entries(transitions).flatMap(([from, branches]) =>
      branches.map(({ condition, target }, index): GraphEdge => {
        const when = condition.kind === 'named' ? condition.name : null
        const text = condition.kind === 'cel' ? condition.cel : when
        return { from, to: target, order: index + 1, when: text }
      })
    )
  }
}

function planGraph(
  { nodes }: PlanDefinition,
  name: string,
  path: string,
  names: GraphNames,
  depth: number
): DocumentGraph {
  const isWorkflow = nodes.some((node) => aisNodeOf(node) !== undefined)
  return {
    kind: isWorkflow ? 'workflow' : 'plan',
    name,
    nodes: nodes.map((node) => nodeOf(node.id, node, path, names, depth)),
    edges: nodes.flatMap((node) => {
      const when = conditionsOf(aisNodeOf(node))
      return node.deps.map((from) => ({ from, to: node.id, order: null, when }))
    })
  }
}

type Node = Omit<NodeDefinition, 'onError'>

function nodeOf(
  id: string,
  node: Node,
  parent: string,
  names: GraphNames,
  depth: number
): GraphNode {
  const { work, confirm, sideEffects } = node
  const path = `${parent}/${id}`
  const shown = { path, id, does: doneBy(node), confirm: confirm !== undefined }
  if (work.kind === 'block') {
    return { ...shown, sideEffects: sideEffects ?? names.sideEffects(work.block) }
  }
  const graph = depth < limits.GRAPH_DEPTH_MAX ? innerGraph(id, work, path, names, depth + 1) : null
  return {
    ...shown,
    sideEffects: sideEffects ?? null,
    ...(graph === null ? {} : { graph })
  }
}

function innerGraph(
  id: string,
  work: Exclude<NodeDefinition['work'], { readonly kind: 'block' }>,
  path: string,
  names: GraphNames,
  depth: number
): DocumentGraph | null {
  if (work.kind === 'composite') return compositeGraph(work.graph, id, path, names, depth)
  const used = names.composite(work.use)
  return used === undefined ? null : documentGraph(used, used.name, path, names, depth)
}

/** Block, document, action or agent that does a node. */
function doneBy(node: Node): string {
  const { work, input } = node
  if (work.kind === 'composite') return 'composite'
  if (work.kind === 'use') return work.use
  const source = membersOf(aisNodeOf(node)?.['source'])
  const { protocol, name, step } = source
  if (typeof protocol === 'string' && typeof name === 'string') {
    return typeof step === 'string' ? `${protocol} ${name} (${step})` : `${protocol} ${name}`
  }
  const agent = membersOf(literalIn(input, 'agent'))['agentId']
  if (flowNameOf(node) !== undefined && typeof agent === 'string') return agent
  const action = literalIn(input, 'action')
  return typeof action === 'string' && work.block.startsWith('intent') ? action : work.block
}

/** A node of a plan of AIS, which stands as a literal in its input. */
function aisNodeOf({ input }: Pick<Node, 'input'>): Readonly<Record<string, Json>> | undefined {
  const { node } = membersOf(literalIn(input, 'spec'))
  return isJsonObject(node ?? null) ? membersOf(node) : undefined
}

/** Name of the flow that a node was compiled from. */
function flowNameOf({ input }: Pick<Node, 'input'>): string | undefined {
  const { entry } = membersOf(membersOf(input)['object'])
  const name = literalIn(entry, 'flowName')
  return typeof name === 'string' ? name : undefined
}

/** Conditions of AIS as one text: all of them must hold. */
function conditionsOf(node: Readonly<Record<string, Json>> | undefined): string | null {
  const conditions = node?.['conditions']
  if (!Array.isArray(conditions) || conditions.length === 0) return null
  return conditions
    .map((one) => {
      const { value = null } = membersOf(one)
      const { cel } = membersOf(value)
      return typeof cel === 'string' ? cel : JSON.stringify(value)
    })
    .join(' && ')
}

/** The literal that a member of a value of the shape `object` is. */
function literalIn(value: Json | undefined, member: string): Json | undefined {
  return membersOf(membersOf(membersOf(value)['object'])[member])['lit']
}

function membersOf(value: Json | undefined): Readonly<Record<string, Json>> {
  return isJsonObject(value ?? null) ? (value as Readonly<Record<string, Json>>) : {}
}
