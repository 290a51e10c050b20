import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'

/** As a process has it that has made no schema yet. */
async function freshCore(): Promise<typeof import('../../../src/core/index.js')> {
  vi.resetModules()
  return import('../../../src/core/index.js')
}

const options = { unrepresentable: 'any', io: 'input' } as const

interface Tree {
  readonly children: readonly Tree[]
}
const tree: z.ZodType<Tree> = z.object({
  get children() {
    return z.array(tree)
  }
})

const schemas: Readonly<Record<string, z.ZodType>> = {
  any: z.json(),
  text: z.string().min(1).max(9).regex(/^a/).meta({ description: 'a text', id: 'text' }),
  formats: z.object({ at: z.iso.datetime(), to: z.email(), of: z.url(), id: z.uuid() }),
  numbers: z.tuple([z.int().min(1), z.number().multipleOf(2), z.bigint()], z.literal(['a', 1])),
  members: z.strictObject({ a: z.string().optional(), b: z.enum(['x', 'y']).default('x') }),
  loose: z.looseObject({ a: z.nullable(z.date()) }).partial(),
  records: z.record(z.string().max(3), z.union([z.boolean(), z.null(), z.undefined()])),
  either: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('a') }),
    z.object({ kind: z.literal('b'), tree })
  ]),
  both: z.intersection(z.object({ a: z.string() }), z.object({ b: z.map(z.string(), z.int()) })),
  checked: z
    .string()
    .refine((text) => text !== '')
    .transform(Number)
    .pipe(z.number()),
  unwritable: z.custom<Buffer>(Buffer.isBuffer).catch(Buffer.alloc(0)).readonly(),
  late: z.lazy(() => z.preprocess(String, z.stringbool())),
  tree
}

describe('the schemas of blocks', () => {
  it('write the JSON Schema of their hash by themselves as the library writes it', async () => {
    const { inputJsonSchema, lazySchema } = await freshCore()
    const expected = Object.values(schemas).map((schema) => z.toJSONSchema(schema, options))
    const ownWriting = Object.values(schemas).map(inputJsonSchema)
    lazySchema((library) => library.string())()
    const writtenByLibrary = Object.values(schemas).map(inputJsonSchema)
    expect(ownWriting).toEqual(expected)
    expect(writtenByLibrary).toEqual(expected)
  })

  it('are written by the library where they cannot write themselves', async () => {
    const { inputJsonSchema } = await freshCore()
    const small = mini.object({ a: mini.string(), b: mini.array(mini.int()) })
    const inside = z.object({ small: small as unknown as z.ZodType })
    const expected = [small, inside].map((schema) => z.toJSONSchema(schema, options))
    expect([small as unknown as z.ZodType, inside].map(inputJsonSchema)).toEqual(expected)
  })

  it('are made once, with the first value that is checked', async () => {
    const { lazySchema } = await freshCore()
    let made = 0
    const schema = lazySchema((library) => {
      made += 1
      return library.strictObject({ a: library.int() })
    })
    expect(made).toBe(0)
    expect([schema().safeParse({ a: 1 }).success, schema().safeParse({ a: 'b' }).success]).toEqual([
      true,
      false
    ])
    expect(made).toBe(1)
  })
})
