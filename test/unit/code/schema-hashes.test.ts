import { describe, expect, it } from 'vitest'
import { z as installed, type ZodType } from 'zod'
import { z as between } from 'zod-between'
import * as mini from 'zod-between/mini'
import { z as oldest } from 'zod-oldest'
import { z as pinned } from 'zod-pinned'
import { defineBlock } from '../../../src/code/index.js'
import { schemaJson, type TypedSchema } from '../../../src/code/schema.js'

/**
 * Schemas are hashed into definitions. Whichever zod 4 has made them, they have one hash: that of
 * the version that this library writes them with (docs/decisions/0432).
 */
type Kinds = Readonly<Record<string, ZodType>>
type Zod = typeof installed

function kindsOf(z: Zod): Kinds {
  const tree: ZodType = z.lazy(() => z.object({ name: z.string(), below: z.array(tree) }))
  const folder = z.object({
    name: z.string(),
    get folders() {
      return z.array(folder)
    }
  })
  const address = z.object({ street: z.string() })
  const ab = z.object({ a: z.string(), b: z.int() })
  return {
    ...plainKinds(z),
    ...textKinds(z),
    ...numberKinds(z),
    ...recordKinds(z),
    tree,
    folder,
    shared: z.object({ home: address, work: address }),
    object: z.object({ order: z.string(), lines: z.array(z.object({ cents: z.int() })) }),
    none: z.object({}),
    strict: z.strictObject({ a: z.string() }),
    loose: z.looseObject({ a: z.string() }),
    rest: z.object({ a: z.string() }).catchall(z.number()),
    partial: ab.partial(),
    required: ab.partial().required(),
    picked: ab.pick({ a: true }),
    omitted: ab.omit({ a: true }),
    extended: ab.extend({ c: z.boolean() }),
    keys: ab.keyof(),
    refinedObject: ab.refine(() => true),
    either: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('card'), number: z.string() }),
      z.object({ kind: z.literal('cash') })
    ]),
    both: z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })),
    strictBoth: z.strictObject({ a: z.string() }).and(z.strictObject({ b: z.string() })),
    textsAtOnce: z.string().and(z.string().min(1)).and(z.string().max(3)),
    optional: z.object({ a: z.string().optional(), b: z.number().nullish() }),
    needed: z.object({ a: z.string().optional().nonoptional() }),
    default: z.object({
      times: z.number().default(3),
      texts: z.array(z.string()).default(() => [])
    }),
    prefault: z.object({ times: z.number().prefault(3) }),
    caught: z.object({ times: z.number().catch(3) }),
    described: z.union([z.string(), z.number()]).describe('an amount').meta({ title: 'Amount' }),
    describedParts: z.object({
      a: z.string().describe('first'),
      b: z.string().describe('second').optional(),
      c: z.array(z.int().describe('each')).describe('all'),
      d: z.string().describe('inner').nullable().default('none')
    }),
    named: z.object({ a: z.string().meta({ id: 'a-text', title: 'A' }), b: z.string() }),
    example: z.string().meta({ examples: ['a'], deprecated: true, own: 1 })
  }
}

function plainKinds(z: Zod): Kinds {
  return {
    any: z.any(),
    json: z.json(),
    unknown: z.unknown(),
    never: z.never(),
    undefined: z.undefined(),
    boolean: z.boolean(),
    null: z.null(),
    date: z.date(),
    literal: z.literal(['a', 1, null]),
    oneLiteral: z.literal('a'),
    choice: z.enum(['card', 'transfer']),
    numbers: z.enum({ one: 1, two: 2 }),
    mixed: z.enum({ one: 1, b: 'b' }),
    union: z.union([z.string(), z.number(), z.boolean()]),
    nullable: z.string().nullable(),
    nullableObject: z.object({ a: z.string() }).nullable(),
    nullableChoice: z.enum(['a']).nullable(),
    array: z.array(z.string()).min(1).max(9),
    arrayOfTwo: z.array(z.string()).length(2),
    tuple: z.tuple([z.string(), z.number()]),
    tupleOfRest: z.tuple([z.string()], z.number()),
    tupleOfOptional: z.tuple([z.string(), z.number().optional()]),
    tupleOfNone: z.tuple([]),
    set: z.set(z.string()),
    map: z.map(z.string(), z.number()),
    file: z.file().mime('text/plain'),
    changed: z.string().transform((text) => text.length),
    piped: z.string().pipe(z.coerce.number()),
    before: z.preprocess((value) => value, z.string()),
    coerced: z.coerce.date(),
    refined: z.string().refine((text) => text !== ''),
    refinedMore: z.string().superRefine(() => undefined),
    branded: z.string().brand<'OrderId'>(),
    readonly: z.array(z.string()).readonly(),
    switch: z.stringbool(),
    custom: z.custom(),
    instance: z.instanceof(Map),
    promise: z.promise(z.string())
  }
}

function textKinds(z: Zod): Kinds {
  const { regexes } = z
  return {
    text: z
      .string()
      .min(1)
      .max(80)
      .regex(/^[a-z]+$/),
    twoPatterns: z.string().regex(/^a/).regex(/z$/),
    parts: z.string().startsWith('a').endsWith('b').includes('c'),
    cases: z.string().trim().toLowerCase().lowercase(),
    overwritten: z.string().overwrite((text) => text),
    email: z.email(),
    emailOfText: z.string().email(),
    shortEmail: z.email().max(30),
    ownEmail: z.email({ pattern: /@example\.com$/ }),
    html5Email: z.email({ pattern: regexes.html5Email }),
    uuid: z.uuid(),
    uuid4: z.uuidv4(),
    uuid7: z.uuidv7(),
    guid: z.guid(),
    url: z.url(),
    urlOfHost: z.url({ protocol: /^https$/, hostname: /example/ }),
    emoji: z.emoji(),
    nanoid: z.nanoid(),
    cuid: z.cuid(),
    cuid2: z.cuid2(),
    ulid: z.ulid(),
    xid: z.xid(),
    ksuid: z.ksuid(),
    ipv4: z.ipv4(),
    ipv6: z.ipv6(),
    cidrv4: z.cidrv4(),
    cidrv6: z.cidrv6(),
    base64: z.base64(),
    base64url: z.base64url(),
    e164: z.e164(),
    jwt: z.jwt(),
    ownFormat: z.stringFormat('own', /^own$/),
    datetime: z.iso.datetime(),
    datetimeOfOffset: z.iso.datetime({ offset: true }),
    localDatetime: z.iso.datetime({ local: true }),
    preciseDatetime: z.iso.datetime({ precision: 3 }),
    minuteDatetime: z.iso.datetime({ precision: -1 }),
    day: z.iso.date(),
    time: z.iso.time(),
    preciseTime: z.iso.time({ precision: 2 }),
    duration: z.iso.duration(),
    template: z.templateLiteral(['a', z.number()]),
    templateOfFormats: z.templateLiteral([z.uuid(), '-', z.email()])
  }
}

function numberKinds(z: Zod): Kinds {
  return {
    number: z.number().min(0).max(10).multipleOf(0.5),
    openRange: z.number().gt(0).lt(10),
    integer: z.int(),
    integerOfNumber: z.number().int(),
    positive: z.int().min(1),
    int32: z.int32(),
    uint32: z.uint32(),
    float32: z.float32(),
    bigint: z.bigint(),
    int64: z.int64(),
    coercedNumber: z.coerce.number().min(1)
  }
}

function recordKinds(z: Zod): Kinds {
  const choice = z.enum(['a', 'b'])
  return {
    record: z.record(z.string(), z.number()),
    recordOfChoice: z.record(choice, z.number()),
    recordOfLiterals: z.record(z.literal(['a', 'b']), z.string()),
    recordOfPattern: z.record(z.string().regex(/^a/), z.number()),
    recordOfNumbers: z.record(z.number(), z.string()),
    recordOfUuid: z.record(z.uuid(), z.string()),
    recordOfUnion: z.record(z.union([z.literal('a'), z.string().min(2)]), z.string()),
    partialRecord: z.partialRecord(choice, z.number()),
    partialRecordOfText: z.partialRecord(z.string(), z.string())
  }
}

/** What came after 4.0. */
function laterKinds(z: Zod): Kinds {
  return {
    httpUrl: z.httpUrl(),
    hex: z.hex(),
    hash: z.hash('sha256'),
    mac: z.mac(),
    slug: z.string().slugify(),
    codec: z.codec(z.string(), z.number(), { decode: Number, encode: String }),
    xor: z.xor([z.string(), z.number()]),
    exactOptional: z.object({ a: z.string().exactOptional() }),
    looseRecord: z.looseRecord(z.string().regex(/^a/), z.number()),
    namedBeforeCheck: z.string().meta({ id: 'b-text', title: 'B' }).min(3),
    describedBeforeCheck: z.string().describe('one').min(3)
  }
}

const hashed = (schema: ZodType | undefined) => schemaJson(schema as TypedSchema | undefined)
const by = (library: unknown) => library as Zod

describe.each([
  ['installed', by(installed)],
  ['oldest, 4.0.0', by(oldest)],
  ['4.3.6', by(between)]
])('a schema made by zod, %s', (_, z) => {
  const theirs = kindsOf(z)
  it.each(Object.entries(kindsOf(by(pinned))))(
    'has the hash of the pinned version: %s',
    (name, ours) => {
      expect(hashed(theirs[name])).toEqual(hashed(ours))
    }
  )
})

describe('a schema made by zod 4.3.6', () => {
  const theirs = laterKinds(by(between))
  it.each(Object.entries(laterKinds(by(pinned))))(
    'has the hash of the pinned version: %s',
    (name, ours) => {
      expect(hashed(theirs[name])).toEqual(hashed(ours))
    }
  )
})

it('is given to each block that has it as a value of its own', () => {
  const input = pinned.object({ a: pinned.string() })
  const blocks = ['one', 'two'].map((name) => {
    return defineBlock({ name, version: '1.0.0', input, run: () => null })
  })
  const [one, two] = blocks.map(({ inputSchema }) => inputSchema)
  expect(one).toMatchObject({ properties: { a: { type: 'string' } } })
  expect(two).toEqual(one)
  expect(two).not.toBe(one)
})

it('has its hash also once it has been used', () => {
  const folderBy = (z: Zod) => {
    const folder = z.object({
      name: z.string(),
      get folders() {
        return z.array(folder)
      }
    })
    return folder
  }
  const [theirs, ours] = [folderBy(by(oldest)), folderBy(by(pinned))]
  theirs.parse({ name: 'a', folders: [] })
  expect(hashed(theirs)).toEqual(hashed(ours))
})

it('has its hash by the smaller interface of zod, whose registry says what it is', () => {
  const schema = mini.object({ a: mini.optional(mini.string().check(mini.minLength(2))) })
  schema.register(mini.globalRegistry, { description: 'an order' })
  const ours = pinned.object({ a: pinned.string().min(2).optional() }).describe('an order')
  expect(hashed(schema as never)).toEqual(hashed(ours))
})

it('is written as it says itself, where it does', () => {
  const own = by(between).custom()
  own._zod.toJSONSchema = () => ({ type: 'string', format: 'own' })
  expect(hashed(by(between).object({ own }))).toMatchObject({
    properties: { own: { type: 'string', format: 'own' } }
  })
})

it('has one hash where parts of it are made by other versions', () => {
  const ours = pinned.object({ pair: pinned.tuple([pinned.email()]), when: pinned.iso.datetime() })
  const pair = by(between).tuple([by(oldest).email() as never])
  const mixed = pinned.object({ pair: pair as never, when: by(oldest).iso.datetime() as never })
  expect(hashed(mixed)).toEqual(hashed(ours))
})

it('lacks a description that zod itself drops, as a check does up to 4.2', () => {
  const described = (z: Zod) => z.string().describe('one').min(3)
  expect(described(by(oldest)).description).toBeUndefined()
  expect(hashed(described(by(oldest)))).toEqual(hashed(pinned.string().min(3)))
  expect(hashed(described(by(pinned)))).toMatchObject({ description: 'one' })
})

it('is refused where it is of a kind that the pinned version does not have', () => {
  const later = pinned.string()
  const traits = new Set(['ZodMoney', '$ZodMoney'])
  const version = { ...later._zod.version, minor: 99 as never }
  const money = Object.create(later, { _zod: { value: { ...later._zod, traits, version } } })
  const block = { name: 'pay', version: '1.0.0', input: money, run: () => null } as const
  const refusal = expect.objectContaining({ code: 'block.invalid_definition' })
  expect(() => defineBlock(block)).toThrow(refusal)
})
