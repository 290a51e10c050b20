import { expect, it } from 'vitest'
import { z as installed, type ZodType } from 'zod'
import { z as oldest } from 'zod-oldest'
import { schemaJson, type TypedSchema } from '../../../../src/block/code/schema.js'

/**
 * Schemas are hashed into definitions. The zod of this library writes them, whatever version of zod
 * has made them: most have one hash then (docs/decisions/0422).
 */
function schemasOf(z: typeof installed): Readonly<Record<string, ZodType>> {
  const tree: ZodType = z.lazy(() => z.object({ name: z.string(), below: z.array(tree) }))
  return {
    any: z.any(),
    json: z.json(),
    unknown: z.unknown(),
    text: z
      .string()
      .min(1)
      .max(80)
      .regex(/^[a-z]+$/),
    email: z.email(),
    uuid: z.uuid(),
    url: z.url(),
    date: z.iso.datetime(),
    number: z.number().min(0).max(10).multipleOf(0.5),
    integer: z.int(),
    boolean: z.boolean(),
    null: z.null(),
    literal: z.literal(['a', 1, null]),
    choice: z.enum(['card', 'transfer']),
    union: z.union([z.string(), z.number(), z.boolean()]),
    described: z.union([z.string(), z.number()]).describe('an amount').meta({ title: 'Amount' }),
    either: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('card'), number: z.string() }),
      z.object({ kind: z.literal('cash') })
    ]),
    both: z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })),
    nullable: z.string().nullable(),
    optional: z.object({ a: z.string().optional(), b: z.number().nullish() }),
    default: z.object({ times: z.number().default(3) }),
    prefault: z.object({ times: z.number().prefault(3) }),
    caught: z.object({ times: z.number().catch(3) }),
    object: z.object({ order: z.string(), lines: z.array(z.object({ cents: z.int() })) }),
    strict: z.strictObject({ a: z.string() }),
    loose: z.looseObject({ a: z.string() }),
    rest: z.object({ a: z.string() }).catchall(z.number()),
    array: z.array(z.string()).min(1).max(9),
    tuple: z.tuple([z.string(), z.number()]),
    tupleOfRest: z.tuple([z.string()], z.number()),
    record: z.record(z.string(), z.number()),
    recordOfChoice: z.partialRecord(z.enum(['a', 'b']), z.number()),
    changed: z.string().transform((text) => text.length),
    piped: z.string().pipe(z.coerce.number()),
    refined: z.string().refine((text) => text !== ''),
    branded: z.string().brand<'OrderId'>(),
    readonly: z.array(z.string()).readonly(),
    tree
  }
}

/**
 * What the schemas themselves hold otherwise in the oldest: patterns of zod's own, descriptions,
 * which its copy keeps to itself, and what tells variants and partial records from others.
 */
const changed = ['date', 'described', 'either', 'email', 'recordOfChoice', 'uuid']

const byOldest = schemasOf(oldest as unknown as typeof installed)

it.each(Object.entries(schemasOf(installed)))(
  'has one hash, by whichever zod of version 4 it was made: %s',
  (name, schema) => {
    const [ours, theirs] = [schema, byOldest[name]].map((one) => schemaJson(one as TypedSchema))
    if (changed.includes(name)) expect(theirs).not.toEqual(ours)
    else expect(theirs).toEqual(ours)
  }
)
