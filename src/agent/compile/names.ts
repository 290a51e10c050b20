/** Names of a flow as names of a composite, which are narrower. */

/** `flow.` and the flow's name in lower case. */
export function compositeNameOf(flowName: string): string {
  const slug = flowName
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
  return `flow.${slug === '' ? 'unnamed' : slug.slice(0, 100)}`
}

const nodeName = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/
const NAME_LENGTH_MAX = 56

/** A name for each node id: the id itself where it will do. Depends on the ids alone. */
export function nodeNamesOf(ids: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(ids.filter((id) => nodeName.test(id)))
  const counts = new Map<string, number>()
  return new Map(
    ids.map((id) => {
      if (nodeName.test(id)) return [id, id]
      const base = `n-${id.replace(/[^A-Za-z0-9_-]+/g, '_')}`.slice(0, NAME_LENGTH_MAX)
      let name = base
      // All counts below the last one are taken.
      let count = counts.get(base) ?? 2
      for (; taken.has(name); count += 1) name = `${base}-${count}`
      counts.set(base, count)
      taken.add(name)
      return [id, name]
    })
  )
}
