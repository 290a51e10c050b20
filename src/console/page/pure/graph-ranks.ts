/** Edges by the places of their ends, and whether they lead back in the order of the graph. */
export interface RankedEdge {
  readonly from: number
  readonly to: number
  readonly order: number | null
  isBack: boolean
}

export interface Ranks {
  readonly rankOf: Int32Array
  /** Places of the nodes of each rank, in the order in which they stand. */
  readonly ranks: readonly (readonly number[])[]
}

/**
 * Ranks of nodes in linear time: the longest path over the edges that do not lead back. Inside a
 * rank: the mean place of what leads there, then the order of the document.
 */
export function ranksOf(count: number, edges: readonly RankedEdge[]): Ranks {
  const out: RankedEdge[][] = Array.from({ length: count }, () => [])
  const into: RankedEdge[][] = Array.from({ length: count }, () => [])
  for (const edge of edges) {
    out[edge.from]?.push(edge)
    into[edge.to]?.push(edge)
  }
  const order = visited(count, out, into)
  const rankOf = new Int32Array(count)
  const ranks: number[][] = []
  for (const node of order.reverse()) {
    const rank = rankOf[node] ?? 0
    for (const edge of out[node] ?? []) {
      if (!edge.isBack) rankOf[edge.to] = Math.max(rankOf[edge.to] ?? 0, rank + 1)
    }
    const members = ranks[rank] ?? []
    ranks[rank] = members
    members.push(node)
  }
  orderInRanks(ranks, into, count)
  return { rankOf, ranks }
}

/** Nodes in the order in which a walk in depth leaves them; marks the edges that lead back. */
function visited(
  count: number,
  out: readonly (readonly RankedEdge[])[],
  into: readonly (readonly RankedEdge[])[]
): number[] {
  const state = new Uint8Array(count)
  const order: number[] = []
  const visit = (start: number) => {
    const stack = [{ node: start, next: 0 }]
    state[start] = 1
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const edge = out[top.node]?.[top.next]
      top.next += 1
      if (edge === undefined) {
        state[top.node] = 2
        order.push(top.node)
        stack.pop()
      } else if (state[edge.to] === 1) edge.isBack = true
      else if (state[edge.to] === 0) {
        state[edge.to] = 1
        stack.push({ node: edge.to, next: 0 })
      }
    }
  }
  for (let node = 0; node < count; node += 1) {
    if (state[node] === 0 && into[node]?.length === 0) visit(node)
  }
  for (let node = 0; node < count; node += 1) if (state[node] === 0) visit(node)
  return order
}

/** What stands in order first comes first: a hundredth of a place for each number. */
const ORDER_WEIGHT = 0.01

function orderInRanks(
  ranks: readonly number[][],
  into: readonly (readonly RankedEdge[])[],
  count: number
): void {
  const place = new Float64Array(count)
  for (const members of ranks) {
    const mean = new Map(
      members.map((node, index) => {
        const from = (into[node] ?? []).filter((edge) => !edge.isBack)
        const sum = from.reduce(
          (total, edge) => total + (place[edge.from] ?? 0) + (edge.order ?? 0) * ORDER_WEIGHT,
          0
        )
        return [node, from.length === 0 ? index : sum / from.length] as const
      })
    )
    members.sort((one, other) => (mean.get(one) ?? 0) - (mean.get(other) ?? 0))
    members.forEach((node, index) => {
      place[node] = index - (members.length - 1) / 2
    })
  }
}
