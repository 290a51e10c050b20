import type { DocumentDefinition } from '../../block/index.js'
import { type Json, versionedName } from '../../core/index.js'
import type { FlowFinding } from '../flow/finding.js'
import { LOADER_BLOCK } from '../position/blocks.js'
import { TURN_BLOCK } from '../turn/turn-block.js'
import { type BoundedHost, loaderProblems, turnProblems } from './bounds.js'

type Graph = Pick<DocumentDefinition, 'nodes'>
type Path = readonly (string | number)[]

/** A node of a definition, as far as it names a block and what the block is given. */
export interface ChoosingNode {
  readonly work:
    | { readonly kind: 'block'; readonly block: string }
    | { readonly kind: 'composite'; readonly graph: Graph }
    | { readonly kind: 'use' }
  readonly input?: Json
  readonly recovery: readonly {
    readonly kind: string
    readonly providers?: readonly string[]
  }[]
}

/** What the nodes of a definition choose and the host does not allow (semantics.md K15). */
export function outOfBounds(
  { nodes }: Graph,
  host: BoundedHost,
  path: Path = []
): readonly FlowFinding[] {
  if (host.bounds === undefined && host.isForeign === undefined) return []
  return Object.entries(nodes).flatMap(([key, node]: [string, ChoosingNode]) => {
    const at = [...path, 'nodes', Array.isArray(nodes) ? Number(key) : key]
    return nodeProblems(node, host, at)
  })
}

/** The same of one node. */
export function nodeProblems(
  { work, input, recovery }: ChoosingNode,
  host: BoundedHost,
  path: Path
): readonly FlowFinding[] {
  if (work.kind === 'composite') return outOfBounds(work.graph, host, [...path, 'composite'])
  if (work.kind === 'use') return []
  const fallbacks = recovery.flatMap(({ providers = [] }) => providers)
  const names = new Set([work.block, ...fallbacks].map((name) => versionedName(name).name))
  return [
    ...(names.has(TURN_BLOCK) ? turnProblems(input, host, path) : []),
    ...(names.has(LOADER_BLOCK) ? loaderProblems(input, host, path) : [])
  ]
}
