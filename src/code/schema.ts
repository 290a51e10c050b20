import type { z } from 'zod-pinned'
import {
  blockError,
  canonicalize,
  type Hash,
  inputJsonSchema,
  isJsonObject,
  type Json,
  limits,
  sha256Hex
} from '../core/index.js'
import { type Parsed, readerOf, type StandardSchema } from './value-schema.js'

/** A schema of zod, or of any library that keeps to the Standard Schema, with its types. */
export interface TypedSchema<Input = unknown, Output = Input> {
  readonly '~standard': StandardSchema<Output>['~standard'] & {
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** What a schema takes, and what it gives. */
export type SchemaInput<Schema extends TypedSchema> = NonNullable<
  Schema['~standard']['types']
>['input']
export type SchemaOutput<Schema extends TypedSchema> = NonNullable<
  Schema['~standard']['types']
>['output']

export const anyValue = (value: unknown): Parsed => ({ ok: true, value })

export function parserOf(schema: TypedSchema | undefined): (value: unknown) => Parsed {
  if (schema === undefined) return anyValue
  return isZod(schema)
    ? (value) => parseWith(schema, value)
    : (value) => readerOf(schema)(value as Json)
}

function isZod(schema: object): schema is z.ZodType {
  return '_zod' in schema && 'safeParse' in schema
}

export function parseWith(schema: z.ZodType, value: unknown): Parsed {
  const result = schema.safeParse(value)
  if (result.success) return { ok: true, value: result.data }
  const issue = result.error.issues[0]
  const path = issue === undefined ? '' : issue.path.map(String).join('.')
  const place = path === '' ? 'value' : path
  // The library's own text may change with it: only people are told.
  const explanation = `${place}: ${issue?.message ?? 'invalid'}`
  return { ok: false, problem: `${place}: ${issue?.code ?? 'invalid'}`, explanation }
}

// A memo of a pure function, not state: versions of a block share their schemas.
const textsOfSchemas = new WeakMap<z.ZodType, string>()

/** A schema as it stands in hashes: JSON Schema where it has one, else whose it is. */
export function schemaJson(schema: TypedSchema | undefined): Json {
  if (schema === undefined) return null
  const text = isZod(schema) ? zodText(schema) : JSON.stringify(standardJson(schema))
  return JSON.parse(text) as Json
}

function zodText(schema: z.ZodType): string {
  const known = textsOfSchemas.get(schema)
  if (known !== undefined) return known
  const text = JSON.stringify(inputJsonSchema(schema))
  textsOfSchemas.set(schema, text)
  return text
}

function standardJson(schema: TypedSchema): unknown {
  const { vendor, ...rest } = schema['~standard']
  const { jsonSchema } = rest as { readonly jsonSchema?: { input?(options: object): unknown } }
  const made = jsonSchema?.input?.({ target: 'draft-2020-12' })
  return isJsonObject(made as Json) ? made : { vendor }
}

/** {@link schemaJson} of a block's or workflow's. Throws `block.invalid_definition`. */
export function schemaOf(name: string, schema: TypedSchema | undefined, which: string): Json {
  try {
    return schemaJson(schema)
  } catch (cause) {
    const problem = `its ${which} schema cannot be written as JSON Schema`
    throw blockError('block.invalid_definition', { name, problem }, { cause })
  }
}

/** The JSON Schema of any value, as it stands in the hashes of the kernel's leaves. */
const anyJson = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  anyOf: [
    { type: 'string' },
    { type: 'number' },
    { type: 'boolean' },
    { type: 'null' },
    { type: 'array', items: { $ref: '#' } },
    {
      type: 'object',
      propertyNames: { type: 'string' },
      additionalProperties: { $ref: '#' }
    }
  ]
}

// A memo of a pure function, not state: each runtime that is opened has the same few leaves.
const hashesOfAnyInput = new Map<string, Hash>()

/** Hash of the code of a kernel's leaf: its name and version, and that it takes any value. */
export function hashAnyInput(name: string, version: string): Hash {
  const leaf = `${name}@${version}`
  const known = hashesOfAnyInput.get(leaf)
  if (known !== undefined) return known
  const code = { name, version, schemas: { input: anyJson, output: null } }
  const hash = sha256Hex(canonicalize(code))
  if (hashesOfAnyInput.size >= limits.CACHE_ENTRIES_MAX) hashesOfAnyInput.clear()
  hashesOfAnyInput.set(leaf, hash)
  return hash
}
