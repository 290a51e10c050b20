import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { z } from 'zod-pinned'
import { findingLarge, valuesIn } from '../json/length.js'
import type { JsonObject } from '../json/value.js'
import { DOCUMENT_FINDINGS_MAX } from '../limits.js'
import { once } from '../once.js'
import type { Pieces } from './pieces.js'
import { isAllOfVersion, rebuiltJsonSchema } from './rebuilt-schema.js'
import { isSliceFull, passSteps } from './work.js'
import type { DocumentPath } from './yaml.js'

/**
 * The seam to zod. Loading it was a quarter of the processor time of opening a ledger, and most
 * processes that open one check no shape: it is loaded with the first schema that is asked for.
 *
 * Owns: which copy of the library the rooms on the way to an open ledger make schemas with. It is
 * the one that `import` gives to everything else in the process, loaded without a promise.
 */

type Library = typeof z

const require = createRequire(import.meta.url)
let library: Library | undefined

/** A schema that is made when it is first asked for, and once. */
export function lazySchema<Made>(make: (library: Library) => Made): () => Made {
  return once(() => make(loadedLibrary()))
}

/**
 * The JSON Schema of what a schema takes, as it stands in the hashes of blocks: the same for every
 * zod 4 that has made the schema. One of this program's version writes itself, with the copy that
 * made it.
 */
export function inputJsonSchema(schema: z.ZodType): unknown {
  const options = { unrepresentable: 'any', io: 'input' } as const
  const isOurs = isAllOfVersion(schema, isOurVersion)
  if (isOurs && library === undefined && typeof schema.toJSONSchema === 'function') {
    try {
      return schema.toJSONSchema(options)
    } catch {
      // It holds a part that cannot write itself, such as one of zod's smaller interface.
    }
  }
  const loaded = loadedLibrary()
  return isOurs ? loaded.toJSONSchema(schema, options) : rebuiltJsonSchema(loaded, schema, options)
}

/** What reads values by a JSON Schema. Throws where it is none. */
export function jsonSchemaReader(schema: JsonObject): z.ZodType {
  const library = loadedLibrary()
  return library.fromJSONSchema(schema as Parameters<Library['fromJSONSchema']>[0])
}

function isOurVersion({ major, minor, patch }: z.ZodType['_zod']['version']): boolean {
  const { version } = require('zod-pinned/package.json') as { readonly version: string }
  return version === `${major}.${minor}.${patch}`
}

function loadedLibrary(): Library {
  library ??= (imported() ?? (require('zod-pinned') as typeof import('zod-pinned'))).z
  return library
}

/**
 * The copy of `import`. Undefined where this Node loads no ECMAScript module by `require`, and
 * while the same module is still being imported: then the process holds two copies.
 */
function imported(): typeof import('zod-pinned') | undefined {
  try {
    return require(join(dirname(require.resolve('zod-pinned/package.json')), 'index.js'))
  } catch {
    return undefined
  }
}

type Schema = z.core.$ZodType
type RawIssue = z.core.$ZodRawIssue
type Check = z.core.$ZodCheck

/** What a schema makes of a value, or what it refuses: the first findings, and how many more. */
export type Checked<Data> =
  | { readonly success: true; readonly data: Data }
  | {
      readonly success: false
      readonly issues: readonly z.core.$ZodIssue[]
      readonly hidden: number
    }

/**
 * What a schema's `safeParse` says of a value, in pieces. Of a large value each object, list and
 * alternative is taken apart as the schema has it, and its small parts are given to the library
 * whole. Issues beyond those that a report shows are counted, and nothing is made of them.
 */
export function* checkingSchema<Made extends z.ZodType>(
  schema: Made,
  value: unknown
): Pieces<Checked<z.output<Made>>> {
  const large = yield* findingLarge(value)
  if (isSliceFull()) yield
  const { value: data, issues, hidden } = yield* checking(schema, value, large)
  if (issues.length === 0) return { success: true, data: data as z.output<Made> }
  const { core } = loadedLibrary()
  const finished = issues.map((one) => core.util.finalizeIssue(one, atOnceContext, core.config()))
  return { success: false, issues: finished, hidden }
}

type CheckInPieces = (
  value: unknown,
  refuse: (path: DocumentPath, message: string) => void
) => Pieces<void>

/** Checks that schemas of rooms do in pieces; at once they do the same in a refinement. */
const ownChecks = new WeakMap<Schema, CheckInPieces>()

/** Has a schema's refinement done in pieces by {@link checkingSchema}. */
export function checkInPieces<Made extends z.ZodType>(schema: Made, check: CheckInPieces): Made {
  ownChecks.set(schema, check)
  return schema
}

const atOnceContext = { async: false } as const
/** Work of a value that the library checks, and of an issue that it makes. */
const STEPS_OF_VALUE = 4
const STEPS_OF_ISSUE = 8

/** What one schema has made of one value. */
class Outcome {
  value: unknown
  readonly issues: RawIssue[] = []
  hidden = 0
  /** An issue that keeps checks of the whole from being done, and one that keeps all from it. */
  isAborted = false
  isAbortedForAll = false

  constructor(value: unknown) {
    this.value = value
  }

  add(issue: RawIssue): void {
    passSteps(STEPS_OF_ISSUE)
    if (issue.continue !== true) this.isAborted = true
    if (issue.continue === false) this.isAbortedForAll = true
    if (this.issues.length < DOCUMENT_FINDINGS_MAX) this.issues.push(issue)
    else this.hidden += 1
  }

  addBelow(key: PropertyKey, { issues, hidden, ...outcome }: Outcome): void {
    for (const issue of issues) this.add({ ...issue, path: [key, ...(issue.path ?? [])] })
    this.hidden += hidden
    this.isAborted ||= outcome.isAborted
    this.isAbortedForAll ||= outcome.isAbortedForAll
  }
}

/** Objects and lists that are taken apart. */
type Large = ReadonlySet<unknown>

function* checking(schema: Schema, value: unknown, large: Large): Pieces<Outcome> {
  if (!large.has(value)) return checkedAtOnce(schema, value, valuesIn(value))
  const own = ownChecks.get(schema)
  const outcome = yield* own === undefined
    ? takenApart(schema, value, large)
    : checkedBy(own, value)
  if (isSliceFull()) yield
  return outcome
}

function checkedAtOnce(schema: Schema, value: unknown, size: number): Outcome {
  passSteps(STEPS_OF_VALUE * (2 + size))
  const result = schema._zod.run({ value, issues: [] }, atOnceContext)
  if (result instanceof Promise) throw new TypeError('a schema of documents waits for something')
  const outcome = new Outcome(result.value)
  for (const issue of result.issues) outcome.add(issue)
  return outcome
}

function* checkedBy(check: CheckInPieces, value: unknown): Pieces<Outcome> {
  const outcome = new Outcome(value)
  yield* check(value, (path, message) => {
    outcome.add({ code: 'custom', path: [...path], message, input: value, continue: true })
  })
  return outcome
}

function* takenApart(schema: Schema, value: unknown, large: Large): Pieces<Outcome> {
  // Every schema of the library is one of these, by its `type`.
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'lazy':
      return yield* checking(def.getter(), value, large)
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
      return yield* checking(def.innerType, value, large)
    case 'array':
      if (!Array.isArray(value) || value.length > lengthMax(schema)) break
      return withChecks(schema, yield* checkingItems(def.element, value, large))
    case 'record':
      if (!isRecord(value) || def.mode === 'loose' || def.keyType._zod.values !== undefined) break
      return withChecks(schema, yield* checkingRecord(schema, def, value, large))
    case 'object':
      if (!isRecord(value)) break
      return withChecks(schema, yield* checkingObject(schema, def, value, large))
    case 'union':
      if (def.inclusive === false || def.options.length < 2) break
      return withChecks(schema, yield* checkingUnion(schema, def, value, large))
    case 'pipe':
      return piped(def, yield* checking(def.in, value, large))
  }
  return checkedAtOnce(schema, value, 0)
}

/** As the library does: unknown keys do not keep a transform from being done. */
function piped({ out }: z.core.$ZodPipeDef, outcome: Outcome): Outcome {
  const { issues, hidden } = outcome
  if (hidden > 0 || issues.some(({ code }) => code !== 'unrecognized_keys')) {
    outcome.isAborted = true
    return outcome
  }
  const after = checkedAtOnce(out, outcome.value, 0)
  outcome.value = after.value
  outcome.isAborted ||= after.isAborted
  outcome.isAbortedForAll ||= after.isAbortedForAll
  for (const issue of after.issues) outcome.add(issue)
  return outcome
}

function* checkingItems(item: Schema, values: readonly unknown[], large: Large): Pieces<Outcome> {
  const made: unknown[] = []
  const outcome = new Outcome(made)
  for (const [index, value] of values.entries()) {
    const one = yield* checking(item, value, large)
    made.push(one.value)
    outcome.addBelow(index, one)
    if (isSliceFull()) yield
  }
  return outcome
}

function* checkingRecord(
  schema: Schema,
  { keyType, valueType }: z.core.$ZodRecordDef,
  value: Readonly<Record<string, unknown>>,
  large: Large
): Pieces<Outcome> {
  const made: Record<string, unknown> = {}
  const outcome = new Outcome(made)
  for (const key of Object.keys(value)) {
    if (isSliceFull()) yield
    if (key === '__proto__') continue
    const named = checkedKey(keyType, key)
    if (named.issues.length > 0) {
      // What makes a message of the issues of a key is only called for those that are shown.
      const issues = outcome.issues.length < DOCUMENT_FINDINGS_MAX ? finished(named) : []
      outcome.add({
        code: 'invalid_key',
        origin: 'record',
        issues,
        input: key,
        path: [key],
        inst: schema
      })
      continue
    }
    const one = yield* checking(valueType, value[key], large)
    outcome.addBelow(key, one)
    if (named.value !== '__proto__') made[String(named.value)] = one.value
  }
  return outcome
}

// As the library does: a key of digits may be one for a schema of numbers.
function checkedKey(keyType: Schema, key: string): Outcome {
  const named = checkedAtOnce(keyType, key, 0)
  if (named.issues.length === 0 || !/^-?\d+(?:\.\d+)?$/.test(key)) return named
  const again = checkedAtOnce(keyType, Number(key), 0)
  return again.issues.length === 0 ? again : named
}

function* checkingObject(
  schema: Schema,
  { shape, catchall }: z.core.$ZodObjectDef,
  value: Readonly<Record<string, unknown>>,
  large: Large
): Pieces<Outcome> {
  const made: Record<string, unknown> = {}
  const outcome = new Outcome(made)
  for (const [key, part] of Object.entries(shape)) {
    takeProperty(
      outcome,
      made,
      { key, part, isPresent: key in value },
      yield* checking(part, value[key], large)
    )
    if (isSliceFull()) yield
  }
  if (catchall === undefined) return outcome
  const unknown: string[] = []
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(shape, key)) continue
    passSteps(STEPS_OF_VALUE)
    if (isSliceFull()) yield
    if (catchall._zod.def.type === 'never') unknown.push(key)
    else if (key !== '__proto__') {
      const found = { key, part: catchall, isPresent: true }
      takeProperty(outcome, made, found, yield* checking(catchall, value[key], large))
    }
  }
  if (unknown.length === 0) return outcome
  const keys = unknown.slice(0, DOCUMENT_FINDINGS_MAX)
  outcome.add({ code: 'unrecognized_keys', keys, input: value, inst: schema, continue: true })
  outcome.hidden += unknown.length - keys.length
  return outcome
}

interface Property {
  readonly key: string
  readonly part: Schema
  readonly isPresent: boolean
}

function takeProperty(
  outcome: Outcome,
  made: Record<string, unknown>,
  { key, part, isPresent }: Property,
  one: Outcome
): void {
  const { optin, optout } = part._zod
  const mayLack = optout === 'optional' && optin !== undefined
  if (!isPresent && mayLack && (optin === 'optional' || one.issues.length > 0)) return
  outcome.addBelow(key, one)
  if (!isPresent && optin === undefined) {
    if (one.issues.length > 0) return
    outcome.add({ code: 'invalid_type', expected: 'nonoptional', input: undefined, path: [key] })
  } else if (one.value !== undefined || isPresent || !mayLack) made[key] = one.value
}

function* checkingUnion(
  schema: Schema,
  def: z.core.$ZodUnionDef,
  value: unknown,
  large: Large
): Pieces<Outcome> {
  const meant = meantOption(def, value)
  if (meant !== undefined) return yield* checking(meant, value, large)
  const outcomes: Outcome[] = []
  for (const option of def.options) {
    const one = yield* checking(option, value, large)
    if (one.issues.length === 0) return one
    outcomes.push(one)
  }
  const [going, ...others] = outcomes.filter(({ isAborted }) => !isAborted)
  if (going !== undefined && others.length === 0) return going
  const outcome = new Outcome(value)
  const errors = outcomes.map(finished)
  outcome.add({ code: 'invalid_union', errors, input: value, inst: schema })
  return outcome
}

/** The alternative that a member of the value names. */
function meantOption(def: z.core.$ZodUnionDef, value: unknown): Schema | undefined {
  const { discriminator } = def as { readonly discriminator?: string }
  if (discriminator === undefined || !isRecord(value)) return undefined
  const named = value[discriminator] as z.core.util.Primitive
  return def.options.find(({ _zod }) => _zod.propValues?.[discriminator]?.has(named))
}

function finished({ issues }: Outcome): z.core.$ZodIssue[] {
  const { core } = loadedLibrary()
  return issues.map((one) => core.util.finalizeIssue({ ...one }, atOnceContext, core.config()))
}

/** Does the checks of a whole that was taken apart, as the library does them behind its parts. */
function withChecks(schema: Schema, outcome: Outcome): Outcome {
  for (const check of (schema._zod.def.checks ?? []) as readonly Check[]) {
    const payload = { value: outcome.value, issues: [] as RawIssue[] }
    const { when } = check._zod.def
    if (when === undefined ? outcome.isAborted : outcome.isAbortedForAll || !when(payload)) continue
    ;(check._zod.check as (given: typeof payload) => void)(payload)
    outcome.value = payload.value
    for (const issue of payload.issues) outcome.add({ ...issue, schema })
  }
  return outcome
}

// The library refuses a list that is too long before it looks at its items.
function lengthMax({ _zod }: Schema): number {
  const checks = (_zod.def.checks ?? []).map((check) => check._zod.def)
  const most = checks.find(({ check }) => check === 'max_length')
  const { maximum } = (most ?? {}) as { readonly maximum?: number }
  return maximum ?? Number.POSITIVE_INFINITY
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
