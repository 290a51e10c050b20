import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'

/**
 * Paths that a patch of a failed node may change, by what stands in its spec: inputs, members of
 * `ctx` and `policy` that it reads, and its addresses (W14). `isExecuted`: it has failed after its
 * execution was done, and what a write has sent is not sent again. Values may be refused all the
 * same.
 */
export function patchablePaths(spec: JsonObject, isExecuted: boolean): readonly string[] {
  const { until = null, assert = null, amounts: _, ...sent } = objectAt(spec, 'node')
  const declared = Object.keys(objectAt(objectAt(spec, 'plan'), 'inputs'))
  const writes = objectAt(spec, 'mode')['writes']
  const mayHaveSent = sent['kind'] === 'action' && writes !== 'simulate'
  const hasSent = mayHaveSent && (isExecuted || until !== null)
  if (!hasSent) return [...readIn({ ...sent, until, assert }, declared), ...contractsOf(sent)]
  const executed = new Set(readIn(sent, declared))
  return readIn({ until, assert }, declared).filter((path) => !executed.has(path))
}

/** What a text names besides is taken as well, so that a name too many does no harm. */
function readIn(values: JsonObject, declared: readonly string[]): readonly string[] {
  const text = JSON.stringify(values)
  const isIndexed = /\binputs\[/.test(text)
  const inputs = declared.filter((name) =>
    isIndexed ? text.includes(name) : new RegExp(`\\binputs\\.${name}\\b`).test(text)
  )
  const read = [...text.matchAll(/\b(?:ctx|policy)\.[A-Za-z_]\w*/g)].map(([path]) => path)
  const others = [...new Set(read)].filter((path) => path !== 'ctx.account')
  return [...inputs.map((name) => `inputs.${name}`), ...others.sort()]
}

function contractsOf({ id, contracts }: JsonObject): readonly string[] {
  const listed = Array.isArray(contracts) ? (contracts as readonly Json[]) : []
  return listed.flatMap((one) =>
    isJsonObject(one) ? [`contracts.${String(id)}.${String(one['name'])}`] : []
  )
}

function objectAt(owner: JsonObject, key: string): JsonObject {
  const value = owner[key] ?? null
  return isJsonObject(value) ? value : {}
}
