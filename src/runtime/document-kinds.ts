import {
  type Diagnostic,
  type DocumentDefinition,
  type DocumentPath,
  parseComposite,
  parsePlan
} from '../block/index.js'
import { isJsonObject, isTallyError, type Json, locate, readDocument } from '../core/index.js'

/** What a document becomes: a definition that a run can have for its root. */
export type ParsedDocument =
  | {
      readonly ok: true
      readonly definition: DocumentDefinition
      /** What is doubtful, with the reason `lint`. */
      readonly warnings?: readonly Diagnostic[]
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/** Where a path of the document stands in its text, from 1. */
export type LocatePath = (path: DocumentPath) => { readonly line: number; readonly column: number }

/**
 * One kind of document. To compile and run, to resume, to verify and to draw a document only its
 * definition is needed: whatever a kind adds, it says in the terms of composites and plans.
 */
export interface DocumentKind {
  /** The value of the document's `schema`, as a rule. */
  readonly name: string
  matches(document: Json): boolean
  /** Never throws for a bad document. Without text there is no `locate`. */
  parse(document: Json, options: { readonly locate?: LocatePath }): ParsedDocument
}

/** Documents that say in `schema` what they are. */
function bySchema(name: string, parse: DocumentKind['parse']): DocumentKind {
  const matches = (document: Json) => isJsonObject(document) && document['schema'] === name
  return { name, matches, parse }
}

const composite = bySchema('tally-composite/1', parseComposite)

/** Every kind of document that a runtime runs; a new kind is one line. */
export const documentKinds: readonly DocumentKind[] = [
  composite,
  bySchema('tally-plan/1', parsePlan)
]

/** Reads a parsed document by its kind. Never throws for a bad one. */
export function parseDocument(
  document: Json,
  options: { readonly locate?: LocatePath } = {}
): ParsedDocument {
  return kindOf(document).parse(document, options)
}

/** {@link parseDocument} of text or of a parsed document. */
export function parseSource(source: string | Json): ParsedDocument {
  if (typeof source !== 'string') return parseDocument(source)
  try {
    return parseDocument(readDocument(source), { locate: (path) => locate(source, path) })
  } catch (error) {
    if (!isTallyError(error)) throw error
    const message = error.message
    return { ok: false, diagnostics: [{ reason: 'invalid_graph', path: [], message }] }
  }
}

/** The kind of a document; of one that says nothing that is known, the first, which says so. */
function kindOf(document: Json): DocumentKind {
  return documentKinds.find((kind) => kind.matches(document)) ?? composite
}
