import type { z } from 'zod'
import {
  type DocumentPath,
  isJsonObject,
  isTallyError,
  type Json,
  placesIn,
  readDocument
} from '../../core/index.js'
import { type FlowDocument, flowSchemaNames, flowSchemaOf2, flowSchemaOf3 } from './flow.js'
import { type Issue, reportedIssues } from './issue.js'
import { type PackDocument, packSchema, packSchemaName } from './pack.js'
import { type ProtocolDocument, protocolSchema, protocolSchemaName } from './protocol.js'

export type ParsedDocument<Document> =
  | { readonly ok: true; readonly document: Document }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/** Text (YAML or JSON) or JSON that was read already. */
export type DocumentSource = string | Json

const flowSchemas: Readonly<Record<string, z.ZodType<FlowDocument>>> = {
  [flowSchemaNames[0]]: flowSchemaOf2,
  [flowSchemaNames[1]]: flowSchemaOf3
}

/**
 * Reads a workflow, `ais-flow/0.0.2` or `0.0.3`. What is wrong is data; never throws for bad data.
 */
export function parseFlow(source: DocumentSource): ParsedDocument<FlowDocument> {
  return parseWith(source, flowSchemas)
}

/** Reads a protocol, `ais/0.0.2`. */
export function parseProtocol(source: DocumentSource): ParsedDocument<ProtocolDocument> {
  return parseWith(source, { [protocolSchemaName]: protocolSchema })
}

/** Reads a policy pack, `ais-pack/0.0.2`. */
export function parsePack(source: DocumentSource): ParsedDocument<PackDocument> {
  return parseWith(source, { [packSchemaName]: packSchema })
}

function parseWith<Document>(
  source: DocumentSource,
  schemas: Readonly<Record<string, z.ZodType<Document>>>
): ParsedDocument<Document> {
  const read = readSource(source)
  if (!read.ok) return read
  const { value } = read
  const name = isJsonObject(value) ? value['schema'] : undefined
  const schema =
    typeof name === 'string' && Object.hasOwn(schemas, name) ? schemas[name] : undefined
  const place = typeof source === 'string' ? placesIn(source) : undefined
  if (schema === undefined) {
    const message = `schema must be one of ${Object.keys(schemas).join(', ')}`
    const issue: Issue = { code: 'unknown_schema', severity: 'error', path: ['schema'], message }
    return { ok: false, issues: reportedIssues([issue], place) }
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return { ok: true, document: parsed.data }
  const issues = flattened(parsed.error.issues, []).map(
    ({ path, message }): Issue => ({ code: 'schema_violation', severity: 'error', path, message })
  )
  return { ok: false, issues: reportedIssues(issues, place) }
}

function readSource(
  source: DocumentSource
):
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly issues: readonly Issue[] } {
  if (typeof source !== 'string') return { ok: true, value: source }
  try {
    return { ok: true, value: readDocument(source) }
  } catch (error) {
    if (!isTallyError(error)) throw error
    const { line, column } = error.context as { readonly line?: unknown; readonly column?: unknown }
    const place =
      typeof line === 'number' && typeof column === 'number' ? { line, column } : undefined
    const { message } = error
    return {
      ok: false,
      issues: [{ code: 'malformed_document', severity: 'error', path: [], message, ...place }]
    }
  }
}

type ZodIssue = z.core.$ZodIssue

interface Flat {
  readonly path: DocumentPath
  readonly message: string
}

/** Issues at the places they are about; of alternatives, those of the one that was meant. */
function flattened(issues: readonly ZodIssue[], above: DocumentPath): readonly Flat[] {
  return issues.flatMap((issue): readonly Flat[] => {
    const path = [...above, ...issue.path.map(keyOf)]
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        path: [...path, key],
        message: `${key} is not known here`
      }))
    }
    if (issue.code === 'invalid_union' && issue.errors.length > 0) {
      return flattened(meant(issue.errors), path)
    }
    if ((issue.code === 'invalid_key' || issue.code === 'invalid_element') && issue.issues) {
      return flattened(issue.issues, path).map(({ message }) => ({ path, message }))
    }
    return [{ path, message: issue.message }]
  })
}

// The alternative whose `type` fits is the one that was meant, whatever else is wrong in it.
function meant(alternatives: readonly (readonly ZodIssue[])[]): readonly ZodIssue[] {
  const isOther = (issues: readonly ZodIssue[]) =>
    issues.some(({ path, code }) => code !== 'custom' && path.length <= 1 && path[0] === 'type')
  return alternatives.find((issues) => !isOther(issues)) ?? alternatives[0] ?? []
}

function keyOf(key: PropertyKey): string | number {
  return typeof key === 'number' ? key : String(key)
}
