import type { Arbitrary } from 'fast-check'
import { isJsonObject, type Json, type JsonObject, timeText } from '../../core/index.js'
import type { FastCheck } from './fast-check.js'

/** A part of a schema that nothing can be made of. */
export class UnmadeSchema extends Error {}

const DEPTH_MAX = 6
const ITEMS_MAX = 4
const TEXT_LENGTH_MAX = 24
const WHOLE_MAX = 1_000_000

/**
 * Values of a JSON Schema, as far as schemas of blocks go: what it leaves open is any small value.
 * Throws {@link UnmadeSchema} for what cannot be made from it.
 */
export function schemaArbitrary(fc: FastCheck, schema: Json): Arbitrary<Json> {
  try {
    return new Making(fc, schema).of(schema, 0)
  } catch (cause) {
    if (cause instanceof UnmadeSchema) throw cause
    // A pattern that fast-check does not know, a range without values.
    throw new UnmadeSchema(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

class Making {
  readonly #fc: FastCheck
  readonly #root: Json

  constructor(fc: FastCheck, root: Json) {
    this.#fc = fc
    this.#root = root
  }

  of(schema: Json, depth: number): Arbitrary<Json> {
    if (!isJsonObject(schema)) return this.#any()
    if (depth > DEPTH_MAX) throw new UnmadeSchema('it is nested too deeply')
    const { $ref: reference } = schema
    if (typeof reference === 'string') return this.of(this.#referred(reference), depth + 1)
    if ('const' in schema) return this.#fc.constant(schema['const'] ?? null)
    const choices = schema['enum']
    if (Array.isArray(choices)) return this.#fc.constantFrom(...choices)
    const options = schema['anyOf'] ?? schema['oneOf']
    if (Array.isArray(options)) {
      return this.#fc.oneof(...options.map((one) => this.of(one, depth + 1)))
    }
    const all = schema['allOf']
    if (Array.isArray(all)) return this.of(merged(schema, all), depth + 1)
    return this.#typed(schema, depth)
  }

  #typed(schema: JsonObject, depth: number): Arbitrary<Json> {
    const { type } = schema
    if (Array.isArray(type)) {
      return this.#fc.oneof(...type.map((one) => this.#typed({ ...schema, type: one }, depth)))
    }
    switch (type) {
      case 'string':
        return this.#text(schema)
      case 'integer':
        return this.#whole(schema)
      case 'number':
        return this.#number(schema)
      case 'boolean':
        return this.#fc.boolean()
      case 'null':
        return this.#fc.constant(null)
      case 'array':
        return this.#array(schema, depth)
      case 'object':
        return this.#object(schema, depth)
      default:
        return 'properties' in schema ? this.#object(schema, depth) : this.#any()
    }
  }

  /** A length beside a pattern or format is left to the block, which refuses what does not fit. */
  #text(schema: JsonObject): Arbitrary<Json> {
    const fc = this.#fc
    const { pattern, format } = schema
    const made = typeof format === 'string' ? this.#formatted(format) : undefined
    if (made !== undefined) return made
    if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern))
    const minLength = numberIn(schema, 'minLength') ?? 0
    const longest = minLength + TEXT_LENGTH_MAX
    const maxLength = Math.min(numberIn(schema, 'maxLength') ?? longest, longest)
    return fc.string({ minLength, maxLength })
  }

  #formatted(format: string): Arbitrary<string> | undefined {
    const fc = this.#fc
    switch (format) {
      case 'email':
        // What libraries take for an address differs, but not here.
        return fc.stringMatching(/^[a-z]{1,8}$/).map((name) => `${name}@example.com`)
      case 'uuid':
        return fc.uuid()
      case 'uri':
      case 'url':
        return fc.webUrl()
      case 'date-time':
        return fc.integer({ min: 0, max: TIME_MAX_S }).map(isoOf)
      case 'date':
        return fc.integer({ min: 0, max: TIME_MAX_S }).map((at) => isoOf(at).slice(0, DATE_LENGTH))
      default:
        return undefined
    }
  }

  #whole(schema: JsonObject): Arbitrary<Json> {
    const above = numberIn(schema, 'exclusiveMinimum')
    const below = numberIn(schema, 'exclusiveMaximum')
    const least = above === undefined ? numberIn(schema, 'minimum') : above + 1
    const most = below === undefined ? numberIn(schema, 'maximum') : below - 1
    const min = Math.ceil(Math.max(least ?? -WHOLE_MAX, Number.MIN_SAFE_INTEGER))
    const max = Math.floor(Math.min(most ?? Math.max(WHOLE_MAX, min + WHOLE_MAX), HIGHEST))
    const clamped = least === undefined ? Math.min(min, max) : min
    return this.#multiple(schema, this.#fc.integer({ min: clamped, max: Math.max(clamped, max) }))
  }

  #multiple(schema: JsonObject, made: Arbitrary<number>): Arbitrary<Json> {
    const of = numberIn(schema, 'multipleOf')
    return of === undefined || of <= 0 ? made : made.map((value) => value - (value % of))
  }

  #number(schema: JsonObject): Arbitrary<Json> {
    const min = numberIn(schema, 'minimum') ?? numberIn(schema, 'exclusiveMinimum') ?? -WHOLE_MAX
    const max = numberIn(schema, 'maximum') ?? numberIn(schema, 'exclusiveMaximum') ?? WHOLE_MAX
    const options = {
      min: Math.min(min, max),
      max: Math.max(min, max),
      minExcluded: 'exclusiveMinimum' in schema,
      maxExcluded: 'exclusiveMaximum' in schema,
      noNaN: true,
      noDefaultInfinity: true
    }
    // Zero has one form in what is hashed.
    return this.#fc.double(options).map((value) => (Object.is(value, -0) ? 0 : value))
  }

  #array(schema: JsonObject, depth: number): Arbitrary<Json> {
    const minLength = numberIn(schema, 'minItems') ?? 0
    const most = numberIn(schema, 'maxItems') ?? minLength + ITEMS_MAX
    const { prefixItems, items = {} } = schema
    if (Array.isArray(prefixItems)) {
      return this.#fc.tuple(...prefixItems.map((one) => this.of(one, depth + 1)))
    }
    const maxLength = Math.min(most, minLength + ITEMS_MAX)
    const item = this.of(items, depth + 1)
    return schema['uniqueItems'] === true
      ? this.#fc.uniqueArray(item, { minLength, maxLength, selector: (one) => JSON.stringify(one) })
      : this.#fc.array(item, { minLength, maxLength })
  }

  #object(schema: JsonObject, depth: number): Arbitrary<Json> {
    const { properties = {}, required = [], additionalProperties } = schema
    if (!isJsonObject(properties)) throw new UnmadeSchema('its properties are no object')
    const members = Object.entries(properties).map(
      ([key, member]) => [key, this.of(member, depth + 1)] as const
    )
    const requiredKeys = Array.isArray(required) ? required.map(String) : []
    const own = this.#fc.record(Object.fromEntries(members), {
      requiredKeys,
      noNullPrototype: true
    })
    if (members.length > 0 || !isJsonObject(additionalProperties)) return own
    const keys = this.#fc.string({ minLength: 1, maxLength: 8 })
    const values = this.of(additionalProperties, depth + 1)
    return this.#fc.dictionary(keys, values, { maxKeys: ITEMS_MAX, noNullPrototype: true })
  }

  #any(): Arbitrary<Json> {
    const fc = this.#fc
    return fc.oneof(
      fc.constant<Json>(null),
      fc.boolean(),
      fc.integer({ min: -100, max: 100 }),
      fc.string({ maxLength: 8 })
    )
  }

  #referred(reference: string): Json {
    if (!reference.startsWith('#')) throw new UnmadeSchema(`it refers to ${reference}`)
    let found: Json | undefined = this.#root
    for (const part of reference.split('/').slice(1)) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
      found = isJsonObject(found) ? found[key] : undefined
    }
    if (found === undefined) throw new UnmadeSchema(`it has no ${reference}`)
    return found
  }
}

const HIGHEST = Number.MAX_SAFE_INTEGER
const TIME_MAX_S = 4_000_000_000
const DATE_LENGTH = 10

function numberIn(schema: JsonObject, key: string): number | undefined {
  const value = schema[key]
  return typeof value === 'number' ? value : undefined
}

function merged({ allOf: _, ...schema }: JsonObject, all: readonly Json[]): JsonObject {
  let result: JsonObject = schema
  for (const one of all) {
    if (!isJsonObject(one)) continue
    const { properties, required } = result
    const both = { ...asObject(properties), ...asObject(one['properties']) }
    const needed = [...asArray(required), ...asArray(one['required'])]
    result = { ...result, ...one, properties: both, required: needed }
  }
  return result
}

function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function asArray(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

const SECOND_MS = 1_000

function isoOf(atSeconds: number): string {
  return `${timeText(atSeconds * SECOND_MS).replace(' ', 'T')}Z`
}
