import { parseComposite, parsePlan } from '../block/index.js'
import { isJsonObject, isTallyError, type Json, locate, readDocument } from '../core/index.js'
import { parseGraph } from '../intent/index.js'
import type { DocumentKind, LocatePath, ParsedDocument } from './document-kind.js'
import { anyFlowKind } from './flow-kind.js'

/** Documents that say in `schema` what they are. */
function bySchema(name: string, parse: DocumentKind['parse']): DocumentKind {
  const matches = (document: Json) => isJsonObject(document) && document['schema'] === name
  return { name, matches, parse }
}

const composite = bySchema('tally-composite/1', parseComposite)

/** Every kind of document that a runtime runs; a new kind is one line. */
export const documentKinds: readonly DocumentKind[] = [
  composite,
  bySchema('tally-plan/1', parsePlan),
  bySchema('tally-graph/1', parseGraph),
  anyFlowKind
]

/**
 * Reads a parsed document by its kind. Never throws for a bad one. `own` goes before the kinds that
 * everybody has: a host's, which knows what names lead to.
 */
export function parseByKind(
  document: Json,
  options: { readonly locate?: LocatePath; readonly own?: readonly DocumentKind[] } = {}
): ParsedDocument {
  return kindOf(document, options.own ?? []).parse(document, options)
}

/** {@link parseByKind} of text or of a parsed document. */
export function parseSource(
  source: string | Json,
  own: readonly DocumentKind[] = []
): ParsedDocument {
  if (typeof source !== 'string') return parseByKind(source, { own })
  try {
    return parseByKind(readDocument(source), { locate: (path) => locate(source, path), own })
  } catch (error) {
    if (!isTallyError(error)) throw error
    const message = error.message
    return { ok: false, diagnostics: [{ reason: 'invalid_graph', path: [], message }] }
  }
}

/** The kind of a document; of one that says nothing that is known, the first, which says so. */
function kindOf(document: Json, own: readonly DocumentKind[]): DocumentKind {
  return [...own, ...documentKinds].find((kind) => kind.matches(document)) ?? composite
}
