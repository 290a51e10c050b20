import { z } from 'zod-pinned'
import { flowSchemaOf2, flowSchemaOf3 } from './flow.js'
import { packSchema } from './pack.js'
import { protocolSchema } from './protocol.js'
import { detectKinds, valueSchema } from './value.js'

/** File names of `docs/schema/` and the schemas that are published there. */
const published = {
  'ais-flow-0.0.2.json': flowSchemaOf2,
  'ais-flow-0.0.3.json': flowSchemaOf3,
  'ais-0.0.2.json': protocolSchema,
  'ais-pack-0.0.2.json': packSchema
} as const

const reference = { $ref: '#/$defs/value' }
const one = (name: string, schema: object) => ({
  type: 'object',
  properties: { [name]: schema },
  required: [name],
  additionalProperties: false
})

const valueJsonSchema = {
  description: 'A value: an object with exactly one key.',
  oneOf: [
    one('lit', {}),
    one('ref', { type: 'string', minLength: 1 }),
    one('cel', { type: 'string', minLength: 1 }),
    one('detect', {
      type: 'object',
      properties: {
        kind: { enum: detectKinds },
        provider: { type: 'string' },
        candidates: { type: 'array' },
        constraints: { type: 'object' },
        requires_capabilities: { type: 'array', items: { type: 'string' } },
        extensions: { type: 'object' }
      },
      required: ['kind'],
      additionalProperties: false
    }),
    one('object', { type: 'object', additionalProperties: reference }),
    one('array', { type: 'array', items: reference })
  ]
}

/** The JSON Schemas of AIS documents as authors write them, by the names of their files. */
export function aisJsonSchemas(): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(published).map(([name, schema]) => [name, jsonSchemaOf(schema)])
  )
}

function jsonSchemaOf(schema: z.ZodType): unknown {
  const json = z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-2020-12',
    unrepresentable: 'any',
    reused: 'ref',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema !== valueSchema) return
      for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key)
      Object.assign(jsonSchema, reference)
    }
  })
  const definitions = { ...json.$defs, value: valueJsonSchema }
  return JSON.parse(JSON.stringify({ ...json, $defs: definitions }))
}
