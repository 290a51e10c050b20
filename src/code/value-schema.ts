import type { z } from 'zod-pinned'
import { type Json, type JsonObject, jsonSchemaReader } from '../core/index.js'

/** What a schema makes of a value, or the first thing in it that does not fit. */
export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  /** `problem` is the same for ever; `explanation` is the schema's own text, for people. */
  | { readonly ok: false; readonly problem: string; readonly explanation?: string }

/**
 * What a value from outside is checked with: a schema of any library that keeps to the Standard
 * Schema, such as zod, valibot or ArkType, or a JSON Schema.
 */
export type ValueSchema<Value> = StandardSchema<Value> | (Json extends Value ? JsonObject : never)

/** What `standardschema.dev` asks of a schema, version 1. */
export interface StandardSchema<Output> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
  }
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

interface StandardIssue {
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
  /** Of zod, and the same in every language. */
  readonly code?: string
  readonly message?: string
}

/** Checks values with a schema; without one every value is taken as it is. */
export function readerOf(
  schema: StandardSchema<unknown> | JsonObject | undefined
): (value: Json) => Parsed {
  if (schema === undefined) return (value) => ({ ok: true, value })
  let standard: StandardSchema<unknown> | undefined = isStandard(schema) ? schema : undefined
  return (value) => {
    standard ??= jsonSchemaReader(schema as JsonObject) as z.ZodType
    return checked(standard, value)
  }
}

function isStandard(schema: object): schema is StandardSchema<unknown> {
  // Of some libraries schemas are functions.
  return '~standard' in schema
}

/** Texts of problems differ between libraries and languages: none reaches a journal. */
function checked({ '~standard': standard }: StandardSchema<unknown>, value: Json): Parsed {
  const result = standard.validate(value)
  if (result instanceof Promise) return { ok: false, problem: 'value: its schema is asynchronous' }
  if (result.issues === undefined) return { ok: true, value: result.value }
  const [issue] = result.issues
  const path = (issue?.path ?? []).map((part) => String(keyOf(part))).join('.')
  const place = path === '' ? 'value' : path
  const explanation = `${place}: ${issue?.message ?? 'invalid'}`
  return { ok: false, problem: `${place}: ${issue?.code ?? 'invalid'}`, explanation }
}

function keyOf(part: PropertyKey | { readonly key: PropertyKey }): PropertyKey {
  return typeof part === 'object' ? part.key : part
}
