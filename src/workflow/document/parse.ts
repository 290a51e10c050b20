import type { z } from 'zod-pinned'
import {
  atOnce,
  checkingSchema,
  type DocumentPath,
  type Hash,
  hashJson,
  isJsonObject,
  isTallyError,
  type Json,
  type Locate,
  type Pieces,
  readingDocument
} from '../../core/index.js'
import { type FlowDocument, flowSchemaNames, flowSchemaOf2, flowSchemaOf3 } from './flow.js'
import { type Issue, moreIssues, reportingIssues } from './issue.js'
import { type PackDocument, packSchema, packSchemaName } from './pack.js'
import {
  planDocumentNames,
  planDocumentSchema,
  planSkeletonName,
  planSkeletonSchema
} from './plan-document.js'
import { atOrigin, flowOfPlan, flowOfSkeleton, type PlanOrigin } from './plan-import.js'
import { type ProtocolDocument, protocolSchema, protocolSchemaName } from './protocol.js'

/** A document that was read, or what is wrong with it. */
export type ParsedDocument<Document> =
  | {
      readonly ok: true
      readonly document: Document
      /** Of a workflow that was read from a plan: its planner compares the two. */
      readonly origin?: PlanOrigin
    }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/** Text (YAML or JSON) or JSON that was read already. */
export type DocumentSource = string | Json

/** What the documents of each kind are as values. */
interface DocumentsByKind {
  readonly flow: FlowDocument
  readonly protocol: ProtocolDocument
  readonly pack: PackDocument
}

export type AisKind = keyof DocumentsByKind

/** By kind, the schema of each name that a document may give itself. */
const schemas: {
  readonly [Kind in AisKind]: Readonly<Record<string, z.ZodType<DocumentsByKind[Kind]>>>
} = {
  flow: { [flowSchemaNames[0]]: flowSchemaOf2, [flowSchemaNames[1]]: flowSchemaOf3 },
  protocol: { [protocolSchemaName]: protocolSchema },
  pack: { [packSchemaName]: packSchema }
}

/**
 * Reads a workflow, `ais-flow/0.0.2` or `0.0.3`. What is wrong is data; never throws for bad data.
 */
export function parseFlow(source: DocumentSource): ParsedDocument<FlowDocument> {
  return atOnce(parsingSource('flow', source))
}

/** Reads a protocol, `ais/0.0.2`. */
export function parseProtocol(source: DocumentSource): ParsedDocument<ProtocolDocument> {
  return atOnce(parsingSource('protocol', source))
}

/** Reads a policy pack, `ais-pack/0.0.2`. */
export function parsePack(source: DocumentSource): ParsedDocument<PackDocument> {
  return atOnce(parsingSource('pack', source))
}

/** Reads a document of one kind in pieces: other work may be done wherever it yields. */
export function* parsingSource<Kind extends AisKind>(
  kind: Kind,
  source: DocumentSource
): Pieces<ParsedDocument<DocumentsByKind[Kind]>> {
  const read: ReadText =
    typeof source === 'string' ? yield* readingText(source) : { ok: true, value: source }
  return read.ok ? yield* parsingRead(kind, read) : read
}

/** The kind that a document says it is; a workflow where it says none. */
export function kindOf(value: Json): AisKind {
  const name = schemaNameOf(value)
  const kinds = ['protocol', 'pack'] as const
  return kinds.find((kind) => Object.hasOwn(schemas[kind], name ?? '')) ?? 'flow'
}

/** A document that was read, and where its parts stand if it was text. */
export interface ReadDocument {
  readonly value: Json
  readonly locate?: Locate
}

/** Parses what was read, so that a text whose kind is asked for first is not read again. */
export function* parsingRead<Kind extends AisKind>(
  kind: Kind,
  { value, locate }: ReadDocument
): Pieces<ParsedDocument<DocumentsByKind[Kind]>> {
  if (kind === 'flow' && isPlanDocument(value)) {
    return (yield* parsingPlan(value, locate)) as ParsedDocument<DocumentsByKind[Kind]>
  }
  const byName = schemas[kind]
  const name = schemaNameOf(value)
  const schema = name !== undefined && Object.hasOwn(byName, name) ? byName[name] : undefined
  if (schema === undefined) {
    const message = `schema must be one of ${Object.keys(byName).join(', ')}`
    const issue: Issue = { code: 'unknown_schema', severity: 'error', path: ['schema'], message }
    return { ok: false, issues: yield* reportingIssues([issue], locate) }
  }
  return yield* parsingWith(schema, value, locate)
}

function* parsingWith<Document extends object>(
  schema: z.ZodType<Document>,
  value: Json,
  locate: Locate | undefined
): Pieces<ParsedDocument<Document>> {
  const parsed = yield* checkingSchema(schema, value)
  if (parsed.success) {
    sources.set(parsed.data, value)
    return { ok: true, document: parsed.data }
  }
  const issues = flattened(parsed.issues, []).map(
    ({ path, message }): Issue => ({ code: 'schema_violation', severity: 'error', path, message })
  )
  const { hidden } = parsed
  const found = hidden === 0 ? issues : [...issues, moreIssues(hidden, 'error')]
  return { ok: false, issues: yield* reportingIssues(found, locate) }
}

const planNames: readonly string[] = [...planDocumentNames, planSkeletonName]

/** Whether a document is a plan of AIS, or the skeleton of one. */
export function isPlanDocument(value: Json): boolean {
  return planNames.includes(schemaNameOf(value) ?? '')
}

/** The workflow that a plan, or its skeleton, says it was made of. */
function* parsingPlan(
  value: Json,
  locate: Locate | undefined
): Pieces<ParsedDocument<FlowDocument>> {
  let made: { readonly flow: Json; readonly origin: PlanOrigin }
  if (schemaNameOf(value) === planSkeletonName) {
    const skeleton = yield* parsingWith(planSkeletonSchema, value, locate)
    if (!skeleton.ok) return skeleton
    made = flowOfSkeleton(skeleton.document)
  } else {
    const plan = yield* parsingWith(planDocumentSchema, value, locate)
    if (!plan.ok) return plan
    const imported = flowOfPlan(plan.document)
    if (!imported.ok) {
      const path = ['nodes', imported.index, 'source']
      const issue = { code: 'plan_mismatch', severity: 'error', path } as const
      const issues = yield* reportingIssues([{ ...issue, message: imported.problem }], locate)
      return { ok: false, issues }
    }
    made = imported
  }
  const parsed = yield* parsingWith(flowSchemaOf3, made.flow, undefined)
  if (parsed.ok) return { ...parsed, origin: made.origin }
  const { origin } = made
  const issues = parsed.issues.map((issue) => atOrigin(issue, origin))
  return { ok: false, issues: yield* reportingIssues(issues, locate) }
}

/** What documents were read from: defaults and forms that stand for others make no difference. */
const sources = new WeakMap<object, Json>()
const hashes = new WeakMap<object, Hash>()

/** SHA-256 of a document as it was written, in canonical JSON; packs pin protocols by it. */
export function documentHash(document: DocumentsByKind[AisKind]): Hash {
  const known = hashes.get(document) ?? hashJson(sources.get(document) ?? document)
  hashes.set(document, known)
  return known
}

function schemaNameOf(value: Json): string | undefined {
  const name = isJsonObject(value) ? value['schema'] : undefined
  return typeof name === 'string' ? name : undefined
}

export type ReadText =
  | ({ readonly ok: true } & ReadDocument)
  | { readonly ok: false; readonly issues: readonly Issue[] }

/** Reads a text once, for its value and for its places. */
export function* readingText(text: string): Pieces<ReadText> {
  try {
    return { ok: true, ...(yield* readingDocument(text)) }
  } catch (error) {
    if (!isTallyError(error) || isTallyError(error, 'document.too_much_work')) throw error
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
  const [first = [], ...others] = alternatives.filter((issues) => !isOther(issues))
  // With as few problems, the one that was followed further down.
  return others.reduce(
    (best, one) => {
      if (one.length !== best.length) return one.length < best.length ? one : best
      return depthOf(one) > depthOf(best) ? one : best
    },
    first.length === 0 ? (alternatives[0] ?? []) : first
  )
}

function depthOf(issues: readonly ZodIssue[]): number {
  return Math.max(...issues.map(({ path }) => path.length))
}

function keyOf(key: PropertyKey): string | number {
  return typeof key === 'number' ? key : String(key)
}
