import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { layoutOf, type PlacedNode } from '../../../../src/console/page/pure/graph-layout.js'

const node = (id: string) => ({
  path: `root/${id}`,
  id,
  does: 'work',
  sideEffects: null,
  confirm: false
})
const edge = (from: string, to: string, order: number | null = null) => ({
  from,
  to,
  order,
  when: order === null ? null : `response.data.kind == "${to}" && request.payload.amount > 100`
})

const graphs = fc.integer({ min: 1, max: 30 }).chain((count) => {
  const place = fc.nat(count - 1)
  const edges = fc.array(fc.tuple(place, place, fc.option(fc.integer({ min: 1, max: 4 }))))
  return edges.map((drawn) => ({
    nodes: Array.from({ length: count }, (_, index) => node(`n${index}`)),
    edges: drawn.map(([from, to, order]) => edge(`n${from}`, `n${to}`, order))
  }))
})

/** What of a letter stands above its line, in the font of labels. */
const LETTER_ABOVE = 8

function overlap(one: PlacedNode, other: PlacedNode): boolean {
  const isBeside = one.x + one.width <= other.x || other.x + other.width <= one.x
  const isAbove = one.y + one.height <= other.y || other.y + other.height <= one.y
  return !isBeside && !isAbove
}

describe('the layout of a document’s graph', () => {
  it('places each node once, inside the picture, and none over another', () => {
    fc.assert(
      fc.property(graphs, fc.boolean(), (graph, isAcross) => {
        const { nodes, edges, width, height } = layoutOf(graph, { isAcross })
        expect(nodes.map((placed) => placed.node.id)).toEqual(graph.nodes.map(({ id }) => id))
        expect(edges).toHaveLength(graph.edges.length)
        for (const [index, placed] of nodes.entries()) {
          expect(placed.x).toBeGreaterThanOrEqual(0)
          expect(placed.y).toBeGreaterThanOrEqual(0)
          expect(placed.x + placed.width).toBeLessThanOrEqual(width + 1e-6)
          expect(placed.y + placed.height).toBeLessThanOrEqual(height + 1e-6)
          expect(nodes.slice(index + 1).filter((other) => overlap(placed, other))).toEqual([])
        }
        for (const { line } of edges) expect(line).toMatch(/^M[-\d.]+ [-\d.]+[a-zA-Z\d.\s-]*$/)
      })
    )
  })

  it('has room for each condition where no node is, inside the picture', () => {
    fc.assert(
      fc.property(graphs, fc.boolean(), (graph, isAcross) => {
        const { nodes, edges, width, height } = layoutOf(graph, { isAcross })
        for (const { edge: drawn, label, isBack } of edges) {
          if (drawn.when === null) continue
          const { x, y, room } = label
          expect(room).toBeGreaterThan(30)
          expect(x).toBeGreaterThanOrEqual(0)
          expect(x + room).toBeLessThanOrEqual(width + 1e-6)
          expect(y).toBeLessThanOrEqual(height + 26)
          const text = { x, y: y - LETTER_ABOVE, width: room, height: LETTER_ABOVE }
          const under = nodes.filter((node) => overlap({ ...node, ...text }, node))
          expect(
            under.map(({ node: { id } }) => id),
            isBack ? 'back' : 'forth'
          ).toEqual([])
        }
      })
    )
  })

  it('lets what follows stand after what leads to it, unless the edge leads back', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const { nodes, edges } = layoutOf(graph)
        const xOf = new Map(nodes.map((placed) => [placed.node.id, placed.x]))
        const forth = edges.filter(({ isBack }) => !isBack)
        for (const { edge: drawn } of forth) {
          expect(xOf.get(drawn.from) ?? 0).toBeLessThan(xOf.get(drawn.to) ?? 0)
        }
      })
    )
  })

  it('lays out a thousand nodes in a row', () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => `n${index}`)
    const edges = ids.slice(1).map((id, index) => edge(`n${index}`, id))
    const { nodes, width } = layoutOf({ nodes: ids.map(node), edges })
    expect(nodes).toHaveLength(1_000)
    expect(nodes.at(-1)?.x).toBe(width - 158)
  })

  it('leaves out edges whose ends are not in the graph', () => {
    expect(layoutOf({ nodes: [node('a')], edges: [edge('a', 'b')] }).edges).toEqual([])
  })
})
