import { checkingSchema, isJsonObject, type Json, type Pieces } from '../../core/index.js'
import { error, type FlowFinding, moreFindings } from './finding.js'
import { migrateFlow } from './migrate.js'
import { type FlowDocument, flowSchema, flowSchemaVersions } from './schema.js'

export type ParsedFlow =
  | { readonly ok: true; readonly flow: FlowDocument }
  | { readonly ok: false; readonly findings: readonly FlowFinding[] }

/** Whether a document is a flow: it has the parts that only flows have. */
export function isFlowDocument(document: Json): boolean {
  return (
    isJsonObject(document) &&
    !('schema' in document) &&
    isJsonObject(document['meta']) &&
    'schemaVersion' in document['meta'] &&
    'graph' in document
  )
}

/** Reads a flow of schemaVersion 1.0 or 2.0. What is wrong with it is data. */
export function* parsingFlow(document: Json): Pieces<ParsedFlow> {
  if (!isJsonObject(document)) return refused([], 'a flow is an object')
  const version = isJsonObject(document['meta']) ? document['meta']['schemaVersion'] : undefined
  if (!flowSchemaVersions.some((known) => known === version)) {
    const message = `schemaVersion must be one of ${flowSchemaVersions.join(', ')}`
    const path = ['meta', 'schemaVersion']
    return { ok: false, findings: [error('unsupported_version', path, message)] }
  }
  const parsed = yield* checkingSchema(flowSchema, migrateFlow(document))
  if (parsed.success) return { ok: true, flow: parsed.data }
  const findings = parsed.issues.map(({ path, message }) =>
    error('invalid_document', path.map(segment), message)
  )
  const { hidden: more } = parsed
  return { ok: false, findings: more === 0 ? findings : [...findings, moreFindings(more)] }
}

function segment(part: PropertyKey): string | number {
  return typeof part === 'number' ? part : String(part)
}

function refused(path: readonly (string | number)[], message: string): ParsedFlow {
  return { ok: false, findings: [error('invalid_document', path, message)] }
}
