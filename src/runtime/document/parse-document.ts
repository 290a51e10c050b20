import type { Json, Locate } from '../../core/index.js'
import type { ParsedDocument } from './document-kind.js'
import { DocumentSlices } from './document-slices.js'

/**
 * Reads a parsed document by its kind, whatever its names lead to. Never throws for a bad one. The
 * kinds are loaded here: a reader of a ledger needs none of them.
 */
export async function parseDocument(
  document: Json,
  options: { readonly locate?: Locate } = {}
): Promise<ParsedDocument> {
  const { piecesByKind } = await import('./document-kinds.js')
  const { anyFlowKind } = await import('./flow-kind.js')
  const slices = new DocumentSlices(document)
  const parsed = await slices.takeEach(piecesByKind(document, { ...options, own: [anyFlowKind] }))
  return parsed.ok ? parsed.value : parsed
}
