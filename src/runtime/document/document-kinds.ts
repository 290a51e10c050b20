import { parsingComposite, parsingPlan } from '../../block/index.js'
import {
  atOnce,
  isJsonObject,
  isTallyError,
  type Json,
  type Locate,
  type Pieces,
  readingDocument
} from '../../core/index.js'
import { parsingGraph } from '../../intent/index.js'
import type { DocumentKind, ParsedDocument } from './document-kind.js'

/** Documents that say in `schema` what they are. */
function bySchema(name: string, pieces: DocumentKind['pieces']): DocumentKind {
  const matches = (document: Json) => isJsonObject(document) && document['schema'] === name
  return { name, matches, pieces }
}

const composite = bySchema('tally-composite/1', parsingComposite)

/** Kinds of documents that need no room of their own; a new one is one line. */
const plainKinds: readonly DocumentKind[] = [
  composite,
  bySchema('tally-plan/1', parsingPlan),
  bySchema('tally-graph/1', parsingGraph)
]

/** A document's text, read. */
export type ReadSource =
  | { readonly ok: true; readonly document: Json; readonly locate?: Locate }
  | (ParsedDocument & { readonly ok: false })

/** Reads a document from text; a parsed one has no places. Never throws for a bad one. */
export function* readingSource(source: string | Json): Pieces<ReadSource> {
  if (typeof source !== 'string') return { ok: true, document: source }
  try {
    const { value, locate } = yield* readingDocument(source)
    return { ok: true, document: value, locate }
  } catch (error) {
    if (!isTallyError(error) || isTallyError(error, 'document.too_much_work')) throw error
    const message = error.message
    return { ok: false, diagnostics: [{ reason: 'invalid_graph', path: [], message }] }
  }
}

/**
 * Reads a document by its kind. Never throws for a bad one. `own` goes before the kinds that
 * everybody has: those of rooms that were loaded, which know what the host brings.
 */
export function parseByKind(
  document: Json,
  options: { readonly locate?: Locate; readonly own: readonly DocumentKind[] }
): ParsedDocument {
  return atOnce(piecesByKind(document, options))
}

/** The same in pieces. */
export function piecesByKind(
  document: Json,
  options: { readonly locate?: Locate; readonly own: readonly DocumentKind[] }
): Pieces<ParsedDocument> {
  return kindOf(document, options.own).pieces(document, options)
}

/** The kind of a document; of one that says nothing that is known, the first, which says so. */
function kindOf(document: Json, own: readonly DocumentKind[]): DocumentKind {
  return [...own, ...plainKinds].find((kind) => kind.matches(document)) ?? composite
}
