import type { z } from 'zod-pinned'

type Library = typeof z
type Schema = z.core.$ZodType
/** A schema, or a check of one; some formats are both. */
interface Part {
  readonly _zod: {
    readonly def: Definition
    readonly traits: ReadonlySet<string>
    readonly values?: ReadonlySet<unknown> | undefined
    readonly version?: Version | undefined
    parent?: Part | undefined
    toJSONSchema?: (() => object) | undefined
  }
  readonly meta?: () => z.core.GlobalMeta | undefined
}
type Definition = Readonly<Record<string, unknown>>
type Version = z.core.$ZodType['_zod']['version']

/** The pattern that `z.email()` had before 4.6; other patterns of addresses are a user's own. */
const EMAIL_BEFORE_4_6 =
  "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+" +
  '[A-Za-z]{2,}$'

/** Checks and formats whose pattern is a user's, not of the version of zod that made them. */
const OWN_PATTERNS = ['$ZodCheckRegex', '$ZodCustomStringFormat']

/** Whether a schema and all its parts were made by this version of zod. */
export function isAllOfVersion(schema: Schema, isVersion: (version: Version) => boolean): boolean {
  const seen = new Set<Part>([schema as unknown as Part])
  for (const { _zod: internals } of seen) {
    if (internals.version !== undefined && !isVersion(internals.version)) return false
    for (const key of Object.keys(internals.def)) {
      for (const part of partsIn(internals.def, key)) seen.add(part)
    }
  }
  return true
}

/**
 * The JSON Schema of a schema of any zod 4, as the given version would have made it from the same
 * words: versions differ in what they keep of a schema (patterns of formats, which unions are
 * exclusive, partial records) and in how they write it.
 *
 * What a version has not kept is not there: up to 4.2 a check drops the description before it.
 * Throws where the given version has no such schema.
 */
export function rebuiltJsonSchema(
  library: Library,
  schema: Schema,
  options: z.core.ToJSONSchemaParams
): unknown {
  const rebuilding = new Rebuilding(library)
  const rebuilt = rebuilding.rebuilt(schema as unknown as Part) as unknown as Schema
  return library.toJSONSchema(rebuilt, { ...options, metadata: rebuilding.metadata })
}

/** Owns what has been made of each part, since parts may be shared and contain themselves. */
class Rebuilding {
  readonly metadata: z.core.$ZodRegistry<z.core.GlobalMeta>
  readonly #library: Library
  readonly #made = new Map<Part, Part>()

  constructor(library: Library) {
    this.#library = library
    this.metadata = library.registry<z.core.GlobalMeta>()
  }

  rebuilt(part: Part): Part {
    const known = this.#made.get(part)
    if (known !== undefined) return known
    const { parent, toJSONSchema } = part._zod
    const made = this.#make(part)
    this.#made.set(part, made)
    if (parent !== undefined) made._zod.parent = this.rebuilt(parent)
    if (toJSONSchema !== undefined) made._zod.toJSONSchema = toJSONSchema
    const said = part.meta?.() ?? this.#library.globalRegistry.get(part as unknown as Schema)
    if (said !== undefined) this.metadata.add(made as unknown as Schema, said)
    return made
  }

  #make(part: Part): Part {
    const name = this.#nameOf(part)
    const Class = this.#library.core[name as keyof Library['core']] as unknown as new (
      definition: Definition
    ) => Part
    return new Class(this.#definitionOf(part, name))
  }

  /** The class of zod's core that is nearest to that of the part. */
  #nameOf({ _zod: { traits } }: Part): string {
    for (const trait of traits) {
      // Up to 4.0, `z.int()` has no trait of its class in the core.
      const name = trait.startsWith('$') ? trait : `$${trait}`
      if (typeof this.#library.core[name as keyof Library['core']] === 'function') return name
    }
    throw new TypeError(`no schema of zod has the traits ${[...traits].join(', ')}`)
  }

  #definitionOf(part: Part, name: string): Definition {
    const { def: given } = part._zod
    const definition: Record<string, unknown> = {}
    for (const key of Object.keys(given)) {
      if (key !== 'shape') definition[key] = this.#valueOf(given[key])
      // Made when it is asked for, since an object may contain itself.
      else {
        const member = { configurable: true, enumerable: true }
        Object.defineProperty(definition, key, { ...member, get: () => this.#valueOf(given[key]) })
      }
    }
    const inner = innerOf(given)
    if (inner !== undefined) definition['getter'] = () => this.#valueOf(inner())
    if (!hasOwnPattern(given, name)) delete definition['pattern']
    return name === '$ZodRecord' ? this.#recordOf(given, definition) : definition
  }

  #valueOf(value: unknown): unknown {
    if (isPart(value)) return this.rebuilt(value)
    if (Array.isArray(value)) return value.map((one) => this.#valueOf(one))
    if (!isShape(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.rebuilt(one)]))
  }

  /** Partial records are told by a member, before that by keys without values, or by two kinds. */
  #recordOf(given: Definition, definition: Definition): Definition {
    const keyType = given['keyType']
    if (!isPart(keyType)) return definition
    const { options } = keyType._zod.def
    const [first, last] = Array.isArray(options) ? options.filter(isPart) : []
    if (first !== undefined && last?._zod.def['type'] === 'never') {
      return { ...definition, keyType: this.rebuilt(first), partial: true }
    }
    const isPartial =
      keyType._zod.values === undefined && this.rebuilt(keyType)._zod.values !== undefined
    return isPartial ? { ...definition, partial: true } : definition
  }
}

function hasOwnPattern({ check, pattern }: Definition, name: string): boolean {
  if (check !== 'string_format' || !(pattern instanceof RegExp)) return true
  if (name === '$ZodEmail') return pattern.source !== EMAIL_BEFORE_4_6
  return OWN_PATTERNS.includes(name)
}

function* partsIn(definition: Definition, key: string): Iterable<Part> {
  const value = key === 'getter' ? innerOf(definition)?.() : definition[key]
  const values = isShape(value) ? Object.values(value) : Array.isArray(value) ? value : [value]
  for (const one of values) if (isPart(one)) yield one
}

/** What gives the schema that a lazy one stands for. */
function innerOf({ type, getter }: Definition): (() => unknown) | undefined {
  return type === 'lazy' && typeof getter === 'function' ? () => getter() : undefined
}

const isPart = (value: unknown): value is Part =>
  (typeof value === 'object' || typeof value === 'function') && value !== null && '_zod' in value

/** The members of an object. */
function isShape(value: unknown): value is Readonly<Record<string, Part>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  return Object.values(value).every(isPart)
}
