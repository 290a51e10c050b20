export interface Ordered {
  /** Ids in an order in which each comes after those it needs; ties by depth, then by id. */
  readonly order: readonly string[]
  /** Longest way from a start, by id. */
  readonly depth: ReadonlyMap<string, number>
  /** Ids of one cycle, in its order; absent when there is none. */
  readonly cycle?: readonly string[]
}

/** Orders a graph; linear in nodes and edges but for the final sort. */
export function orderGraph(deps: ReadonlyMap<string, readonly string[]>): Ordered {
  const dependents = new Map<string, string[]>()
  const missing = new Map<string, number>()
  for (const [id, needed] of deps) {
    missing.set(id, needed.length)
    for (const one of needed) {
      const known = dependents.get(one)
      if (known === undefined) dependents.set(one, [id])
      else known.push(id)
    }
  }
  const depth = new Map<string, number>()
  const open = [...missing].filter(([, count]) => count === 0).map(([id]) => id)
  for (const id of open) depth.set(id, 0)
  for (const id of open) {
    const next = (depth.get(id) ?? 0) + 1
    for (const dependent of dependents.get(id) ?? []) {
      depth.set(dependent, Math.max(depth.get(dependent) ?? 0, next))
      const left = (missing.get(dependent) ?? 0) - 1
      missing.set(dependent, left)
      // The list grows while it is walked, which is what makes the walk complete.
      if (left === 0) open.push(dependent)
    }
  }
  const order = [...open].sort((left, right) => {
    const difference = (depth.get(left) ?? 0) - (depth.get(right) ?? 0)
    return difference !== 0 ? difference : left < right ? -1 : 1
  })
  if (open.length === deps.size) return { order, depth }
  return { order, depth, cycle: cycleAmong(deps, new Set(open)) }
}

function cycleAmong(
  deps: ReadonlyMap<string, readonly string[]>,
  done: ReadonlySet<string>
): readonly string[] {
  const trail: string[] = []
  const seen = new Map<string, number>()
  let at = [...deps.keys()].filter((id) => !done.has(id)).sort()[0]
  // Every node that is left needs another one that is left, so the walk must come back.
  while (at !== undefined && !seen.has(at)) {
    seen.set(at, trail.length)
    trail.push(at)
    at = (deps.get(at) ?? []).find((id) => !done.has(id))
  }
  return at === undefined ? trail : trail.slice(seen.get(at) ?? 0)
}
