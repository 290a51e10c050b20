import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { type HostileKind, hostileDocuments } from '../../bench/hostile-documents.js'
import { flowSchema } from '../../src/agent/flow/schema.js'
import { compositeSchema, planSchema } from '../../src/block/document/schema.js'
import { atOnce, checkingSchema, isJsonObject, limits } from '../../src/core/index.js'
import { graphSchema } from '../../src/intent/graph/schema.js'
import { flowSchemaOf3 } from '../../src/workflow/document/flow.js'
import { packSchema } from '../../src/workflow/document/pack.js'
import { protocolSchema } from '../../src/workflow/document/protocol.js'

const schemas: Partial<Record<HostileKind, () => z.ZodType>> = {
  composite: compositeSchema,
  plan: planSchema,
  graph: graphSchema,
  flow: () => flowSchema,
  workflow: () => flowSchemaOf3,
  protocol: () => protocolSchema,
  pack: () => packSchema
}
const BYTES = 6_000

/** An issue without what says how many findings are not among those that are shown. */
function shown(issue: z.core.$ZodIssue): unknown {
  const { path, code } = issue
  if (code !== 'unrecognized_keys') return { path, code, message: issue.message }
  return { path, code, keys: issue.keys.slice(0, limits.DOCUMENT_FINDINGS_MAX) }
}

const isCount = ({ message }: z.core.$ZodIssue) => message.includes('are not shown')

describe('a schema that checks in pieces', () => {
  it.each(Object.keys(schemas) as HostileKind[])(
    'makes of a hostile %s what it makes of it at once, or finds the same first issues',
    (kind) => {
      const schema = schemas[kind]?.()
      if (schema === undefined) throw new Error('every kind has a schema')
      for (const { name, make } of hostileDocuments.filter((one) => one.kind === kind)) {
        const value: unknown = JSON.parse(make(BYTES))
        if (!isJsonObject(value as never)) continue
        const whole = schema.safeParse(value)
        const inPieces = atOnce(checkingSchema(schema, value))
        if (whole.success) {
          expect(inPieces, name).toEqual({ success: true, data: whole.data })
          continue
        }
        if (inPieces.success) throw new Error(`${name}: only at once an issue is found`)
        const first = whole.error.issues.slice(0, limits.DOCUMENT_FINDINGS_MAX)
        const issues = first.filter((one) => !isCount(one)).map(shown)
        expect(inPieces.issues.map(shown), name).toEqual(issues)
      }
    }
  )
})
