import type { JournalEntry as RunJournalEntry } from '../../block/index.js'
import type { JournalEntry } from '../../ledger/index.js'
import type { DocumentGraph, GraphEdge, GraphNode } from './picture-types.js'

/** Where a node is drawn: among those of the function, or of one of its atomic parts. */
interface Part {
  readonly path: string
  readonly nodes: Map<string, GraphNode>
  readonly edges: Map<string, GraphEdge>
  last: string | undefined
}

/**
 * A workflow function as a graph of what it did (B12): its steps as they were first asked for, and
 * which has followed which. Its journal is all that says so.
 */
export async function calledGraph(
  name: string,
  journal: AsyncIterable<readonly JournalEntry[]>
): Promise<DocumentGraph> {
  const whole = partAt('root')
  const scopes = new Map<number, Part>()
  for await (const part of journal) {
    // The ledger gives back what the runtime has written.
    for (const { value } of part) take(value as unknown as RunJournalEntry, whole, scopes)
  }
  return growing(name, whole)
}

function take(entry: RunJournalEntry, whole: Part, scopes: Map<number, Part>): void {
  if (entry.k !== 'called' || entry.call.kind === 'return') return
  const { call, seq } = entry
  const around = call.kind === 'step' && call.scope !== undefined ? call.scope : undefined
  const part = (around === undefined ? undefined : scopes.get(around)) ?? whole
  if (call.kind === 'scope') scopes.set(seq, partAt(`root/${call.name}`))
  follow(part, call.name)
  if (part.nodes.has(call.name)) return
  const path = `${part.path}/${call.name}`
  const inner = scopes.get(seq)
  part.nodes.set(call.name, {
    path,
    id: call.name,
    does: call.kind === 'step' ? call.block : 'atomic part',
    sideEffects: call.kind === 'step' ? call.sideEffects : null,
    confirm: call.kind === 'step' && call.options?.confirm !== undefined,
    ...(inner === undefined ? {} : { graph: growing(call.name, inner) })
  })
}

function partAt(path: string): Part {
  return { path, nodes: new Map(), edges: new Map(), last: undefined }
}

function follow(part: Part, to: string): void {
  const { last: from, edges } = part
  part.last = to
  if (from === undefined || edges.has(`${from} ${to}`)) return
  const order = [...edges.values()].filter((edge) => edge.from === from).length + 1
  edges.set(`${from} ${to}`, { from, to, order, when: null })
}

/** What is still added to a part shows in its graph. */
function growing(name: string, { nodes, edges }: Part): DocumentGraph {
  return {
    kind: 'function',
    name,
    get nodes() {
      return [...nodes.values()]
    },
    get edges() {
      return [...edges.values()]
    }
  }
}
