import { parseComposite, parsePlan } from '../../block/index.js'
import {
  isJsonObject,
  isTallyError,
  type Json,
  type Locate,
  type Pieces,
  placesIn,
  readDocument
} from '../../core/index.js'
import { parseGraph } from '../../intent/index.js'
import type { DocumentKind, ParsedDocument } from './document-kind.js'

/** Documents that say in `schema` what they are. */
function bySchema(name: string, parse: DocumentKind['parse']): DocumentKind {
  const matches = (document: Json) => isJsonObject(document) && document['schema'] === name
  return { name, matches, parse }
}

const composite = bySchema('tally-composite/1', parseComposite)

/** Kinds of documents that need no room of their own; a new one is one line. */
const plainKinds: readonly DocumentKind[] = [
  composite,
  bySchema('tally-plan/1', parsePlan),
  bySchema('tally-graph/1', parseGraph)
]

/** A document's text, read. */
export type ReadSource =
  | { readonly ok: true; readonly document: Json; readonly locate?: Locate }
  | (ParsedDocument & { readonly ok: false })

/** Reads a document from text; a parsed one has no places. Never throws for a bad one. */
export function readSource(source: string | Json): ReadSource {
  if (typeof source !== 'string') return { ok: true, document: source }
  try {
    return { ok: true, document: readDocument(source), locate: placesIn(source) }
  } catch (error) {
    if (!isTallyError(error)) throw error
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
  return kindOf(document, options.own).parse(document, options)
}

/** The same in pieces, as far as the kind has them. */
export function* piecesByKind(
  document: Json,
  options: { readonly locate?: Locate; readonly own: readonly DocumentKind[] }
): Pieces<ParsedDocument> {
  const kind = kindOf(document, options.own)
  if (kind.pieces === undefined) return kind.parse(document, options)
  return yield* kind.pieces(document, options)
}

/** The kind of a document; of one that says nothing that is known, the first, which says so. */
function kindOf(document: Json, own: readonly DocumentKind[]): DocumentKind {
  return [...own, ...plainKinds].find((kind) => kind.matches(document)) ?? composite
}
