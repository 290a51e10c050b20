/**
 * One committed unit of work: what it read (undefined: absent) and what it wrote (null: deleted).
 */
export interface HistoryUnit {
  readonly name: string
  readonly reads: ReadonlyMap<string, string | undefined>
  readonly writes: ReadonlyMap<string, string | null>
}

/**
 * Whether some serial order of the units explains everything that they read. Searches orders, with
 * the sets of units done so far as memory; meant for small histories.
 */
export function isSerialisable(units: readonly HistoryUnit[]): boolean {
  const dead = new Set<string>()
  const search = (left: readonly HistoryUnit[], state: ReadonlyMap<string, string>): boolean => {
    if (left.length === 0) return true
    const mark = `${left.map(({ name }) => name).join()}|${JSON.stringify([...state].sort())}`
    if (dead.has(mark)) return false
    for (const unit of left) {
      if (!fits(unit, state)) continue
      const rest = left.filter((other) => other !== unit)
      if (search(rest, applied(unit, state))) return true
    }
    dead.add(mark)
    return false
  }
  return search(units, new Map())
}

/** Whether the units, in this very order, explain what they read: the order of the receipts. */
export function explains(units: readonly HistoryUnit[]): boolean {
  let state: ReadonlyMap<string, string> = new Map()
  for (const unit of units) {
    if (!fits(unit, state)) return false
    state = applied(unit, state)
  }
  return true
}

function fits(unit: HistoryUnit, state: ReadonlyMap<string, string>): boolean {
  for (const [key, seen] of unit.reads) if (state.get(key) !== seen) return false
  return true
}

function applied(unit: HistoryUnit, state: ReadonlyMap<string, string>) {
  const next = new Map(state)
  for (const [key, text] of unit.writes) {
    if (text === null) next.delete(key)
    else next.set(key, text)
  }
  return next
}
